"""Shared recipe of operators on two tensors, element by element with broadcasting.

An operator states the C expression of one result element. It gets four kernels, whose symbols end with:

(nothing)    both operands computed, all shapes equal
__number     one operand is a constant number
__vector     one operand is a constant vector along the last axis
__broadcast  any other broadcasting
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Rule
from mcugen.ir.element import OPERANDS, TERMS, Element, Stated, Walk, element_of, loop
from mcugen.ir.fixed_point import INT_RANGE, activation_bounds
from mcugen.ir.kernel import Cost, Form, Kernel, Run, Text, Whole
from mcugen.ir.op import Example, Op, evaluate
from mcugen.ir.ranges import Range, channels_of
from mcugen.ir.types import QuantParams, Shape, TensorType

RANK = 6
_QUANTIZED = ("s8", "u8", "s16")


def broadcast_types(a: TensorType | None, b: TensorType | None, allowed: Sequence[str]) -> TensorType:
    """The result type of two operands. Raises ShapeError, UnsupportedError or QuantizationError."""
    if a is None or b is None:
        raise ShapeError("an operand is missing: two are needed")
    if a.dtype != b.dtype or a.dtype not in allowed:
        raise UnsupportedError(f"operands {a.dtype} and {b.dtype} are not supported together")
    for t in (a, b):
        if t.dtype in _QUANTIZED and (t.quant is None or t.quant.per_channel):
            raise QuantizationError(f"{t} needs one scale and one zero point for the whole tensor")
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError as error:
        raise ShapeError(f"shapes {list(a.shape)} and {list(b.shape)} cannot be broadcast together") from error
    if len(shape) > RANK:
        raise UnsupportedError(f"broadcasting over {len(shape)} axes is not supported; at most {RANK} are")
    return TensorType(shape, a.dtype)


def equal_shapes(call: Call) -> bool:
    "both operands are computed and have the result's shape"
    shapes = {call.input(0).shape, call.input(1).shape, call.output.shape}
    return len(shapes) == 1 and call.constants[0] is None and call.constants[1] is None


def constant_number(call: Call) -> bool:
    "one operand is a constant number; the other has the result's shape"
    k = _constant_operand(call)
    return k is not None and call.input(k).size == 1 and call.input(1 - k).shape == call.output.shape


def constant_vector(call: Call) -> bool:
    "one operand is a constant, one number per index of the last axis; the other has the result's shape"
    k = _constant_operand(call)
    if k is None or call.input(k).size == 1 or call.input(1 - k).shape != call.output.shape:
        return False
    shape = call.input(k).shape
    return shape[-1:] == call.output.shape[-1:] and call.input(k).size == shape[-1]


def repeats(call: Call) -> bool:
    "an operand repeats elements in a way that no other kernel for these types supports"
    return not (equal_shapes(call) or constant_number(call) or constant_vector(call))


def corners(call: Call) -> Range | None:
    """Bounds of a result that is monotonic in each operand, from its values at the ends of the operands' bounds.

    None if the bounds of an operand are unknown.
    """
    a, b = call.range_of(0), call.range_of(1)
    if a is None or b is None:
        return None
    inner = replace(
        call,
        inputs=tuple(call.input(k).with_shape((x.low.size,)) for k, x in enumerate((a, b))),
        outputs=(call.output.with_shape((channels_of(call.output),)),),
        constants=(None, None),
        input_range=(),
    )
    dtypes = (call.input(0).np_dtype, call.input(1).np_dtype)
    ends = [(x.astype(dtypes[0]), y.astype(dtypes[1])) for x in (a.low, a.high) for y in (b.low, b.high)]
    found = np.stack([evaluate(inner, pair)[0].astype(np.int64) for pair in ends])
    return Range(found.min(axis=0), found.max(axis=0))


def of_type(dtype: str, result: str = "") -> Callable[[Call], bool]:
    """A rule: the operands have the element type `dtype`; the result has `result`, or `dtype` if `result` is empty."""

    def accepts(call: Call) -> bool:
        same = {call.input(0).dtype, call.input(1).dtype} == {dtype}
        return same and call.output.dtype == (result or dtype)

    accepts.__doc__ = f"operands are {dtype}, the result is {result}" if result else f"operands and result are {dtype}"
    return accepts


def symmetric(call: Call) -> bool:
    "zero points of int16 data are 0"
    return all(t is None or t.dtype != "s16" or t.zero_point == 0 for t in (*call.inputs, *call.outputs))


def kernels(
    symbol: str, dtype: str, stated: Stated, rules: tuple[Rule, ...] = (), result: str = ""
) -> tuple[Kernel, ...]:
    """The four kernels for operands of one element type.

    stated: the C expression of a result element. result: the result's element type if it is not `dtype`.
    """
    element = partial(element_of, stated)
    own = Cost(lambda call: element(call).work(call), TERMS)

    def kernel(how: str, form: Form, walk: Walk, rule: Rule, cost: Cost = own, **fields: Any) -> Kernel:
        return Kernel(
            f"{symbol}{how}",
            form,
            (of_type(dtype, result), *rules, rule),
            lambda call: _params(element(call), call, walk),
            text=Text(generate=lambda call: loop(element(call), call, walk, _kinds(element(call), call, walk))),
            cost=cost,
            **fields,
        )

    def both(call: Call) -> tuple[int, ...]:
        return element(call).order(call)

    def computed(call: Call) -> tuple[int, ...]:
        return tuple(k for k in both(call) if call.constants[k] is None)

    def starts(call: Call) -> dict[str, float]:
        return {"starts": _broadcast_fields(call, (0, 1))["layout.runs"], **element(call).work(call)}

    run: dict[str, Any] = {"operands": computed, "in_place": () if result else (0, 1)}
    elements = Run(lambda call: call.output.size)
    pixels = Run(lambda call: call.output.size // _last(call.output.shape))
    return (
        kernel("", elements, Walk.RUN, equal_shapes, **run),
        kernel("__number", elements, Walk.RUN, constant_number, **run),
        kernel("__vector", pixels, Walk.VECTOR, constant_vector, **run),
        kernel("__broadcast", Whole(), Walk.BROADCAST, repeats, Cost(starts, (*TERMS, "starts")), operands=both),
    )


def all_kernels(symbol: str, elements: Mapping[str, Stated]) -> tuple[Kernel, ...]:
    """The kernels <symbol>_<dtype> of every element type."""
    return tuple(k for dtype, element in elements.items() for k in kernels(f"{symbol}_{dtype}", dtype, element))


def _last(shape: Shape) -> int:
    return shape[-1] if shape else 1


def _constant_operand(call: Call) -> int | None:
    return next((k for k in (0, 1) if call.constants[k] is not None), None)


def _kinds(element: Element, call: Call, walk: Walk) -> list[str]:
    """How the loop reads each operand of the expression: `mcugen.ir.element.Operand.kind`."""
    if walk is Walk.BROADCAST:
        return ["tensor" if step else "repeated" for step in _steps(call, element.order(call))]
    constant = "vector" if walk is Walk.VECTOR else "number"
    return ["tensor" if call.constants[k] is None else constant for k in element.order(call)]


def _params(element: Element, call: Call, walk: Walk) -> dict[str, Any]:
    found: dict[str, Any] = element.constants(call)
    order = element.order(call)
    if walk is Walk.BROADCAST:
        return found | _broadcast_fields(call, order)
    named = zip(OPERANDS, order, strict=False)
    constants = {name: call.constant(k).reshape(-1) for name, k in named if call.constants[k] is not None}
    if walk is Walk.VECTOR:
        return {**constants, **found, "run": _last(call.output.shape)}
    return {**{name: number_of(data) for name, data in constants.items()}, **found}


def number_of(data: np.ndarray) -> Any:
    """The only element of `data`. A float stays a NumPy float32, so that the emitter writes infinity as infinity."""
    only = data.reshape(-1)[0]
    return only if isinstance(only, np.float32) else only.item()


def _broadcast_fields(call: Call, order: Sequence[int]) -> dict[str, Any]:
    """The loop's struct fields for two broadcast operands.

    order: for each operand of the expression, the index of the call's operand.
    """
    first, second = (call.input(k).shape for k in order)
    dims, a, b = walk(first, second, call.output.shape)
    return {
        "layout.walk": np.array([*dims[:-1], *a[:-1], *b[:-1]], np.uint32),
        "layout.runs": int(np.prod(dims[:-1])),
        "layout.run": dims[-1],
    }


def _steps(call: Call, order: Sequence[int]) -> tuple[int, int]:
    """The stride of each operand in the innermost loop: 1, or 0 if it repeats one element."""
    first, second = (call.input(k).shape for k in order)
    _, a, b = walk(first, second, call.output.shape)
    return a[-1], b[-1]


def walk(a: Shape, b: Shape, y: Shape) -> tuple[list[int], list[int], list[int]]:
    """(sizes, strides in a, strides in b) of 6 nested loops over y, outermost first. Adjacent axes are merged."""
    loops: list[tuple[int, bool, bool]] = []
    for size, in_a, in_b in zip(y, _aligned(a, len(y)), _aligned(b, len(y)), strict=True):
        kind = (in_a == size, in_b == size)
        if size == 1:
            continue
        if loops and loops[-1][1:] == kind:
            loops[-1] = (loops[-1][0] * size, *kind)
        else:
            loops.append((size, *kind))
    loops = [(1, False, False)] * (RANK - len(loops)) + loops
    sizes = [size for size, _, _ in loops]
    return sizes, _strides(sizes, [x for _, x, _ in loops]), _strides(sizes, [x for _, _, x in loops])


def _aligned(shape: Shape, rank: int) -> Shape:
    return (1,) * (rank - len(shape)) + shape


def _strides(sizes: Sequence[int], present: Sequence[bool]) -> list[int]:
    strides, step = [], 1
    for size, there in zip(reversed(sizes), reversed(present), strict=True):
        strides.append(step if there else 0)
        step *= size if there else 1
    return strides[::-1]


SHAPES: tuple[tuple[Shape, Shape, int | None], ...] = (
    ((1, 3, 5, 2), (1, 3, 5, 2), None),
    ((1, 3, 5, 4), (4,), 1),
    ((1, 1, 1, 3), (1, 4, 2, 3), 0),
    ((2, 3, 3, 2), (), 1),
    ((1, 3, 4, 5), (1, 1, 1, 5), None),
    ((2, 1, 3, 1), (1, 4, 1, 5), None),
    ((3, 7), (3, 7), 0),
    ((3, 1, 2, 1, 2, 1), (2, 1, 2, 1, 2), None),
    ((1,), (5, 3), None),
)
"""Shapes of the two operands in examples, and the index of the constant operand."""

LONG: tuple[tuple[Shape, Shape, int | None], ...] = (
    ((3, 13), (3, 13), None),
    ((2, 1, 19), (1, 3, 19), None),
    ((2, 11), (), 1),
    ((1, 3, 19), (2, 3, 1), None),
    ((2, 3, 1), (1, 3, 19), None),
    ((2, 3, 19), (19,), 1),
    ((19,), (2, 3, 19), 0),
)
"""Shapes whose innermost loop has several iterations of an unrolled loop, and a remainder."""


def examples(
    op: Op,
    dtype: str,
    scales: Sequence[tuple[float, float, float]],
    seed: int = 0,
    shapes: Sequence[tuple[Shape, Shape, int | None]] = SHAPES,
) -> list[Example]:
    """One example per entry of `shapes`. scales: scales of (a, b, y), used in turn with different zero points."""
    found = []
    for k, (a_shape, b_shape, constant) in enumerate(shapes):
        zeros = ((-128, 0, 127), (5, -128, -7), (127, 127, -128), (0, 3, 0))[k % 4]
        quants = _quants(dtype, scales[k % len(scales)], zeros)
        a, b = (TensorType(s, dtype, q) for s, q in zip((a_shape, b_shape), quants, strict=False))
        y = TensorType(np.broadcast_shapes(a_shape, b_shape), dtype, quants[2])
        constants: Mapping[int, None] = {} if constant is None else {constant: None}
        found.append(Example(op, (a, b), (y,), constants, seed + k))
    return found


def _quants(dtype: str, scales: Sequence[float], zeros: Sequence[int]) -> list[QuantParams | None]:
    if dtype not in _QUANTIZED:
        return [None, None, None]
    moved = {"s8": zeros, "u8": [z + 128 for z in zeros], "s16": (0, 0, 0)}[dtype]
    return [QuantParams((s,), (z,)) for s, z in zip(scales, moved, strict=True)]


def same_scale(op: Op, dtype: str, seed: int = 0) -> list[Example]:
    """Examples whose operands and result share one quantization."""
    shared = QuantParams((0.1,), ({"s8": -3}.get(dtype, 0),)) if dtype in _QUANTIZED else None
    return [
        Example(
            e.op,
            tuple(None if t is None else TensorType(t.shape, dtype, shared) for t in e.inputs),
            tuple(TensorType(t.shape, dtype, shared) for t in e.outputs),
            e.constants,
            e.seed,
        )
        for e in examples(op, dtype, [(0.1, 0.1, 0.1)], seed)
    ]


def sum_examples(op: Callable[..., Op]) -> list[Example]:
    """Examples of an addition or subtraction `op(activation, power_of_two)`."""
    near = [(0.05, 0.04, 0.08), (0.011, 0.011, 0.02), (0.3, 0.001, 0.2)]
    far = [(0.0003, 0.0002, 0.0004), (1e-5, 0.1, 0.2)]
    powers = [(2.0**-11, 2.0**-12, 2.0**-11), (2.0**-9, 2.0**-6, 2.0**-6)]
    apart = [(0.0079, 3.9e-12, 0.0079), (3.9e-12, 0.0079, 0.0158), (0.01, 0.01, 50.0)]  # a right shift by 31
    return [
        *examples(op("NONE"), "s8", near),
        *examples(op("RELU"), "s8", near[1:], 10)[:4],
        *examples(op("RELU6"), "s8", near[:1], 20)[:2],
        *examples(op("NONE"), "s8", near[1:2], 24, LONG),
        *examples(op("RELU_N1_TO_1"), "s8", near[1:2], 34, LONG),
        *examples(op("NONE"), "s16", far, 30),
        *examples(op("NONE", True), "s16", powers, 40)[:4],
        *examples(op("NONE"), "f32", [(1, 1, 1)], 50),
        *examples(op("RELU_N1_TO_1"), "f32", [(1, 1, 1)], 50)[:4],
        *examples(op("RELU6"), "f32", [(1, 1, 1)], 50)[:1],
        *examples(op("NONE"), "s32", [(1, 1, 1)], 60),
        *examples(op("NONE"), "s8", apart, 100)[:3],
        *examples(op("NONE"), "s16", apart, 110)[:2],
    ]


def stated_examples(op: Any) -> list[Example]:
    """Examples of an operator that states its rounding. Some of their scales give exact halves."""
    scales = [(0.05, 0.04, 0.08), (0.25, 0.5, 0.5), (0.3, 0.1, 0.2)]
    found = []
    for k, how in enumerate(("even", "single")):
        found += examples(replace(op, rounding=how), "s8", scales, 70 + 10 * k)[:6]
    return found


def flipped_examples(op: Any) -> list[Example]:
    """Examples of an operator on data converted from uint8, rounded in float32."""
    return examples(replace(op, rounding="single", flipped_u8=True), "s8", [(0.05, 0.04, 0.08)], 90)[:3]


def float_bounds(call: Call) -> tuple[float, float]:
    """The bounds of the fused activation, as real numbers."""
    return activation_bounds(str(call.op.activation))


def int_bounds(activation: str) -> tuple[int, int]:
    """The bounds of an activation on int32 data without a scale. Source: kernel_util.h, CalculateActivationRange."""
    low, high = activation_bounds(activation)
    lowest, highest = INT_RANGE["s32"]
    return (int(low) if low > lowest else lowest, int(high) if high < highest else highest)
