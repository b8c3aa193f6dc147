"""Operators of .tflite that are composed of a few of mcugen's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _pool
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.cast import Cast
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.div import Div
from mcugen.ops.float_functions import Exp, Log
from mcugen.ops.gather import Gather
from mcugen.ops.interpolate import Interpolate, bilinear
from mcugen.ops.maximum import Maximum
from mcugen.ops.mul import Mul
from mcugen.ops.quantize import Quantize
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.relu import Relu
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sub import Sub
from mcugen.ops.sum import Sum
from mcugen.system import flexbuffer

_CLAMPS = {"RELU": Relu(), "RELU6": Relu(0.0, 6.0), "RELU_N1_TO_1": Relu(-1.0, 1.0)}
_ROWS = ("f32", "s8", "u8", "s16", "s32", "u32", "s64", "bool")
"""Element types of tables of EMBEDDING_LOOKUP."""
_SUM_BITS = 19
"""Bits by which ADD_N shifts stored integers before it scales their sum."""


def has_floats(source: Source) -> bool:
    """Whether the first operand is float."""
    return bool(source.inputs) and source.inputs[0] is not None and source.inputs[0].dtype == "f32"


def _operands(e: Expansion, count: int) -> list[str]:
    found = [x for x in e.inputs[:count] if x is not None]
    if len(found) < count:
        raise ShapeError(f"the operator has {len(found)} operands, needs {count}")
    return found


def add_n(source: Source, e: Expansion) -> Sequence[str]:
    """The sum of several tensors of one shape. Source: TFLite ADD_N; add_n.h."""
    xs = _operands(e, len(e.inputs))
    types = [e.type(x) for x in xs]
    if len(xs) < 2 or len({t.shape for t in types}) > 1 or len({t.dtype for t in types}) > 1:
        raise ShapeError(f"operands {', '.join(map(str, types))} cannot be added")
    if types[0].dtype not in ("f32", "s32", "s8"):
        raise UnsupportedError(f"sums of {types[0].dtype} are not supported")
    if types[0].dtype == "s8":
        e.refuse("litert", "no kernel for s8")
        return [_stored_sum(source, e, xs, types)]
    if types[0].dtype == "s32":
        e.refuse("tflm", "no kernel for s32")
    total = xs[0]
    for x in xs[1:]:
        total = e.node(Add(), total, x)
    return [total]


def _stored_sum(source: Source, e: Expansion, xs: Sequence[str], types: Sequence[TensorType]) -> str:
    """A sum of int8 tensors with one scale: their integers are added, and the sum is scaled once.

    The runtime subtracts the zero point once more than there are terms.
    """
    if len({t.quant for t in types}) > 1 or types[0].quant is None or source.outputs[0].dtype != "s8":
        raise UnsupportedError("operands of different scales are not supported", hint="the runtime refuses them too")
    shape, zero = types[0].shape, types[0].zero_point
    total = e.node(Cast("s32"), xs[0])
    for x in xs[1:]:
        total = e.node(Add(), total, e.node(Cast("s32"), x))
    centred = e.node(Add(), total, e.constant(np.array(-zero * (len(xs) + 1), np.int32)))
    scale = float(np.float32(types[0].scale) / np.float32(2**_SUM_BITS))
    factor = e.constant(np.array(2**_SUM_BITS, np.int32))
    shifted = e.node(Mul(), centred, factor, quant=QuantParams((scale,), (0,)))
    assert e.type(shifted).shape == shape
    return e.node(Quantize("s8"), shifted, quant=source.outputs[0].quant)


def l2_pool(source: Source, e: Expansion) -> Sequence[str]:
    """The root of the mean of squares in a window. Source: TFLite L2_POOL_2D."""
    x = _operands(e, 1)[0]
    if e.type(x).dtype != "f32":
        raise UnsupportedError(f"a root mean square of {e.type(x).dtype} is not supported")
    fields = _pool.attributes(source)
    clamp = _clamp(fields["activation"])
    y = e.node(Sqrt(), e.node(AveragePool2D(**{**fields, "activation": "NONE"}), e.node(Square(), x)))
    return [y if clamp is None else e.node(clamp, y)]


def _clamp(activation: str) -> Relu | None:
    if activation not in ("NONE", *_CLAMPS):
        raise UnsupportedError(f"fused activation {activation} is not supported")
    return _CLAMPS.get(activation)


def l2_normalization(source: Source, e: Expansion) -> Sequence[str]:
    """x / max(sqrt(sum of squares along the last axis), 1e-6). Source: TFLite L2_NORMALIZATION."""
    x = _operands(e, 1)[0]
    if source.attributes.get("fused_activation_function", "NONE") != "NONE":
        raise UnsupportedError("a fused activation is not supported")
    norm = e.node(Sqrt(), e.node(Sum((-1,), True), e.node(Square(), x)))
    return [e.node(Div(), x, e.node(Maximum(), norm, e.constant(np.array(1e-6, np.float32))))]


def log_softmax(source: Source, e: Expansion) -> Sequence[str]:
    """x - max - log(sum of exp(x - max)) along the last axis. Source: TFLite LOG_SOFTMAX."""
    x = _operands(e, 1)[0]
    centred = e.node(Sub(), x, e.node(ReduceMax((-1,), True), x))
    total = e.node(Log(), e.node(Sum((-1,), True), e.node(Exp(), centred)))
    return [e.node(Sub(), centred, total)]


def embedding_lookup(source: Source, e: Expansion) -> Sequence[str]:
    """Rows of a table, dequantized if the table is int8 and the result float. Source: TFLite EMBEDDING_LOOKUP."""
    ids, table = _operands(e, 2)
    t, made = e.type(table), source.outputs[0].dtype
    if e.type(ids).dtype != "s32" or len(e.type(ids).shape) != 1 or t.dtype not in _ROWS:
        raise UnsupportedError(f"a lookup of {e.type(ids)} in {t} is not supported")
    if t.quant is not None and t.quant.per_channel:
        raise UnsupportedError("a table with several scales is not supported")
    if t.dtype not in ("s8", "f32"):
        e.refuse("tflm", f"no kernel for {t.dtype}")
    rows = e.node(Gather(0), table, ids, quant=t.quant)
    return [rows if made == t.dtype else e.node(Dequantize(), rows)]


def resize_bilinear(source: Source, e: Expansion) -> Sequence[str]:
    """Images resized by linear interpolation along each axis. Source: TFLite RESIZE_BILINEAR."""
    x, a, wanted = _operands(e, 2)[0], source.attributes, source.ints(1)
    shape = e.type(x).shape
    if wanted is None or len(wanted) != 2 or min(wanted) < 1 or max(wanted) > 1 << 14 or len(shape) != 4:
        raise ShapeError(f"an image {list(shape)} cannot be resized to {wanted}")
    align, half = a["align_corners"], a["half_pixel_centers"]
    if align and half:
        raise UnsupportedError("align_corners and half_pixel_centers together are not supported")
    y = x
    for k in (0, 1):
        size, made = shape[k + 1], wanted[k]
        index, weights = bilinear(size, made, align=bool(align), half=bool(half))
        y = e.node(Interpolate(k + 1), y, e.constant(index), e.constant(weights))
    return [y]


def circular_buffer(source: Source, e: Expansion) -> Sequence[str]:
    """The last inputs, the newest at the end; at first all are the zero point. Source: TFLM circular_buffer.cc."""
    cycles = flexbuffer.options(source.attributes["custom_options"], cycles_max=0)["cycles_max"]
    x, made = _operands(e, 1)[0], source.outputs[0]
    t, slots = e.type(x), made.shape[1] if len(made.shape) == 4 else 0
    if t.dtype != "s8" or len(t.shape) != 4 or made.shape != (t.shape[0], slots, *t.shape[2:]) or t.shape[1] != 1:
        needs = "CIRCULAR_BUFFER needs int8 data [N, 1, H, W] and a result [N, slots, H, W]"
        raise ShapeError(f"{needs}, but has {t} and {made}")
    if cycles != 1 and not (cycles == 0 and slots in (5, 13, 25)):
        raise UnsupportedError(
            f"CIRCULAR_BUFFER with cycles_max {cycles} is not supported: it runs the network only after several inputs"
        )
    e.refuse("litert", "no such operator")
    name, shape = e.own("buffer"), made.shape
    before = e.read(name, np.full(shape, made.zero_point if made.quant else 0, np.int8), made.quant)
    ranges = tuple((1, d - 1, 1) if k == 1 else (0, d, 1) for k, d in enumerate(shape))
    parts = [x]
    if slots > 1:
        parts = [e.node(StridedSlice(ranges, tuple(n for _, n, _ in ranges)), before, quant=made.quant), x]
    y = e.node(Concatenation(1), *parts, quant=made.quant)
    e.write(name, y)
    return [y]


def _refused(why: str, hint: str, source: Source, e: Expansion) -> Sequence[str]:
    raise UnsupportedError(why, hint=hint)


_ETHOS: Callable[[Source, Expansion], Sequence[str]] = partial(
    _refused, "the model was compiled for an Ethos-U processor", "give the model as it was before Vela"
)


IMPORTS = (
    Import("tflite", "ADD_N", expand=add_n),
    Import("tflite", "L2_POOL_2D", expand=l2_pool),
    Import("tflite", "L2_NORMALIZATION", expand=l2_normalization, when=has_floats),
    Import("tflite", "LOG_SOFTMAX", expand=log_softmax, when=has_floats),
    Import("tflite", "RESIZE_BILINEAR", expand=resize_bilinear, when=has_floats),
    Import("tflite", "EMBEDDING_LOOKUP", expand=embedding_lookup, halves=True),
    Import("tflite", "CUSTOM:CIRCULAR_BUFFER", expand=circular_buffer),
    Import("tflite", "CUSTOM:ethos-u", expand=_ETHOS),
)
