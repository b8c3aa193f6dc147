"""QuantizeLinear and DequantizeLinear: stored integers from real numbers, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.formats._block_constants import shape_of_blocks, signed
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import QuantParams, Shape
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.compare import Compare
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.div import Div
from mcugen.ops.float_functions import Round
from mcugen.ops.gather import Gather
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.quantize import RUNTIME_STEPS, Quantize
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.reduce_min import ReduceMin
from mcugen.ops.relu import Relu
from mcugen.ops.reshape import Reshape
from mcugen.ops.select import Select
from mcugen.ops.stored import Stored
from mcugen.ops.sub import Sub
from mcugen.passes.qdq.block_weights import DequantizeBlocks

_HALF = 2**15
_OUTPUTS = {0: "u8", 2: "u8", 3: "s8", 5: "s16"}
"""Element types by the number that ONNX has for them; 0: not stated."""

_FLOAT, _FLOAT16 = 1, 10
"""ONNX's numbers for float32 and float16; float16 is imported as float32."""


def quantize(source: Source, e: Expansion) -> Sequence[str]:
    """y = saturate(round(x / scale) + zero_point), halves to even. Source: ONNX QuantizeLinear-21."""
    x = e.inputs[0]
    if x is None or not e.type(x).is_float:
        raise UnsupportedError("QuantizeLinear needs float data")
    dtype = _result_type(source, e)
    _require_float(source, "precision", _FLOAT)
    quant = _quantization(source, e, x)
    if dtype == "u16" and quant is not None:
        dtype, quant = "s16", _signed(quant)
    if quant is not None and not quant.per_channel:
        steps = source.attributes.get("doc_string") == RUNTIME_STEPS
        return [e.node(Quantize(dtype, "even", steps), x, quant=quant)]
    if dtype == "u16":
        raise UnsupportedError("quantizing to uint16 by several or computed scales is not supported")
    scale, zero = _spread(source, e, x)
    low, high = INT_RANGE[dtype]
    steps = e.node(Add(), e.node(Round(), e.node(Div(), x, scale)), zero)
    return [e.node(Cast(dtype), e.node(Relu(float(low), float(high)), steps))]


def dequantize(source: Source, e: Expansion) -> Sequence[str]:
    """y = (x - zero_point) * scale. Source: ONNX DequantizeLinear-21."""
    x = e.inputs[0]
    if x is None:
        raise ShapeError("DequantizeLinear needs data and a scale")
    _require_float(source, "output_dtype", _FLOAT, _FLOAT16)
    quant, data = _quantization(source, e, x), e.data(x)
    if quant is not None and data is None and _is_wide(e, x):
        quant = _signed(quant)
    if quant is not None and data is not None:
        known = stored(e, x, quant) if e.type(x).is_packed else e.constant(data, quant)
        return [e.node(Dequantize(deferred=True), known)]
    if quant is not None and not quant.per_channel:
        return [e.node(Dequantize(), stored(e, x, quant))]
    blocks = _constant_blocks(source, e, x)
    if blocks is not None:
        return [blocks]
    scale, zero = _spread(source, e, x)
    return [e.node(Mul(), e.node(Sub(), e.node(Cast("f32"), x), zero), scale)]


def _constant_blocks(source: Source, e: Expansion, x: str) -> str | None:
    """The real values of constant integers of 4 or 8 bits with scales for blocks; None for all other data."""
    block, axis = source.attributes.get("block_size", 0), source.attributes.get("axis", 1)
    t, zero = e.type(x), _third(e)
    data, scales, zeros = e.data(x), e.data(str(e.inputs[1])), None if zero is None else e.data(zero)
    if not block or data is None or scales is None or (zero is not None and zeros is None):
        return None
    if t.dtype not in ("s4", "s8", "u8"):
        return None
    at = _axis_of_blocks(e.type(str(e.inputs[1])).shape, t.shape, axis, block)
    return e.node(DequantizeBlocks(at, block), *signed(e, data, scales, zeros, at, block))


def quantize_dynamically(source: Source, e: Expansion) -> Sequence[str]:
    """The data as uint8, its scale and its zero point. The range includes 0, and the scale is 1 if all data are 0.

    Source: ONNX DynamicQuantizeLinear-11; onnxruntime quantization.h, GetQuantizationParameter, for zeros.
    """
    x = e.inputs[0]
    if x is None or not e.type(x).is_float:
        raise UnsupportedError("DynamicQuantizeLinear needs float data")
    axes = tuple(range(len(e.type(x).shape)))
    zero, steps, one = (e.constant(np.array(v, np.float32)) for v in (0.0, 255.0, 1.0))
    least = e.node(Minimum(), e.node(ReduceMin(axes, False), x) if axes else x, zero)
    most = e.node(Maximum(), e.node(ReduceMax(axes, False), x) if axes else x, zero)
    span = e.node(Sub(), most, least)
    scale = e.node(Select(), e.node(Compare("EQUAL"), span, zero), one, e.node(Div(), span, steps))
    start = e.node(Relu(0.0, 255.0), e.node(Sub(), zero, e.node(Div(), least, scale)))
    point = e.node(Cast("u8"), e.node(Round(), start))
    places = e.node(Add(), e.node(Round(), e.node(Div(), x, scale)), e.node(Cast("f32"), point))
    return [e.node(Cast("u8"), e.node(Relu(0.0, 255.0), places)), scale, point]


def _require_float(source: Source, name: str, *kinds: int) -> None:
    """Raise UnsupportedError if an attribute states an element type that is not among `kinds`."""
    stated = source.attributes.get(name, 0)
    if stated not in (0, *kinds):
        raise UnsupportedError(f"{name} {stated} is not supported", hint=f"make it {_FLOAT}, for float32")


def _is_wide(e: Expansion, x: str) -> bool:
    """Whether int16 data was uint16 in the file. Its zero point is then uint16, too, which is imported as int32."""
    zero, t = _third(e), e.type(x)
    if t.dtype != "s16":
        return False
    return e.type(zero).dtype == "s32" if zero is not None else t.quant is not None and t.zero_point == -_HALF


def _signed(quant: QuantParams) -> QuantParams:
    """Quantization with zero points lowered by 32,768, for uint16 data that is stored as int16."""
    return replace(quant, zero_point=tuple(z - _HALF for z in quant.zero_point))


def stored(e: Expansion, x: str, quant: QuantParams) -> str:
    """A tensor of integers with the scale and zero point that the operator reading it states."""
    return x if e.type(x).quant == quant else e.node(Stored(), x, quant=quant)


def _result_type(source: Source, e: Expansion) -> str:
    zero = e.inputs[2] if len(e.inputs) > 2 else None
    stated = source.attributes.get("output_dtype", 0)
    dtype = e.type(zero).dtype if zero is not None else _OUTPUTS.get(stated, "")
    dtype = "u16" if dtype == "s32" else dtype  # uint16 constants are int32 here, and no operator quantizes to int32
    if dtype not in ("s8", "u8", "s16", "u16"):
        raise UnsupportedError(f"quantizing to {dtype or f'element type {stated}'} is not supported")
    return dtype


def _quantization(source: Source, e: Expansion, x: str) -> QuantParams | None:
    """Constant scales and zero points, for the tensor or for each index of `axis`.

    None if they are computed at run time, or if the file states them per block.
    """
    source.attributes.ignore("saturate")  # only affects 8-bit floats
    if source.attributes.get("block_size", 0):
        return None
    axis, zero = source.attributes.get("axis", 1), _third(e)
    if e.data(str(e.inputs[1])) is None or (zero is not None and e.data(zero) is None):
        return None
    return quantization(e, e.type(x).shape, str(e.inputs[1]), zero, axis)


def _third(e: Expansion) -> str | None:
    return e.inputs[2] if len(e.inputs) > 2 else None


def _spread(source: Source, e: Expansion, x: str) -> tuple[str, str]:
    """Scales and zero points, constant or computed, as floats that broadcast over x."""
    shape, axis, zero = e.type(x).shape, source.attributes.get("axis", 1), _third(e)
    scale = str(e.inputs[1])
    if zero is None:
        zero = e.constant(np.zeros(e.type(scale).shape, np.float32))
    elif not e.type(zero).is_float:
        zero = e.node(Cast("f32"), zero)
    block = source.attributes.get("block_size", 0)
    if block:
        return _repeated(e, scale, shape, axis, block), _repeated(e, zero, shape, axis, block)
    count = max(e.type(scale).size, e.type(zero).size)
    if count == 1:
        return scale, zero
    if not -len(shape) <= axis < len(shape) or shape[axis] != count:
        raise ShapeError(f"{count} scales do not fit axis {axis} of {list(shape)}")
    along = _along(shape, axis % len(shape))
    found = [n if e.type(n).size == 1 else e.node(Reshape(along), n) for n in (scale, zero)]
    return found[0], found[1]


def _repeated(e: Expansion, name: str, shape: Shape, axis: int, block: int) -> str:
    """Scales or zero points of blocks along an axis, repeated for each element."""
    place = _axis_of_blocks(e.type(name).shape, shape, axis, block)
    index = np.arange(shape[place], dtype=np.int64) // block
    return e.node(Gather(place), name, e.constant(index.astype(np.int32)))


def _axis_of_blocks(scales: Shape, shape: Shape, axis: int, block: int) -> int:
    """The axis along which scales of that shape are those of blocks. Raises ShapeError if they do not fit."""
    rank = len(shape)
    place = axis % rank if -rank <= axis < rank else -1
    if block < 1 or place < 0 or scales != shape_of_blocks(shape, place, block):
        raise ShapeError(f"{list(scales)} scales of blocks of {block} do not fit axis {axis} of {list(shape)}")
    return place


def quantization(e: Expansion, shape: Shape, scale_name: str, zero_name: str | None, axis: int = 0) -> QuantParams:
    """Scales and zero points of a tensor from the operands that hold them.

    Raises UnsupportedError if these are computed, QuantizationError or ShapeError if they are invalid.
    """
    scale = e.data(scale_name)
    zero = np.zeros(1, np.int64) if zero_name is None else e.data(zero_name)
    if scale is None or zero is None:
        raise UnsupportedError("a scale or a zero point is computed at run time", hint="make it a constant")
    values = scale.reshape(-1).astype(np.float32)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise QuantizationError("a scale is not a positive number")
    rank = len(shape)
    fits = values.size == 1 or (-rank <= axis < rank and shape[axis] == values.size)
    if not fits or zero.size not in (1, values.size):
        raise ShapeError(f"{values.size} scales and {zero.size} zero points do not fit {list(shape)}")
    zeros = np.broadcast_to(zero.reshape(-1), values.shape)
    at = axis % rank if values.size > 1 else 0
    return QuantParams(tuple(float(v) for v in values), tuple(int(z) for z in zeros), at)


def _along(shape: Shape, axis: int) -> Shape:
    return tuple(d if k == axis else 1 for k, d in enumerate(shape))


_CONTRIB = "com.microsoft:"
"""The domain of ONNX Runtime's versions of both operators, which had more types than ONNX at first."""
IMPORTS = (
    Import("onnx", "QuantizeLinear", since=10, expand=quantize),
    Import("onnx", "DequantizeLinear", since=10, expand=dequantize),
    Import("onnx", "DynamicQuantizeLinear", since=11, expand=quantize_dynamically),
    Import("onnx", _CONTRIB + "QuantizeLinear", expand=quantize),
    Import("onnx", _CONTRIB + "DequantizeLinear", expand=dequantize),
)
