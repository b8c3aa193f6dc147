# SPDX-License-Identifier: Apache-2.0
"""Limits on constants: --flash, or the board's flash without the code."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.boards.target import Target
from mcugen.ir.kernel import Window
from mcugen.ir.types import row_count
from mcugen.options import Options
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.schedule.steps import Choice
from mcugen.solve.sharing import Picks

FIRMWARE_BYTES = 32 * 1024
"""Bytes of a board's flash reserved for the code of the model and of the application."""

WIDEST = 4
"""Approximate largest ratio between the constant sizes of two kernels for one node."""

_Row = tuple[str, int, float]
"""Element type, length in elements and value of the constant row that kernels read for padding outside the image."""


def limit_of(options: Options, board: Target) -> int | None:
    """Largest number of bytes of constants; None if nothing limits them."""
    if options.flash_bytes is not None or board.flash_bytes is None:
        return options.flash_bytes
    return board.flash_bytes - FIRMWARE_BYTES


def constants_of(picks: Sequence[Candidate]) -> int:
    """Bytes of the constants of the picks. A padding row is stored once for all kernels that read it."""
    rows = {row: nbytes for c in picks for row, nbytes in _rows(c.choice).items()}
    return sum(c.constant_bytes for c in picks) + sum(rows.values())


def constants_by_itself(c: Candidate) -> int:
    """Bytes of the constants of one candidate alone."""
    return constants_of((c,))


def within(picks: Picks, candidates: Sequence[Candidates], limit: int | None) -> Picks:
    """Picks whose constants are within the limit in bytes, or near it if the limit cannot be met.

    Slower kernels replace the picks, the least added time per byte saved first. If that does not meet the limit, the
    kernels with the fewest bytes apart from their padding rows are tried, since these kernels may share one padding
    row.
    """
    if limit is None or constants_of(picks) <= limit:
        return picks
    chosen = _stepped_back(picks, candidates, limit)
    fewest = tuple(min(listed, key=lambda c: (c.constant_bytes, c.cost)) for listed in candidates)
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
    """The candidates that need no more bytes of constants than the pick of their node."""
    pairs = zip(candidates, picks, strict=True)
    return [tuple(c for c in listed if constants_by_itself(c) <= constants_by_itself(pick)) for listed, pick in pairs]


def _rows(choice: Choice) -> dict[_Row, int]:
    """Padding rows that a window kernel reads, with their bytes."""
    form, call = choice.kernel.form, choice.call
    if not isinstance(form, Window) or form.outside is None or not form.rows(call).leaves_image:
        return {}
    x = call.input(0)
    length = x.size // row_count(x.shape)
    return {(x.dtype, length, float(form.outside(call))): length * x.np_dtype.itemsize}
