"""Writes constants as bytes for the assembler, in place of their C text.

The image is the one that the compiler makes of the C text, in a tenth of the time. Builds with equal constants share
it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mcugen.emit.constant_placement import ARRAY_ALIGN
from mcugen.emit.model_parts import ArrayView
from mcugen.emit.view import ModelView


def in_place_of_c(view: ModelView, sources: Sequence[Path], folder: Path) -> list[Path]:
    """The sources of a firmware in `folder`. Assembly replaces the C of the constants if all of them lie with
    the code.
    """
    text = folder / f"{view.name}_weights.c"
    if view.blob or text not in sources or not all(map(_is_bytes, view.arrays)):
        return list(sources)
    data = b"".join(map(_stored, view.arrays))
    stored = f"{hashlib.sha256(data).hexdigest()}.bin"  # for compiler caches, which see only the text
    (folder / stored).write_bytes(data)
    assembly = folder / f"{view.name}_weights.s"
    assembly.write_text("".join(f"{line}\n" for line in _lines(view.arrays, stored)), encoding="ascii")
    return [assembly if source == text else source for source in sources]


def _is_bytes(array: ArrayView) -> bool:
    """Whether an array can be given as bytes: in the default section, and without NaN, whose bits C text does
    not keep.
    """
    is_number = array.data.dtype.kind != "f" or not np.isnan(array.data).any()
    return not array.region and max(array.data.size, 1) == array.length and is_number


def _stored(array: ArrayView) -> bytes:
    """The bytes of an array; one 0 element if it is empty."""
    return array.data.tobytes() or bytes(array.data.dtype.itemsize)


def _lines(arrays: Sequence[ArrayView], stored: str) -> Iterator[str]:
    at = 0
    for array in arrays:
        yield f'.section .rodata.{array.symbol},"a",%progbits'
        yield f".balign {max(ARRAY_ALIGN, array.data.dtype.itemsize)}"
        yield f".global {array.symbol}"
        yield f".type {array.symbol}, %object"
        nbytes = len(_stored(array))
        yield f".size {array.symbol}, {nbytes}"
        yield f"{array.symbol}:"
        yield f'.incbin "{stored}", {at}, {nbytes}'
        at += nbytes
