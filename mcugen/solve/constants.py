# SPDX-License-Identifier: Apache-2.0
"""Constants within a limit: --flash, or what the code leaves of a board's."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.boards.target import Target
from mcugen.ir.types import row_count
from mcugen.options import Options
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.schedule.steps import Choice
from mcugen.solve.sharing import Picks

FIRMWARE_BYTES = 32 * 1024
"""Bytes of a board's flash reserved for code: that of the model and of the application around it."""

WIDEST = 4
"""No kernel has more than about so many times the constants of another."""

_Row = tuple[str, int, float]
"""The type, the length and the value of a row that stands for those outside the image."""


def limit_of(options: Options, board: Target) -> int | None:
    """Bytes that constants may take; None where nothing limits them."""
    if options.flash_bytes is not None or board.flash_bytes is None:
        return options.flash_bytes
    return board.flash_bytes - FIRMWARE_BYTES


def constants_of(picks: Sequence[Candidate]) -> int:
    """Bytes of the constants of picks: a row outside the image is stored once for all that read it."""
    rows = {row: nbytes for c in picks for row, nbytes in _rows(c.choice).items()}
    return sum(c.choice.constant_bytes for c in picks) + sum(rows.values())


def constants_by_itself(c: Candidate) -> int:
    """Bytes of the constants of one."""
    return constants_of((c,))


def within(picks: Picks, candidates: Sequence[Candidates], limit: int | None) -> Picks:
    """Picks whose constants are within the limit: the cheapest steps back per byte saved first, as far as that goes.

    Where single steps do not lead there, all layers may have to read the same rows outside images: then the kernels of
    the fewest bytes without those rows, if they need less.
    """
    if limit is None or constants_of(picks) <= limit:
        return picks
    chosen = _stepped_back(picks, candidates, limit)
    fewest = tuple(min(listed, key=lambda c: (c.choice.constant_bytes, c.cost)) for listed in candidates)
    if constants_of(chosen) <= limit or constants_of(chosen) <= constants_of(fewest):
        return chosen
    return fewest


def _stepped_back(picks: Picks, candidates: Sequence[Candidates], limit: int) -> Picks:
    chosen, sizes = list(picks), {id(c): constants_by_itself(c) for c in (*picks, *sum(candidates, ()))}
    while (over := constants_of(chosen) - limit) > 0:
        steps = [(i, c) for i, listed in enumerate(candidates) for c in listed if sizes[id(c)] < sizes[id(chosen[i])]]
        if not steps:
            break

        def price(step: tuple[int, Candidate], over: int = over) -> tuple[float, int]:
            i, then = step
            saved = min(sizes[id(chosen[i])] - sizes[id(then)], over)
            return max(then.cost - chosen[i].cost, 0.0) / saved, i

        at, better = min(steps, key=price)
        chosen[at] = better
    return tuple(chosen)


def no_larger(candidates: Sequence[Candidates], picks: Picks) -> list[Candidates]:
    """The candidates with no more constants than the picks have."""
    pairs = zip(candidates, picks, strict=True)
    return [tuple(c for c in listed if constants_by_itself(c) <= constants_by_itself(pick)) for listed, pick in pairs]


def _rows(choice: Choice) -> dict[_Row, int]:
    """The row that a kernel on windows reads in place of those outside the image, with its bytes."""
    kernel, call = choice.kernel, choice.call
    if kernel.outside is None or kernel.ring is not None or kernel.window is None:
        return {}
    if not kernel.window(call).leaves_image:
        return {}
    x = call.input(0)
    length = x.size // row_count(x.shape)
    return {(x.dtype, length, float(kernel.outside(call))): length * x.np_dtype.itemsize}
