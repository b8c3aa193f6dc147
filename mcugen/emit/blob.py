"""Constants as one block of bytes. The firmware gives its address, or each layer's part is copied before use.

A block begins with a header of HEADER bytes, little-endian:
* "MGWB"
* version of the format
* the user's version of the weights
* size of the block in bytes
* layout: a hash of the code, without comments; code accepts any block with its layout
* CRC-32 (zlib's) of the block with this field set to zero
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.emit.literals import array_text
from mcugen.emit.model_parts import ArrayView, StepView
from mcugen.errors import UsageError
from mcugen.options import Options
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.plan.buffers import align_up
from mcugen.solve.schedule import Schedule
from mcugen.solve.schedule.size import OBJECT_ALIGN

MAGIC = b"MGWB"
FORMAT = 1
HEADER = 32
ALIGN = 8
_FIELDS = struct.Struct("<4sIIIQII")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class BlobRead:
    """An array that a step reads. offset: position in the block. stage: position in the memory that it is copied to."""

    symbol: str
    c_type: str
    offset: int
    nbytes: int
    stage: int


@dataclass(frozen=True)
class BlobView:
    """The block of a model. fetched: whether steps copy their constants into the arena before they run.

    stage_bytes, stages: per step, the size of its copy in bytes, and the offset of the copy in the arena.
    """

    places: tuple[BlobRead, ...]
    data: bytes
    fetched: bool
    stage_bytes: tuple[int, ...] = ()
    stages: tuple[int, ...] = ()
    layout: int = 0

    @property
    def text(self) -> Iterator[str]:
        """The bytes of the block as pieces of C text, generated while printing."""
        return array_text(np.frombuffer(self.data, np.uint8))

    @property
    def object_bytes(self) -> int:
        """Bytes that the block adds to the model object besides the arena: a pointer, rounded up to the object's
        alignment.
        """
        return 0 if self.fetched else OBJECT_ALIGN

    def read_by(self, texts: Iterable[str], step: int | None = None) -> list[BlobRead]:
        """The arrays that C text names. In a step, `stage` gives each copy the next free offset."""
        named = set(re.findall(r"\w+", " ".join(texts)))
        found, at = [], self.stages[step] if step is not None and self.stages else 0
        for place in self.places:
            if place.symbol in named:
                found.append(replace(place, stage=at))
                at += align_up(place.nbytes, ALIGN)
        return found


def asked(
    options: Options, schedule: Schedule, plan: MemoryPlan, arrays: Sequence[ArrayView], steps: Sequence[StepView]
) -> BlobView | None:
    """The block, if the options request one. Raises UsageError if constants or tensors need several memories."""
    if not (options.weights_blob or options.fetch_weights):
        return None
    if plan.further or any(array.region for array in arrays):
        raise UsageError(
            "constants as one block need a single memory, but the model uses several",
            where="--weights-blob" if options.weights_blob else "--fetch-weights",
            hint="leave --region and --weights-in out",
        )
    view = of(arrays, fetched=options.fetch_weights)
    if not view.fetched:
        return view
    sizes = tuple(sum(align_up(p.nbytes, ALIGN) for p in view.read_by(step.texts)) for step in steps)
    return replace(view, stage_bytes=sizes, stages=tuple(plan.offset.get(s.stage_name, 0) for s in schedule.steps))


def of(arrays: Sequence[ArrayView], *, fetched: bool) -> BlobView:
    """The block that contains these arrays, without its header."""
    places, parts, at = list[BlobRead](), [bytes(HEADER)], HEADER
    for array in arrays:
        places.append(BlobRead(array.symbol, array.c_type, at, array.nbytes, 0))
        stored = np.ascontiguousarray(array.data)
        stored = stored.astype(stored.dtype.newbyteorder("<"))
        parts.append(stored.tobytes().ljust(align_up(array.nbytes, ALIGN), b"\0"))
        at += align_up(array.nbytes, ALIGN)
    return BlobView(tuple(places), b"".join(parts), fetched)


def sealed(view: BlobView, layout: int, version: int = 0) -> BlobView:
    """The block with its header filled in."""
    return replace(view, data=_with_header(view.data[HEADER:], layout, version), layout=layout)


def _with_header(payload: bytes, layout: int, version: int) -> bytes:
    def header(crc: int) -> bytes:
        return _FIELDS.pack(MAGIC, FORMAT, version, HEADER + len(payload), layout, crc, 0)

    return header(zlib.crc32(header(0) + payload)) + payload


def layout_of(*texts: bytes) -> int:
    """Hash of code without its comments, 64 bits."""
    bare = [" ".join(_COMMENT.sub(" ", text.decode()).split()) for text in texts]
    return int.from_bytes(hashlib.sha256("\0".join(bare).encode()).digest()[:8], "little")


@dataclass(frozen=True)
class Header:
    """Contents of a block's header."""

    version: int
    nbytes: int
    layout: int


def header_of(data: bytes, where: str) -> Header:
    """The header of a block. Raises UsageError for bytes that are not a block, or a damaged one."""
    if len(data) >= HEADER:
        magic, form, version, nbytes, layout, _, _ = _FIELDS.unpack_from(data)
        if magic == MAGIC and form == FORMAT and _with_header(data[HEADER:], layout, version) == data:
            return Header(version, nbytes, layout)
    raise UsageError("not a block of constants, or damaged", where=where, hint="build with --weights-blob again")


def renumbered(data: bytes, version: int) -> bytes:
    """The block with another version number of the weights."""
    return _with_header(data[HEADER:], header_of(data, "block").layout, version)
