"""ConvTranspose: transposed convolutions of channels-first images and signals."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError
from mcugen.formats.onnx.operators import _computed, _stuffed
from mcugen.formats.onnx.operators.convolutions import convolution
from mcugen.formats.operators import _images
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.split import Split
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose
from mcugen.ops.transpose_conv import TransposeConv


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """y[n, o, i*s+kh-p, ...] = b[o] + sum of w[c, o, kh, kw] * x[n, c, i, j]. Source: ONNX ConvTranspose-11.

    The whole result, padding included, is computed, and then cropped or padded to the requested size. Added elements,
    which no tap reaches, have the value of the bias.
    """
    a, (x, w, *rest) = source.attributes, e.inputs
    if x is None or w is None or len(e.type(x).shape) != len(e.type(w).shape):
        raise ShapeError("a transposed convolution needs data and weights of one rank")
    image, weights, groups = e.type(x).shape, e.type(w).shape, a["group"]
    if image[1] != weights[0] or groups < 1 or weights[0] % groups:
        raise ShapeError(f"weights {list(weights)} in {groups} groups do not fit an image {list(image)}")
    if a["kernel_shape"] and tuple(a["kernel_shape"]) != weights[2:]:
        raise ShapeError(f"kernel_shape {list(a['kernel_shape'])} differs from weights {list(weights)}")
    if len(image) == 5 or _computed.is_computed(e, (w, *rest[:1])) or max(a["dilations"] or (1,)) > 1:
        plain = Attributes({}, {"dilations": a["dilations"], "group": groups})
        y = _stuffed.transposed(e, x, w, a, lambda x, w: convolution(e, plain, x, w, None))
        return [_biased(e, y, rest[0] if rest else None)]
    data, kernel = _images.to_last(e, x), _images.two_dimensional(e, w)
    window = _images.Geometry(*_images.sizes(a, weights[2:]), ((0, 0), (0, 0)))
    size = e.type(data).shape[1:3]
    full, ends = _filled_up(source, window, size, len(image) - 2)
    inside = groups == 1 and min(n for pair in ends for n in pair) >= 0  # else the bias is added last
    parts = []
    channels = weights[0] // groups
    data_parts = e.nodes(Split(3, (channels,) * groups), data) if groups > 1 else [data]
    kernel_parts = e.nodes(Split(0, (channels,) * groups), kernel) if groups > 1 else [kernel]
    for part, taps in zip(data_parts, kernel_parts, strict=True):
        op = TransposeConv(full, window.stride, "VALID")
        parts.append(e.node(op, part, e.node(Transpose((1, 2, 3, 0)), taps), *(rest[:1] if inside else [])))
    y = parts[0] if groups == 1 else e.node(Concatenation(3), *parts)
    y = _cut(e, y, ends)
    if not inside and rest and rest[0] is not None:
        y = e.node(Add(), y, rest[0])
    return [_images.to_first(e, y, len(image))]


def _biased(e: Expansion, y: str, bias: str | None) -> str:
    """y [N, C, ...] plus a bias [C], if there is one."""
    spread = (-1, *(1,) * (len(e.type(y).shape) - 2))
    return y if bias is None else e.node(Add(), y, e.node(Reshape(spread), bias))


def _filled_up(
    source: Source, window: _images.Geometry, size: Sequence[int], rank: int
) -> tuple[tuple[int, int], list[tuple[int, int]]]:
    """(rows, columns) that TransposeConv computes, and the widths to crop or pad afterwards, as from `_ends`.

    TransposeConv also computes padding at the end, up to stride - 1 rows and columns.
    """
    full = [(size[d] - 1) * window.stride[d] + window.kernel[d] for d in (0, 1)]
    ends = _ends(source, window, size, full, rank)
    more = [min(max(-ends[d][1], 0), window.stride[d] - 1) for d in (0, 1)]
    left = [(before, after + n) for (before, after), n in zip(ends, more, strict=True)]
    return (full[0] + more[0], full[1] + more[1]), left


def _ends(
    source: Source, window: _images.Geometry, size: Sequence[int], full: Sequence[int], rank: int
) -> list[tuple[int, int]]:
    """(before, after) for rows and columns: elements to crop from the whole result; negative to pad."""
    a = source.attributes
    more = _spread(a["output_padding"] or (0,) * rank)
    wanted, mode = a["output_shape"], a["auto_pad"]
    given = a["pads"] or (0,) * (2 * rank)
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        # If a stride is larger than the kernel, the whole result is smaller than size * stride, and is not padded.
        whole = zip(size, window.stride, full, more, strict=True)
        wanted = [min(s * t, n + m) for s, t, n, m in whole][2 - rank :]
    found = []
    for d in (0, 1):
        if wanted is not None:
            target = ([1, *wanted] if rank == 1 else list(wanted))[d]
            total = full[d] + more[d] - target
            half = total // 2
            first = half if mode == "SAME_UPPER" else total - half
            first = min(max(first, 0), max(total, 0))
            found.append((first, total - first - more[d]))
        elif rank == 1 and d == 0:
            found.append((0, 0))
        else:
            k = d if rank == 2 else 0
            found.append((given[k], given[k + rank] - more[d]))
    return found


def _spread(values: Sequence[int]) -> Sequence[int]:
    return [0, *values] if len(values) == 1 else values


def _cut(e: Expansion, y: str, ends: list[tuple[int, int]]) -> str:
    shape = e.type(y).shape
    ranges = [(0, d, 1) for d in shape]
    added = [(0, 0)] * 4
    for d, (before, after) in enumerate(ends):
        ranges[d + 1] = (max(before, 0), shape[d + 1] - max(before, 0) - max(after, 0), 1)
        added[d + 1] = (max(-before, 0), max(-after, 0))
    if any(count < 1 for _, count, _ in ranges):
        raise ShapeError(f"pads or output_shape crop all of a result {list(shape)}")
    if any(r != (0, d, 1) for r, d in zip(ranges, shape, strict=True)):
        y = e.node(StridedSlice(tuple(ranges), tuple(count for _, count, _ in ranges)), y)
    return e.node(Pad(tuple(added)), y) if any(max(pair) for pair in added) else y


IMPORTS = (Import("onnx", "ConvTranspose", expand=expand),)
