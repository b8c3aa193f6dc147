"""Input and output of the planner: buffers with sizes and lifetimes, and the offsets found for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import add

from mcugen.errors import InternalError


@dataclass(frozen=True)
class Piece:
    """Bytes [offset, offset + nbytes) of a buffer, in use during steps `first`..`last`, both included."""

    offset: int
    nbytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Buffer:
    """Adjacent bytes that a buffer has for itself during steps `first`..`last`, both included.

    Units: nbytes and align in bytes; align is a power of two. `parts` lists which bytes are in use at which steps. If
    it is empty, all bytes are in use from `first` to `last`. Raises InternalError for a negative size, an align that is
    not a power of two, or a lifetime that ends before its start.
    """

    name: str
    nbytes: int
    align: int
    first: int
    last: int
    region: str = "ram"
    parts: tuple[Piece, ...] = ()

    @classmethod
    def of_pieces(cls, name: str, align: int, pieces: Sequence[Piece]) -> Buffer:
        """The buffer that holds these pieces, at their offsets."""
        size = max(p.offset + p.nbytes for p in pieces)
        first, last = min(p.first for p in pieces), max(p.last for p in pieces)
        whole = all((p.first, p.last) == (first, last) for p in pieces)
        return cls(name, size, align, first, last, parts=() if whole else tuple(pieces))

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The bytes in use at each step; one piece for a plain buffer."""
        return self.parts or (Piece(0, self.nbytes, self.first, self.last),)

    def __post_init__(self) -> None:
        where = f"buffer {self.name}"
        if self.nbytes < 0:
            raise InternalError(f"nbytes is {self.nbytes}, must not be negative", where=where)
        if self.align < 1 or self.align & (self.align - 1):
            raise InternalError(f"align is {self.align}, must be a power of two", where=where)
        if not 0 <= self.first <= self.last:
            raise InternalError(f"lives from step {self.first} to {self.last}, must be 0 <= first <= last", where=where)


@dataclass(frozen=True)
class MemoryPlan:
    """Offset of each buffer in its arena, and how close the plan is to the optimum.

    offset       byte offset by buffer name
    nbytes       size of the arena
    lower_bound  the most bytes live at any step, without alignment
    peak_step    the first step at which that many bytes are live
    floor        bytes proven necessary: lower_bound, or more due to alignment or by an exhaustive search
    proven       whether nbytes equals floor, so that the plan is optimal
    method       the search that found it, e.g. "greedy size", "hill climbing", "exact search"
    region       the memory of this arena
    further      plans of other memories that hold buffers of this schedule; each buffer is in one plan only
    """

    offset: Mapping[str, int]
    nbytes: int
    lower_bound: int
    peak_step: int
    proven: bool
    method: str
    floor: int = 0
    region: str = "ram"
    further: tuple[MemoryPlan, ...] = ()

    @property
    def parts(self) -> tuple[MemoryPlan, ...]:
        """This plan and the further plans: one for each region in use."""
        return (self, *self.further)

    def part_of(self, buffer: str) -> int:
        """The index in `parts` of the plan that holds a buffer."""
        return next(k for k, part in enumerate(self.parts) if buffer in part.offset)

    @property
    def gap_bytes(self) -> int:
        """Bytes by which a plan could still be smaller: nbytes - floor."""
        return self.nbytes - self.floor


def align_up(value: int, align: int) -> int:
    """The least multiple of `align` that is not below `value`."""
    return -(-value // align) * align


def height(buffers: Sequence[Buffer], offset: Sequence[int]) -> int:
    """Bytes of the arena that these offsets need: max of offset + nbytes, 0 without buffers."""
    return max(map(add, offset, [b.nbytes for b in buffers]), default=0)
