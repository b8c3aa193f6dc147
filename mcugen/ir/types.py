"""Value types of tensors: shape, element type and quantization."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import QuantizationError
from mcugen.ir import subbyte

NUMPY_DTYPES: dict[str, np.dtype] = {
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "s16": np.dtype(np.int16),
    "s32": np.dtype(np.int32),
    "s64": np.dtype(np.int64),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "bool": np.dtype(np.bool_),
}
"""Element types of whole bytes, each with its own type in NumPy and in C."""
DTYPE_NAMES = {dtype: name for name, dtype in NUMPY_DTYPES.items()}

PACKED_BITS = {"s4": 4, "u4": 4, "s2": 2}
"""Element types with several elements per byte -> their bits. Only constants have them. Arrays hold them unpacked."""

FLOATS = frozenset({"f16", "f32"})
ALL_DTYPES = frozenset(NUMPY_DTYPES) - {"f16", "u32", "u64"}
"""Element types of tensors that operators compute in general.

u32 and u64 occur only between operators for signal processing. float16 tensors of model files are float32 here, except
on devices that store float16.
"""

WITH_HALVES = ALL_DTYPES | {"f16"}
"""Element types of tensors in model files."""

MOVABLE = WITH_HALVES | {"u32"}
"""Element types of tensors that data movement supports."""

Shape = tuple[int, ...]


def dtypes(names: str) -> frozenset[str]:
    """A set of element types, from their names separated by blanks."""
    return frozenset(names.split())


@dataclass(frozen=True)
class QuantParams:
    """real = scale * (q - zero_point), per tensor or along one axis.

    scale, zero_point: a single entry for the whole tensor, or one entry per index of `axis`.
    block: if not 0, each row along `axis` consists of blocks of that many adjacent integers, which are multiples of one
    factor by integers of 4 bits; files and kernels store these (see `mcugen.ir.block_factors`).
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int = 0
    block: int = 0

    @property
    def per_channel(self) -> bool:
        return len(self.scale) > 1

    def __str__(self) -> str:
        if self.per_channel:
            return f"{len(self.scale)} scales {min(self.scale):.4g}..{max(self.scale):.4g} on axis {self.axis}"
        return f"scale {self.scale[0]:.8g} zero point {self.zero_point[0]}"


@dataclass(frozen=True)
class TensorType:
    """Shape, element type and, for quantized integers, how they map to real numbers."""

    shape: Shape
    dtype: str
    quant: QuantParams | None = None

    @functools.cached_property
    def size(self) -> int:
        """Number of elements; 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def bits(self) -> int:
        """Bits of an element as it is stored."""
        return PACKED_BITS.get(self.dtype) or 8 * self.np_dtype.itemsize

    @functools.cached_property
    def nbytes(self) -> int:
        """Bytes of all elements as they are stored."""
        return -(-self.size * self.bits // 8)

    @property
    def np_dtype(self) -> np.dtype:
        """The type of NumPy arrays of this tensor. Packed elements have a whole byte each there."""
        if self.dtype in PACKED_BITS:
            return NUMPY_DTYPES["u8" if self.dtype.startswith("u") else "s8"]
        return NUMPY_DTYPES[self.dtype]

    @property
    def is_packed(self) -> bool:
        """Whether several elements share a byte."""
        return self.dtype in PACKED_BITS

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value that an element of an integer or boolean type can store."""
        if self.dtype == "bool":
            return 0, 1
        if self.dtype.startswith("u"):
            return 0, (1 << self.bits) - 1
        return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1

    def stored(self, data: np.ndarray) -> np.ndarray:
        """The elements as stored in memory: the array itself, or packed bytes."""
        return subbyte.packed(data, self.bits) if self.is_packed else data

    @property
    def align(self) -> int:
        """Alignment in bytes of the tensor's first byte, if it has a buffer of its own."""
        return max(4, self.np_dtype.itemsize)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def scale(self) -> float:
        """The scale of a per-tensor quantized tensor. Raises QuantizationError for other tensors."""
        return self._per_tensor().scale[0]

    @property
    def zero_point(self) -> int:
        """The zero point of a per-tensor quantized tensor. Raises QuantizationError for other tensors."""
        return self._per_tensor().zero_point[0]

    def with_shape(self, shape: Shape) -> TensorType:
        return replace(self, shape=shape)

    def _per_tensor(self) -> QuantParams:
        if self.quant is None or self.quant.per_channel:
            raise QuantizationError(f"{self} needs one scale and one zero point for the whole tensor")
        return self.quant

    def __str__(self) -> str:
        dims = ", ".join(str(d) for d in self.shape)
        quant = f" ({self.quant})" if self.quant else ""
        return f"{self.dtype} [{dims}]{quant}"


def shape_text(shape: Shape) -> str:
    """A shape as text, without leading axes of size 1: `28x28x8`, or `1` for a single element."""
    return "x".join(map(str, itertools.dropwhile(lambda d: d == 1, shape))) or "1"


def rows_of(shape: Shape) -> int:
    """Rows of one image: H of [N, H, W, C], 1 for a tensor of any other rank."""
    return shape[1] if len(shape) == 4 else 1


def images_of(shape: Shape) -> int:
    """Images of a tensor: N of [N, H, W, C], 1 for a tensor of any other rank."""
    return shape[0] if len(shape) == 4 else 1


def row_count(shape: Shape) -> int:
    """Rows of all images of a tensor."""
    return images_of(shape) * rows_of(shape)
