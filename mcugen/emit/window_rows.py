"""Input rows of a step with a window: the calls in model.c that look them up, and the helper functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcugen.emit.literals import C_TYPES, plus, remainder, times
from mcugen.ir.kernel import RowStorage, RowWindow
from mcugen.solve.schedule import Step


@dataclass(frozen=True)
class HelperView:
    """A function of model.c that looks up rows of one element type. kind: the macro of rows.j2 that prints it."""

    kind: str
    dtype: str

    @property
    def name(self) -> str:
        return f"{self.kind}_{self.dtype}"

    @property
    def element(self) -> str:
        return C_TYPES[self.dtype]


@dataclass(frozen=True)
class WindowView:
    """The rows that a step's window covers: `size` pointers in the C array `rows`.

    all: a call that sets all of them. each: a call that gives rows[k]. One of the two is set. One call per row compiles
    to less code if the rows lie in a ring of the step; otherwise one call for all rows does.
    """

    size: int
    element: str
    helpers: tuple[HelperView, ...]
    all: str = ""
    each: str = ""


@dataclass(frozen=True)
class RingView:
    """The converted rows that a step keeps in memory of its own.

    A row is converted from `source` to `slot`. Which rows are converted for an output row depends on the step:
    * input by frames: the newest row
    * `refills` (the step keeps no rows): row k of the window, for each k
    * otherwise: rows i < `end`; they start at `first` for the first output row that is computed, at `next` for others
    """

    element: str
    pointer: str
    source: str
    slot: str
    first: str = ""
    next: str = ""
    end: str = ""
    refills: bool = False


@dataclass(frozen=True)
class WindowInput:
    """The input of a window in memory.

    height: rows of the image. length: elements per row. kept: rows of its ring, 0 if it is not a ring. y: C variable of
    the output row.
    """

    pointer: str
    dtype: str
    height: int
    length: int
    kept: int
    y: str


def row_name(step: Step) -> str:
    """C variable of the output row: the parameter of run_step if the step computes one row, otherwise a local
    variable.
    """
    return "row" if step.by_rows and step.batch == 1 else "y"


def window(w: RowWindow, image: WindowInput, first: str, outside: str) -> WindowView:
    """Window on rows of the input tensor itself. first: C text of the first input row."""
    helper = HelperView("ring_window" if image.kept else "window", image.dtype)
    kept = [image.kept] if image.kept else []
    at: list[str | int] = [image.pointer, first, w.dilation, image.height, image.length, *kept]
    return WindowView(w.size, C_TYPES[image.dtype], (helper,), all=_call(helper, ["rows", w.size, *at, outside]))


def streamed_window(w: RowWindow, image: WindowInput) -> WindowView:
    """Window on the last rows of a ring. The ring receives one row per frame."""
    kept = image.kept or 1
    return _slots(w, image.pointer, image.dtype, kept, image.length, _oldest(w, kept, image.y))


def converted(
    w: RowWindow, row: RowStorage, slots: int, ring: str, image: WindowInput, *, streams: bool, in_bands: bool = False
) -> tuple[WindowView, RingView]:
    """Window on converted rows, and the ring that keeps `slots` of them. ring: pointer to the ring, as C text.

    in_bands: whether the first output row that is computed may be any row.
    """
    c_type, pitch = C_TYPES[row.dtype], row.pitch or row.length
    if streams:
        source = f"{image.pointer}{_offset(image.y, image.kept or 1, image.length)}"
        found = _slots(w, "ring", row.dtype, slots, pitch, _oldest(w, slots, image.y))
        return found, RingView(c_type, ring, source, f"ring{_offset(image.y, slots, pitch)}")
    helper, source = _source(image, "i")
    found = _slots(w, "ring", row.dtype, slots, pitch, times(image.y, w.stride, "u"))
    index = f"(uint32_t)({plus('i', w.pad)})" if w.pad else "(uint32_t)i"
    view = RingView(
        c_type,
        ring,
        source,
        f"ring{_offset(index, slots, pitch)}",
        first=plus(times(f"(int32_t){image.y}", w.stride), -w.pad) if in_bands else str(-w.pad),
        next=plus("end", -min(w.stride, w.extent)),
        end=plus(times(f"(int32_t){image.y}", w.stride), slots - w.pad),
    )
    return replace(found, helpers=(helper, *found.helpers)), view


def refilled(w: RowWindow, row: RowStorage, ring: str, image: WindowInput) -> tuple[WindowView, RingView]:
    """Window on rows that are all converted again for each output row. ring: pointer to their memory, as C text."""
    c_type = C_TYPES[row.dtype]
    first = plus(times(f"(int32_t){image.y}", w.stride), -w.pad)
    helper, source = _source(image, f"{first} + {times('k', w.dilation)}")
    view = RingView(c_type, ring, source, f"ring + {times('(uint32_t)k', row.pitch or row.length, 'u')}", refills=True)
    return WindowView(w.size, c_type, (helper,)), view


def _source(image: WindowInput, row: str) -> tuple[HelperView, str]:
    """The helper and call that look up a row of the image; NULL outside the image. row: C text of its index."""
    helper = HelperView("ring_row" if image.kept else "row", image.dtype)
    kept = [image.kept] if image.kept else []
    return helper, _call(helper, [image.pointer, row, image.height, image.length, *kept])


def _slots(w: RowWindow, ring: str, dtype: str, slots: int, pitch: int, first: str) -> WindowView:
    """Window on a ring with `slots` rows. first: C text of the first row in the window."""
    helper = HelperView("slot", dtype)
    each = _call(helper, [ring, f"{first} + {times('k', w.dilation, 'u')}", f"{slots}u", f"{pitch}u"])
    return WindowView(w.size, C_TYPES[dtype], (helper,), each=each)


def _oldest(w: RowWindow, slots: int, newest: str) -> str:
    """C text of the first row of a window that ends at row `newest`, plus `slots` so that it is never negative."""
    return plus(newest, slots - (w.size - 1) * w.dilation, "u")


def _offset(index: str, slots: int, pitch: int) -> str:
    """C text of the offset from the start of a ring to a row. index: C text of the row's number."""
    return "" if slots == 1 else f" + {times(remainder(index, slots), pitch, 'u')}"


def _call(helper: HelperView, arguments: Sequence[str | int]) -> str:
    return f"{helper.name}({', '.join(map(str, arguments))})"
