# SPDX-License-Identifier: Apache-2.0
"""The goal `flash`: the fewest bytes of constants and code. More bytes are spent only if they save much time.

Each byte has a price in time. The size of the model's code also has a limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcugen.ir.kernel import Accumulate, Form, Ring, Window
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.sharing import Picks, cheapest, code_of, within_each

BYTES_PRICE = 0.6
"""Least saving of time, in percent of the fastest time, for each percent of bytes beyond the fewest."""

MODEL_CODE_BYTES = 10 * 1024
"""Limit in bytes of a model's code (kernels and their callers), unless the smallest kernels take more."""

CODE_SHARE = 0.01
"""Share of a large model's bytes that its code may take, if that is more than MODEL_CODE_BYTES."""

FEWER = 0.9
"""A set of kernels with more code than the limit is taken if its code and constants together are below this share of
the best set within the limit. Kernels for 4-bit weights may do this.
"""

STEP_CODE_BYTES = 31
"""Bytes of code that call a step."""

FORM_CODE_BYTES: Mapping[type[Form], int] = {Ring: 140, Window: 68, Accumulate: 50}
"""Additional bytes of code around each call of a kernel, by its form."""

START_CODE_BYTES = 300
"""Bytes of start-up code that `simulate` counts, corrected for the kernels' estimates, which are a little too high."""

HELPER_BYTES = 920
"""Approximate code size of a helper source that several kernels share. The kernels' own sizes do not include it."""

_LESS = range(0, 3072, 256)
"""Bytes tried for the code around the kernels, which is not known yet. They are subtracted from the limit."""

_LEAST = 1e-9
"""Weight of a cost that only breaks ties."""


def least_flash(candidates: Sequence[Candidates]) -> Picks:
    """The kernels for the goal `flash`: the smallest, or larger ones that are worth their bytes, with code within the
    limit.
    """
    least = cheapest(candidates, 1.0, lambda c: c.constant_bytes + c.cost * _LEAST)
    price = BYTES_PRICE * sum(min(c.cost for c in listed) for listed in candidates) / max(_bytes_of(least), 1)

    def weight(c: Candidate) -> float:
        return c.cost + price * (c.constant_bytes + _calling(c))

    def total(picks: Picks) -> float:
        return sum(c.cost for c in picks) + price * _bytes_of(picks)

    limit = max(MODEL_CODE_BYTES, _code_of(least), int(CODE_SHARE * _bytes_of(least)))
    room = limit - _around(least)
    rooms = [room - less for less in _LESS]
    some = [_trimmed(candidates, picks, limit) for picks in within_each(candidates, rooms, weight, price)]
    within = min((picks for picks in (least, *some) if _code_of(picks) <= limit), key=total)
    beyond = cheapest(candidates, price, weight)
    return beyond if _bytes_of(beyond) < FEWER * _bytes_of(within) else within


def _trimmed(candidates: Sequence[Candidates], picks: Picks, limit: int) -> Picks:
    """Picks with code within the limit, or the unchanged picks if the limit cannot be reached.

    Kernels whose calls take much code are replaced by functions that other nodes call already, the least time per byte
    saved first.
    """
    used, found = {c.function for c in picks}, list(picks)
    while _code_of(found) > limit:
        less = [
            ((c.cost - found[i].cost) / (_calling(found[i]) - _calling(c)), i, c)
            for i, listed in enumerate(candidates)
            for c in listed
            if c.function in used and _calling(c) < _calling(found[i])
        ]
        if not less:
            return picks
        _, i, c = min(less, key=lambda step: step[:2])
        found[i] = c
    return tuple(found)


def _bytes_of(picks: Sequence[Candidate]) -> int:
    """Bytes of constants and code."""
    return _code_of(picks) + sum(c.constant_bytes for c in picks)


def _code_of(picks: Sequence[Candidate]) -> int:
    """Bytes of code of the kernels and of the code around them."""
    return code_of(picks) + _around(picks)


def _around(picks: Sequence[Candidate]) -> int:
    """Bytes of start-up code, of calls of the kernels, and of helper functions that the kernels share."""
    helpers = {helper for c in picks for helper in c.choice.kernel.text.helpers}
    return START_CODE_BYTES + sum(map(_calling, picks)) + HELPER_BYTES * len(helpers)


def _calling(c: Candidate) -> int:
    """Bytes of code that one step takes to call its kernel."""
    kernel = c.choice.kernel
    return (STEP_CODE_BYTES + FORM_CODE_BYTES.get(type(kernel.form), 0)) * kernel.has_code
