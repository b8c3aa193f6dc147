# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, make shapes, or index."""

from __future__ import annotations

import numpy as np
from onnx import helper

from tests.random.operators import draws
from tests.random.operators.reducing import some_axes
from tests.random.sketch import Sketch, Value

ANY = "fi"


@draws("Transpose")
def transpose(s: Sketch) -> None:
    x = s.take(kind=ANY)
    s.node("Transpose", [x], True, perm=s.rng.permutation(x.rank).tolist() if s.chance(0.85) else None)


def factors(s: Sketch, size: int) -> list[int]:
    """Sizes whose product is `size`."""
    found = [size]
    for _ in range(s.number(0, 3)):
        last = found.pop()
        divisor = s.pick([d for d in range(1, last + 1) if last % d == 0])
        found += [divisor, last // divisor]
    return found


@draws("Reshape")
def reshape(s: Sketch) -> None:
    x = s.take(kind=ANY)
    shape = factors(s, x.data.size)
    if s.chance(0.4):
        shape[s.number(0, len(shape) - 1)] = -1
    elif s.chance(0.3) and x.rank > 1:
        shape = [0, -1]
    s.node("Reshape", [x, s.int64(*shape)], True, allowzero=s.pick((None, 0)) if s.opset >= 14 else None)


@draws("Flatten")
def flatten(s: Sketch) -> None:
    x = s.take()
    axis = s.number(-x.rank if s.opset >= 11 else 0, x.rank)
    s.node("Flatten", [x], True, axis=axis if s.chance(0.8) else None)


def with_axes(s: Sketch, name: str, x: Value, axes: list[int] | None) -> None:
    if s.opset < 13:
        s.node(name, [x], True, axes=axes)
    else:
        s.node(name, [x, *([] if axes is None else [s.int64(*axes)])], True)


@draws("Squeeze")
def squeeze(s: Sketch) -> None:
    x = s.take(shape=[1 if s.chance(0.5) else d for d in s.shape(s.number(2, 4))])
    single = [k for k, d in enumerate(x.shape) if d == 1]
    s.need(bool(single))
    chosen = [k - x.rank if s.opset >= 11 and s.chance(0.3) else k for k in single if s.chance(0.7)]
    with_axes(s, "Squeeze", x, chosen or None)


@draws("Unsqueeze")
def unsqueeze(s: Sketch) -> None:
    x = s.take((1, 2, 3), kind=ANY)
    count = s.number(1, 2)
    axes = s.rng.choice(x.rank + count, count, replace=False).tolist()
    with_axes(s, "Unsqueeze", x, [k - x.rank - count if s.opset >= 11 and s.chance(0.3) else k for k in axes])


@draws("Concat")
def concat(s: Sketch) -> None:
    x = s.take(kind=ANY)
    axis = s.number(0, x.rank - 1)
    operands = [x]
    for _ in range(s.number(0, 2)):
        shape = tuple(s.number(1, 4) if k == axis else d for k, d in enumerate(x.shape))
        same = [v for v in s.values if v.rank == x.rank and v.data.dtype == x.data.dtype]
        fitting = [
            v for v in same if all(a == b or k == axis for k, (a, b) in enumerate(zip(v.shape, x.shape, strict=True)))
        ]
        data = s.floats(shape) if x.data.dtype.kind == "f" else s.ints(shape, x.data.dtype)
        operands.append(s.pick(fitting) if fitting and s.chance(0.6) else s.const(data))
    s.rng.shuffle(operands)  # type: ignore[arg-type]
    s.node("Concat", operands, True, axis=axis - x.rank if s.opset >= 11 and s.chance(0.3) else axis)


@draws("Split")
def split(s: Sketch) -> None:
    x = s.take(kind=ANY)
    axis = s.axis(x.rank) if s.opset >= 11 else s.number(0, x.rank - 1)
    size = x.shape[axis]
    s.need(size > 1)
    ends = sorted(s.rng.choice(np.arange(1, size), s.number(1, min(size - 1, 3)), replace=False).tolist())
    sizes = np.diff([0, *ends, size]).tolist()
    even = [n for n in (2, 3, 4) if size % n == 0]
    if even and s.chance(0.4):
        count = s.pick(even)
        s.results("Split", [x], count, True, axis=axis, num_outputs=count if s.opset >= 18 else None)
    elif s.opset < 13:
        s.results("Split", [x], len(sizes), True, axis=axis, split=sizes)
    else:
        s.results("Split", [x, s.int64(*sizes)], len(sizes), True, axis=axis)


@draws("Slice")
def slices(s: Sketch) -> None:
    x = s.take(kind=ANY)
    axes = [k for k in range(x.rank) if s.chance(0.5)] or [0]
    starts, ends, steps = [], [], []
    for k in axes:
        low, high = sorted(s.rng.choice(x.shape[k] + 1, 2, replace=False).tolist())
        step = s.pick((1, 1, 2, 3, -1, -2)) if s.opset >= 10 else 1
        start, end = (low, high) if step > 0 else (high - 1, low - 1 if low else -(2**31))
        starts.append(start - x.shape[k] if s.chance(0.3) else start)
        ends.append(
            2**31 - 1
            if end == x.shape[k] and s.chance(0.5)
            else end - x.shape[k]
            if 0 <= end < x.shape[k] and s.chance(0.3) and step > 0
            else end
        )
        steps.append(step)
    if s.opset < 10:
        s.node("Slice", [x], True, starts=starts, ends=ends, axes=axes)
    else:
        with_steps = [s.int64(*steps)] if s.chance(0.5) or any(step != 1 for step in steps) else []
        s.node("Slice", [x, s.int64(*starts), s.int64(*ends), s.int64(*axes), *with_steps], True)


@draws("Expand", since=8)
def expand(s: Sketch) -> None:
    x = s.take(kind=ANY)
    shape = [s.number(1, 3) if d == 1 else s.pick((d, 1)) for d in x.shape]
    s.node("Expand", [x, s.int64(*([s.number(1, 2)] if s.chance(0.3) else []), *shape)], True)


@draws("Tile")
def tile(s: Sketch) -> None:
    x = s.take(kind=ANY)
    s.need(x.data.size <= 150)
    s.node("Tile", [x, s.int64(*(s.pick((1, 1, 2, 3)) for _ in x.shape))], True)


def places(s: Sketch, shape: tuple[int, ...] | list[int], below: int) -> np.ndarray:
    low = -below if s.opset >= 11 and s.chance(0.4) else 0
    return s.ints(shape, s.pick((np.int32, np.int64)), low, below - 1)


def index(s: Sketch, shape: tuple[int, ...] | list[int], below: int) -> Value:
    data = places(s, shape, below)
    return (
        s.const(data)
        if s.chance(0.7) or not shape
        else s.input(shape, lambda t: places(s, t, below).astype(data.dtype))
    )


@draws("Gather")
def gather(s: Sketch) -> None:
    x = s.take(kind=ANY)
    axis = s.axis(x.rank) if s.opset >= 11 else s.number(0, x.rank - 1)
    indices = index(s, s.pick(((), (1,), (3,), (2, 2))), x.shape[axis])
    s.node("Gather", [x, indices], True, axis=axis if axis or s.chance(0.5) else None)


@draws("GatherElements", since=11)
def gather_elements(s: Sketch) -> None:
    x = s.take()
    axis = s.axis(x.rank)
    shape = [s.number(1, 4) if k == axis % x.rank else s.number(1, d) for k, d in enumerate(x.shape)]
    s.node("GatherElements", [x, index(s, shape, x.shape[axis])], True, axis=axis)


@draws("GatherND", since=11)
def gather_nd(s: Sketch) -> None:
    x = s.take()
    batch = s.number(0, min(1, x.rank - 1)) if s.opset >= 12 and s.chance(0.4) else 0
    depth = s.number(1, x.rank - batch)
    outer = [*x.shape[:batch], s.number(1, 4)]
    columns = [s.ints((*outer, 1), np.int64, -d, d - 1) for d in x.shape[batch : batch + depth]]
    s.node("GatherND", [x, s.const(np.concatenate(columns, -1))], True, batch_dims=batch if batch else None)


def _distinct(s: Sketch, x: Value, axis: int) -> tuple[np.ndarray, list[int]]:
    """Indices along an axis, each once, for some of the other elements."""
    shape = [s.number(1, d) for d in x.shape]
    found = np.zeros(shape, np.int64)
    moved = np.moveaxis(found, axis, -1)
    for place in np.ndindex(moved.shape[:-1]):
        moved[place] = s.rng.permutation(x.shape[axis])[: moved.shape[-1]]
    return found, shape


@draws("Scatter", since=9, until=10)
def scatter(s: Sketch) -> None:
    x = s.take()
    axis = s.number(0, x.rank - 1)
    indices, shape = _distinct(s, x, axis)
    s.node("Scatter", [x, s.const(indices), s.const(s.floats(shape))], True, axis=axis)


@draws("ScatterElements", since=11)
def scatter_elements(s: Sketch) -> None:
    x = s.take()
    axis = s.axis(x.rank)
    indices, shape = _distinct(s, x, axis % x.rank)
    indices = indices - x.shape[axis] * (s.rng.random(indices.shape) < 0.3)
    modes = [None, "none", *(("add", "mul") if s.opset >= 16 else ()), *(("max", "min") if s.opset >= 18 else ())]
    updates = s.const(s.floats(shape)) if s.chance(0.5) else s.input(shape)
    s.node("ScatterElements", [x, s.const(indices), updates], True, axis=axis, reduction=s.pick(modes))


@draws("ScatterND", since=11)
def scatter_nd(s: Sketch) -> None:
    x = s.take()
    depth = s.number(1, x.rank)
    total = int(np.prod(x.shape[:depth]))
    flat = s.rng.permutation(total)[: s.number(1, min(4, total))]
    indices = np.stack(np.unravel_index(flat, x.shape[:depth]), -1).astype(np.int64)
    modes = [None, "none", *(("add", "mul") if s.opset >= 16 else ()), *(("max", "min") if s.opset >= 18 else ())]
    shape = (len(flat), *x.shape[depth:])
    updates = s.const(s.floats(shape)) if s.chance(0.5) else s.input(shape)
    s.node("ScatterND", [x, s.const(indices), updates], True, reduction=s.pick(modes))


@draws("OneHot", since=9)
def one_hot(s: Sketch) -> None:
    depth = s.number(2, 6)
    x = s.input(s.shape(s.number(1, 3)), lambda t: s.ints(t, np.int64, -depth if s.opset >= 11 else 0, depth - 1))
    values = s.const(s.floats((2,)) if s.chance(0.7) else s.ints((2,)))
    depths = s.const(np.array(depth if s.chance(0.5) else [depth], s.pick((np.int64, np.float32))))
    s.node("OneHot", [x, depths, values], True, axis=s.pick((None, -1, s.number(0, x.rank))))


@draws("EyeLike", since=9)
def eye_like(s: Sketch) -> None:
    s.node("EyeLike", [s.take(2)], True, k=s.pick((None, -1, 0, 1)), dtype=s.pick((None, 1, 6)))


@draws("ConstantOfShape", since=9)
def constant_of_shape(s: Sketch) -> None:
    value = helper.make_tensor("", *s.pick(((1, [1], [1.5]), (6, [1], [3]))))
    shape = s.shape(s.number(1, 3))
    made = s.node("ConstantOfShape", [s.int64(*shape)], True, value=value if s.chance(0.7) else None)
    x = s.input(shape, None if made.data.dtype.kind == "f" else s.ints)
    s.node("Add", [made, x], True)


@draws("Constant")
def constant(s: Sketch) -> None:
    x = s.take()
    forms = {"value_float": 0.5, "value_floats": [0.5] * x.shape[-1]}
    key = s.pick(list(forms))
    tensor = helper.make_tensor("", 1, [1], [0.25])
    made = s.node("Constant", [], True, **({key: forms[key]} if s.opset >= 12 else {"value": tensor}))
    s.node("Mul", [x, made], True)


@draws("Shape")
def shape_of(s: Sketch) -> None:
    x = s.take(kind=ANY)
    ends = {"start": s.pick((None, 0, -1, 1)), "end": s.pick((None, x.rank, 9))} if s.opset >= 15 else {}
    found = s.node("Shape", [x], True, **ends)
    if found.data.size == x.rank and s.chance(0.7):
        s.node("Reshape", [x, found], True)


@draws("Size")
def size_of(s: Sketch) -> None:
    x = s.take()
    count = s.node("Size", [x], True)
    s.node("Reshape", [x, s.node("Unsqueeze", [count, s.int64(0)], True)], True) if s.opset >= 13 else None


@draws("Trilu", since=14)
def trilu(s: Sketch) -> None:
    x = s.take((2, 3, 4))
    k = [s.const(np.int64(s.number(-3, 3)))] if s.chance(0.6) else []
    s.node("Trilu", [x, *k], True, upper=s.pick((None, 0, 1)))


@draws("ReverseSequence", since=10)
def reverse_sequence(s: Sketch) -> None:
    x = s.take((2, 3, 4))
    batch = s.number(0, 1)
    lengths = s.const(s.ints((x.shape[batch],), np.int64, 1, x.shape[1 - batch]))
    s.node("ReverseSequence", [x, lengths], True, batch_axis=batch, time_axis=1 - batch)


@draws("Compress", since=9)
def compress(s: Sketch) -> None:
    x = s.take()
    axis = s.pick((None, s.axis(x.rank) if s.opset >= 11 else s.number(0, x.rank - 1)))
    size = x.data.size if axis is None else x.shape[axis]
    chosen = s.rng.random(size) < 0.6
    chosen[s.number(0, size - 1)] = True
    s.node("Compress", [x, s.const(chosen)], True, axis=axis)


@draws("NonZero", since=9)
def non_zero(s: Sketch) -> None:
    x = s.take()
    places = s.node("NonZero", [s.const(s.ints(x.shape[:1], np.float32, 0, 1))], True)
    s.need(places.data.size > 0)
    s.node("Gather", [x, places], True)


@draws("Range", since=11)
def ranges(s: Sketch) -> None:
    start, step = s.number(-5, 5), s.pick((1, 2, 3, -1, -2))
    dtype = s.pick((np.float32, np.int32, np.int64))
    ends = [s.const(np.array(v, dtype)) for v in (start, start + step * s.number(1, 6), step)]
    made = s.node("Range", ends, True)
    x = s.take()
    s.node(
        "Add",
        [
            x,
            s.node(
                "Cast",
                [
                    s.node("ReduceMax", [made], True, keepdims=0),
                ],
                True,
                to=1,
            ),
        ],
        True,
    )


@draws("DepthToSpace")
def depth_to_space(s: Sketch) -> None:
    block = s.number(1, 3)
    x = s.take(4, shape=(s.number(1, 2), block * block * s.number(1, 3), s.number(1, 4), s.number(1, 4)))
    s.node("DepthToSpace", [x], True, blocksize=block, mode=s.pick((None, "DCR", "CRD")) if s.opset >= 11 else None)


@draws("SpaceToDepth")
def space_to_depth(s: Sketch) -> None:
    block = s.number(1, 3)
    x = s.take(4, shape=(s.number(1, 2), s.number(1, 3), block * s.number(1, 3), block * s.number(1, 3)))
    s.node("SpaceToDepth", [x], True, blocksize=block)


@draws("Pad")
def pad(s: Sketch) -> None:
    x = s.take(kind="f")
    mode = s.pick((None, "constant", "reflect", "edge", *(("wrap",) if s.opset >= 19 else ())))
    most = [min(2, d - 1) if mode == "reflect" else min(2, d) for d in x.shape]
    pads = [s.number(0, m) for m in most + most]
    value = float(np.float32(s.rng.uniform(-2, 2)))
    if s.opset < 11:
        s.node("Pad", [x], True, mode=mode, pads=pads, value=value if s.chance(0.5) else None)
        return
    if mode in (None, "constant") and s.chance(0.3):
        pads = [
            p if d + min(0, p) > 1 and s.chance(0.8) else -1 if d > 2 else p
            for p, d in zip(pads, x.shape * 2, strict=True)
        ]
    values = [s.const(np.float32(value))] if s.chance(0.6) else []
    axes: list[Value | None] = []
    if s.opset >= 18 and s.chance(0.4):
        chosen = [k % x.rank for k in some_axes(s, x.rank)]
        pads = [pads[k] for k in chosen] + [pads[k + x.rank] for k in chosen]
        values = values or [None]  # type: ignore[list-item]
        axes = [s.int64(*chosen)]
    s.node("Pad", [x, s.int64(*pads), *values, *axes], True, mode=mode)


@draws("BitCast", since=26)
def bit_cast(s: Sketch) -> None:
    s.node("BitCast", [s.take(exact=True)], True, to=6)


@draws("TensorScatter", since=24)
def tensor_scatter(s: Sketch) -> None:
    length, width, batch = s.number(3, 6), s.number(1, 4), s.number(1, 2)
    past = s.take(shape=(batch, length, width))
    update = s.input((batch, s.number(1, 2), width))
    first = s.const(s.ints((batch,), np.int64, 0, 1))
    s.node("TensorScatter", [past, update, first], True, axis=1, mode=s.pick((None, "linear", "circular")))
