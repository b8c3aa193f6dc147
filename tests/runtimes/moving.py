# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models of the operators that only move elements."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.runtimes.sketch import Shape, Sketch

Draw = Callable[[Sketch], None]


def _axis(s: Sketch, axis: int, rank: int) -> int:
    """The axis as the format may also state it: counted from the end."""
    return axis - rank if s.chance(0.25) else axis


def reshape(s: Sketch) -> None:
    x = s.x(s.shape())
    size = math.prod(s.shapes[x])
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    first = s.rng.choice(divisors)
    shape = s.rng.choice(((size,), (first, size // first), (1, first, 1, size // first)))
    stated = list(shape)
    if s.chance(0.4):
        stated[s.rng.randrange(len(stated))] = -1
    operands = [x, s.const(stated)] if s.chance(0.7) else [x]
    s.moved("RESHAPE", operands, shape, x, {"new_shape": stated if len(operands) == 1 else list(shape)})


def squeeze(s: Sketch) -> None:
    shape = list(s.shape(rank=s.rng.randint(2, 5)))
    chosen = s.rng.sample(range(len(shape)), s.rng.randint(1, len(shape) - 1))
    for k in chosen:
        shape[k] = 1
    out = [d for k, d in enumerate(shape) if k not in chosen]
    x = s.x(shape)
    s.moved("SQUEEZE", [x], out, x, {"squeeze_dims": [_axis(s, k, len(shape)) for k in chosen]})


def expand_dims(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.randint(1, 4))
    at = s.rng.randint(0, len(shape))
    x = s.x(shape)
    axis = at - len(shape) - 1 if s.chance(0.3) else at
    s.moved("EXPAND_DIMS", [x, s.const([axis])], (*shape[:at], 1, *shape[at:]), x)


def transpose(s: Sketch) -> None:
    shape = s.shape(least=1)
    perm = s.rng.sample(range(len(shape)), len(shape))
    stated = [p - len(shape) if s.chance(0.1) else p for p in perm]
    x = s.x(shape)
    s.moved("TRANSPOSE", [x, s.const(stated)], [shape[p] for p in perm], x)


def tile(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.randint(1, 5))
    multiples = [s.rng.choice((1, 1, 2, 3)) for _ in shape]
    x = s.x(shape)
    s.moved("TILE", [x, s.const(multiples)], [d * n for d, n in zip(shape, multiples, strict=True)], x)


def broadcast_to(s: Sketch) -> None:
    shape = s.shape(least=1)
    small = [1 if s.chance(0.4) else d for d in shape][s.rng.choice((0, 0, len(shape) // 2)) :]
    x = s.x(small)
    s.moved("BROADCAST_TO", [x, s.const(list(shape))], shape, x)


def pad(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        shape = s.shape(least=1)
        widths = [[s.rng.choice((0, 0, 1, 2)), s.rng.choice((0, 0, 1, 3))] for _ in shape]
        x = s.x(shape)
        operands = [x, s.const(widths, s.rng.choice(("s32", "s32", "s32", "s64")))]
        if name == "PADV2":
            value = () if s.chance(0.5) else (1,)
            operands.append(s.tensor(value, s.dtype, s.quants[x], s.values(value, s.dtype, 0)))
        s.moved(name, operands, [d + a + b for d, (a, b) in zip(shape, widths, strict=True)], x)

    return draw


def strided_slice(s: Sketch) -> None:
    shape = s.shape(least=1)
    x, rank = s.x(shape), len(shape)
    begin, end, step = [], [], []
    for d in shape:
        low = s.rng.randrange(d)
        high, by = s.rng.randint(low + 1, d), s.rng.choice((1, 1, 1, 2, -1, -2))
        forward = (low, high) if by > 0 else (high - 1, low - 1)
        begin.append(_axis(s, forward[0], d))
        end.append(forward[1] - d if forward[1] < 0 or (s.chance(0.2) and forward[1] < d) else forward[1])
        end[-1] = -d - 1 if forward[1] < 0 else end[-1]
        step.append(by)
    masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
    for name in ("begin_mask", "end_mask"):
        masks[name] = s.rng.randrange(1 << rank) if s.chance(0.3) else 0
    if s.chance(0.3):
        masks["shrink_axis_mask"] = 1 << s.rng.randrange(rank)
        step = [1] * rank
        begin = [b % d for b, d in zip(begin, shape, strict=True)]
        end = [s.rng.randint(b + 1, d) for b, d in zip(begin, shape, strict=True)]
        masks["begin_mask"] = masks["end_mask"] = 0
    out = _sliced(shape, begin, end, step, masks)
    kind = s.rng.choice(("s32", "s32", "s32", "s64")) if s.chance(0.3) else "s32"
    s.moved("STRIDED_SLICE", [x, *(s.const(v, kind) for v in (begin, end, step))], out, x, masks)


def _sliced(shape: Shape, begin: list[int], end: list[int], step: list[int], masks: dict[str, int]) -> Shape:
    """The shape that NumPy gives the slice."""
    index: list[int | slice] = []
    for k, (d, a, b, n) in enumerate(zip(shape, begin, end, step, strict=True)):
        if masks["shrink_axis_mask"] >> k & 1:
            index.append(a)
            continue
        first = None if masks["begin_mask"] >> k & 1 else a
        last = None if masks["end_mask"] >> k & 1 or b < -d else b
        index.append(slice(first, last, n))
    return np.empty(shape)[tuple(index)].shape


def slice_(s: Sketch) -> None:
    shape = s.shape(least=1)
    begin = [s.rng.randrange(d) for d in shape]
    size = [s.rng.randint(1, d - b) for b, d in zip(begin, shape, strict=True)]
    stated = [-1 if s.chance(0.2) and n == d - b else n for n, d, b in zip(size, shape, begin, strict=True)]
    x, kind = s.x(shape), s.rng.choice(("s32", "s32", "s64"))
    s.moved("SLICE", [x, s.const(begin, kind), s.const(stated, kind)], size, x)


def concatenation(s: Sketch) -> None:
    shape = list(s.shape(least=1))
    axis, parts = s.rng.randrange(len(shape)), s.rng.randint(1, 4)
    first = s.x(shape)
    operands, total = [first], shape[axis]
    for _ in range(parts - 1):
        other = [*shape[:axis], s.rng.randint(1, 4), *shape[axis + 1 :]]
        quant = s.quants[first] if s.dtype != "u8" or s.chance(0.5) else s.quant(near=s.quants[first][0])
        operands.append(s.constant(other, None, quant) if s.chance(0.2) else s.x(other, None, quant))
        total += other[axis]
    y = [*shape[:axis], total, *shape[axis + 1 :]]
    s.moved("CONCATENATION", operands, y, first, {"axis": _axis(s, axis, len(shape))})


def split(s: Sketch) -> None:
    shape = list(s.shape(least=1))
    axis, parts = s.rng.randrange(len(shape)), s.rng.randint(1, 4)
    shape[axis] = parts * s.rng.randint(1, 3)
    x = s.x(shape)
    part = [*shape[:axis], shape[axis] // parts, *shape[axis + 1 :]]
    _several(s, "SPLIT", [s.const(_axis(s, axis, len(shape))), x], [part] * parts, x, {"num_splits": parts})


def split_v(s: Sketch) -> None:
    shape = list(s.shape(least=1))
    axis = s.rng.randrange(len(shape))
    sizes = [s.rng.randint(1, 3) for _ in range(s.rng.randint(1, 4))]
    shape[axis] = sum(sizes)
    x = s.x(shape)
    parts = [[*shape[:axis], n, *shape[axis + 1 :]] for n in sizes]
    stated = [-1 if k == 0 and s.chance(0.2) else n for k, n in enumerate(sizes)]
    operands = [x, s.const(stated), s.const(_axis(s, axis, len(shape)))]
    _several(s, "SPLIT_V", operands, parts, x, {"num_splits": len(sizes)})


def unpack(s: Sketch) -> None:
    shape = s.shape(least=1)
    axis = s.rng.randrange(len(shape))
    x = s.x(shape)
    parts = [shape[:axis] + shape[axis + 1 :]] * shape[axis]
    _several(s, "UNPACK", [x], parts, x, {"axis": _axis(s, axis, len(shape)), "num": shape[axis]})


def _several(s: Sketch, name: str, operands: list[int], shapes: list, like: int, options: dict[str, int]) -> None:
    results = [s.tensor(shape, s.dtype, s.quants[like]) for shape in shapes]
    s.writer.op(name, operands, results, options)
    s.outputs += results


def pack(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.randint(1, 4))
    parts, axis = s.rng.randint(1, 4), s.rng.randint(0, len(shape))
    first = s.x(shape)
    others = [s.x(shape, None, s.quants[first]) for _ in range(parts - 1)]
    options = {"axis": _axis(s, axis, len(shape) + 1), "values_count": parts}
    s.moved("PACK", [first, *others], (*shape[:axis], parts, *shape[axis:]), first, options)


def gather(s: Sketch) -> None:
    shape = s.shape(least=1)
    axis = s.rng.randrange(len(shape))
    batch = s.rng.randint(0, axis) if s.chance(0.3) else 0
    ids = (*shape[:batch], *(s.rng.choice(((), (3,), (2, 2))) if len(shape) < 5 else (2,)))
    x, kind = s.x(shape), s.rng.choice(("s32", "s32", "s32", "s64"))
    run_time = s.chance(0.5)
    index = s.x(ids, kind, below=shape[axis]) if run_time else s.const(s.indices(ids, kind, shape[axis]), kind)
    out = (*shape[:axis], *ids[batch:], *shape[axis + 1 :])
    s.moved("GATHER", [x, index], out, x, {"axis": _axis(s, axis, len(shape)), "batch_dims": batch})


def reverse(s: Sketch) -> None:
    shape = s.shape(least=1)
    axes = s.rng.sample(range(len(shape)), s.rng.choice((1, 1, min(2, len(shape)))))
    x = s.x(shape)
    s.moved("REVERSE_V2", [x, s.const([_axis(s, a, len(shape)) for a in axes])], shape, x)


def reverse_sequence(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.randint(2, 4))
    seq, batch = s.rng.sample(range(len(shape)), 2)
    x, kind = s.x(shape), s.rng.choice(("s32", "s64"))
    lengths = s.x((shape[batch],), kind, below=shape[seq] + 1)
    s.moved("REVERSE_SEQUENCE", [x, lengths], shape, x, {"seq_dim": seq, "batch_dim": batch})


def scatter_nd(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.randint(1, 4))
    depth, count = s.rng.randint(1, len(shape)), s.rng.randint(1, 4)
    places = s.rng.sample(range(math.prod(shape[:depth])), min(count, math.prod(shape[:depth])))
    ids = np.stack(np.unravel_index(places, shape[:depth]), axis=-1)
    updates = s.x((len(places), *shape[depth:]))
    s.moved("SCATTER_ND", [s.const(ids), updates, s.const(list(shape))], shape, updates)


def shape_of(s: Sketch) -> None:
    shape = s.shape(least=1)
    x = s.x(shape)
    y = s.tensor((len(shape),), "s32")
    s.writer.op("SHAPE", [x], [y], {"out_type": "s32"})
    total = s.tensor((len(shape),), "s32")
    s.writer.op("ADD", [y, s.x((len(shape),), "s32")], [total], {})
    s.outputs.append(total)


def space_to_depth(s: Sketch) -> None:
    n, h, w, c = s.shape(rank=4)
    b = s.rng.choice((1, 2, 2, 3))
    x = s.x((n, h * b, w * b, c))
    s.moved("SPACE_TO_DEPTH", [x], (n, h, w, c * b * b), x, {"block_size": b})


def depth_to_space(s: Sketch) -> None:
    n, h, w, c = s.shape(rank=4)
    b = s.rng.choice((1, 2, 2, 3))
    x = s.x((n, h, w, c * b * b))
    s.moved("DEPTH_TO_SPACE", [x], (n, h * b, w * b, c), x, {"block_size": b})


def resize(s: Sketch) -> None:
    n, h, w, c = s.shape(rank=4)
    size = (s.rng.randint(1, 9), s.rng.randint(1, 9))
    corners, centers = s.rng.choice(((False, False), (True, False), (False, True)))
    x = s.x((n, h, w, c))
    options = {"align_corners": corners, "half_pixel_centers": centers}
    s.moved("RESIZE_NEAREST_NEIGHBOR", [x, s.const(size)], (n, *size, c), x, options)


ANY = ("s8", "u8", "s16", "s32", "s64", "f32", "bool")
OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "RESHAPE": (ANY, reshape),
    "SQUEEZE": (ANY, squeeze),
    "EXPAND_DIMS": (ANY, expand_dims),
    "TRANSPOSE": (ANY, transpose),
    "TILE": (ANY, tile),
    "BROADCAST_TO": (ANY, broadcast_to),
    "PAD": (ANY, pad("PAD")),
    "PADV2": (ANY, pad("PADV2")),
    "STRIDED_SLICE": (ANY, strided_slice),
    "SLICE": (ANY, slice_),
    "CONCATENATION": (ANY, concatenation),
    "SPLIT": (ANY, split),
    "SPLIT_V": (ANY, split_v),
    "PACK": (ANY, pack),
    "UNPACK": (ANY, unpack),
    "GATHER": (ANY, gather),
    "REVERSE_V2": (ANY, reverse),
    "REVERSE_SEQUENCE": (ANY, reverse_sequence),
    "SCATTER_ND": (ANY, scatter_nd),
    "SHAPE": (ANY, shape_of),
    "SPACE_TO_DEPTH": (ANY, space_to_depth),
    "DEPTH_TO_SPACE": (ANY, depth_to_space),
    "RESIZE_NEAREST_NEIGHBOR": (ANY, resize),
}
"""Operator: (element types that are drawn, how a model of one is drawn)."""
