""".dat files of NNEF, which hold the data of variables (constants)."""

from __future__ import annotations

import struct

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.formats.nnef.model_files import ModelFiles
from mcugen.ir.types import Shape

HEADER = 128
MAX_RANK = 8


class _Stream:
    """Bytes for the nnef package, which uses a file descriptor only if the stream is seekable; this one is not."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def seekable(self) -> bool:
        return False

    def read(self, count: int) -> bytes:
        found = self._data[self._at : self._at + int(count)]
        self._at += len(found)
        return found


def read(model: ModelFiles, label: str, shape: Shape, where: str) -> np.ndarray:
    """The data of a variable. Raises CorruptModelError, ShapeError or UnsupportedError."""
    data = model.read(f"{label}.dat")
    if data is None:
        raise CorruptModelError(f"there is no file {label[:80] + '.dat'!r} in the model", where=where)
    _check(data, f"{label}.dat")
    import nnef

    try:
        found = np.asarray(nnef.read_tensor(_Stream(data)))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise CorruptModelError(f"{label}.dat cannot be read: {error}", where=where) from error
    if found.shape != shape:
        what = f"{label}.dat has the shape {list(found.shape)}, but the graph states {list(shape)}"
        raise ShapeError(what, where=where)
    return found


def _check(data: bytes, name: str) -> None:
    """Raise CorruptModelError for a header that does not fit the file, before any data is allocated."""
    if len(data) < HEADER or data[:2] != b"\x4e\xef":
        raise CorruptModelError(f"{name} is not an NNEF tensor file")
    length, rank, *extents = struct.unpack_from("<10I", data, 4)
    bits, kind = struct.unpack_from("<2I", data, 44)
    if data[2] > 1 or data[3] > 0:
        raise UnsupportedError(f"{name} is of version {data[2]}.{data[3]}, which is not supported")
    if length != len(data) - HEADER or rank > MAX_RANK:
        raise CorruptModelError(f"{name} states {length} bytes of data of rank {rank}, but has {len(data) - HEADER}")
    elements = 1
    for extent in extents[:rank]:
        elements *= extent
    if elements * bits > 8 * length + 7 or not elements or bits not in (1, 8, 16, 32, 64) or kind > 5:
        raise CorruptModelError(f"{name} states {elements} elements of {bits} bits in {length} bytes")
