"""Tensors of a .tflite file: element types, shapes and quantization, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.errors import CorruptModelError, QuantizationError, ShapeError
from mcugen.formats._builder import MAX_RANK, MAX_TENSOR_BYTES
from mcugen.formats.tflite import flatbuffer as fb
from mcugen.formats.tflite import sparse
from mcugen.ir.graph import Tensor
from mcugen.ir.types import PACKED_BITS, QuantParams, Shape, TensorType

_DTYPES = {
    "INT8": "s8",
    "UINT8": "u8",
    "INT16": "s16",
    "INT32": "s32",
    "INT64": "s64",
    "UINT32": "u32",
    "UINT64": "u64",
    "FLOAT16": "f16",
    "FLOAT32": "f32",
    "BOOL": "bool",
    "INT4": "s4",
}


class Operands(tuple[TensorType | None, ...]):
    """Operand types of a possibly damaged file: an absent index is an error of the file."""

    what = "operands"

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, int) and not -len(self) <= k < len(self):
            raise CorruptModelError(f"has {len(self)} {self.what}, needs {k + 1 if k >= 0 else -k}")
        return super().__getitem__(k)


class Results(Operands):
    what = "results"


def is_readable(raw: fb.RawTensor) -> bool:
    """Whether mcugen has the element type; types smaller than a byte only as constants, and no scales of blocks."""
    dtype = _DTYPES.get(raw.type)
    return dtype is not None and not raw.in_blocks and (dtype not in PACKED_BITS or raw.data is not None)


def is_half(raw: fb.RawTensor) -> bool:
    """Whether the tensor is float16 in the file; such tensors are imported as float32, as in ONNX models."""
    return raw.type == "FLOAT16"


def as_declared(t: TensorType, raw: fb.RawTensor) -> TensorType:
    """The type of a tensor as the file declares it."""
    return replace(t, dtype=_DTYPES[raw.type]) if is_half(raw) else t


def inner_quantization(tensors: Sequence[fb.RawTensor], index: int) -> QuantParams | None:
    """The scale and zero point of an operator's intermediate value; None if they are absent or invalid."""
    if not 0 <= index < len(tensors):
        raise CorruptModelError(f"an intermediate value is tensor {index}, but there are {len(tensors)}")
    scale, zero = tensors[index].scale, tensors[index].zero_point or (0,)
    known = len(scale) == len(zero) == 1 and math.isfinite(scale[0]) and scale[0] > 0
    return QuantParams(scale, zero) if known else None


def is_handle(raw: fb.RawTensor) -> bool:
    """Whether a tensor refers to a variable, which other operators read and write."""
    return raw.type == "RESOURCE"


def unknown_type(index: int, raw: fb.RawTensor) -> str:
    """Why a tensor is not readable."""
    if raw.in_blocks:
        return (
            f"tensor {index} {raw.label!r} has a scale for each block of weights (BlockwiseQuantization), whose data"
            " LiteRT quantizes at run time: only .onnx files with such weights are supported (MatMulNBits)"
        )
    return f"element type {raw.type} of tensor {index} {raw.label!r} is not supported"


def tensor(index: int, raw: fb.RawTensor, name: str) -> Tensor:
    """The tensor, with its data if it is a constant. Raises ModelError if it is invalid."""
    what = f"tensor {index} {raw.label!r}"
    if len(raw.shape) > MAX_RANK or any(d <= 0 for d in raw.shape):
        raise ShapeError(
            f"shape {list(raw.shape)} must be static, positive and of rank {MAX_RANK} or less",
            where=what,
            hint="re-export the model with static shapes",
        )
    dtype = _DTYPES[raw.type]
    tensor_type = bounded(TensorType(raw.shape, dtype), what)
    tensor_type = TensorType(raw.shape, dtype, _quant(raw, tensor_type, what))
    data = None if raw.data is None else _data(raw, tensor_type, what)
    if is_half(raw):
        tensor_type = bounded(TensorType(raw.shape, "f32"), what)
        data = None if data is None else data.astype(np.float32)
    if data is not None and data.dtype.kind == "f" and not np.isfinite(data).all():
        raise CorruptModelError("a constant holds infinities or NaN", where=what)
    return Tensor(name, tensor_type, data, raw.label)


def _data(raw: fb.RawTensor, t: TensorType, what: str) -> np.ndarray | None:
    """The elements of a constant; sparse ones are expanded with zeros."""
    if raw.sparsity is None or raw.data is None:
        return None if raw.data is None else fb.as_array(raw.data, t, what)
    try:
        places = sparse.places(raw.sparsity, t.shape)
    except CorruptModelError as error:
        raise CorruptModelError(error.message, where=what) from error
    stored = fb.as_array(raw.data, TensorType((places.size,), t.dtype), what)
    dense = np.zeros(t.size, t.np_dtype)
    dense[places] = stored
    return dense.reshape(t.shape)


def bounded(tensor_type: TensorType, where: str) -> TensorType:
    """The type itself. Raises ShapeError if its tensor would be too large."""
    if tensor_type.nbytes > MAX_TENSOR_BYTES:
        raise ShapeError(f"shape {list(tensor_type.shape)} is larger than {MAX_TENSOR_BYTES} bytes", where=where)
    return tensor_type


def leaves_open(signature: tuple[int, ...], shape: Shape) -> bool:
    """Whether the signature has open dimensions, and the shape is one that it describes."""
    same_rank = -1 in signature and len(signature) == len(shape)
    return same_rank and all(s in (-1, d) for s, d in zip(signature, shape, strict=True))


def _quant(raw: fb.RawTensor, tensor_type: TensorType, what: str) -> QuantParams | None:
    """The tensor's quantization. Invalid parameters of int32 and int64 tensors, such as biases, are ignored; for other
    types they raise QuantizationError.
    """
    if not raw.scale or tensor_type.is_float or tensor_type.dtype == "bool":
        return None
    wide = tensor_type.dtype in ("s32", "s64")
    problem = _quant_problem(raw, tensor_type)
    if problem and wide:
        return None
    if problem:
        raise QuantizationError(problem, where=what)
    zero_point = raw.zero_point or (0,)
    if len(zero_point) != len(raw.scale):
        zero_point = zero_point[:1] * len(raw.scale)
    return QuantParams(raw.scale, zero_point, raw.axis if len(raw.scale) > 1 else 0)


def _quant_problem(raw: fb.RawTensor, tensor_type: TensorType) -> str:
    if not all(math.isfinite(s) and s > 0 for s in raw.scale):
        bad = next(s for s in raw.scale if not (math.isfinite(s) and s > 0))
        return f"scale {bad} is not a positive number"
    if len(raw.zero_point) not in (0, 1, len(raw.scale)):
        return f"{len(raw.scale)} scales but {len(raw.zero_point)} zero points"
    low, high = tensor_type.limits
    outside = [z for z in raw.zero_point if not low <= z <= high]
    if outside:
        return f"zero point {outside[0]} is outside {tensor_type.dtype}"
    if len(raw.scale) > 1:
        if not 0 <= raw.axis < len(raw.shape):
            return f"quantized dimension {raw.axis} of a tensor of rank {len(raw.shape)}"
        if raw.shape[raw.axis] != len(raw.scale):
            return f"{len(raw.scale)} scales for dimension {raw.axis} of size {raw.shape[raw.axis]}"
    return ""
