# SPDX-License-Identifier: Apache-2.0
"""The least flash: the fewest bytes of constants and code, and beyond them those that bring much time.

More bytes must save a share of the time of the smallest code, which is several times that of the fastest. The code has
a limit besides, and so have all bytes, whatever they would bring.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.kernel import Form
from mcugen.select.candidates import Candidate, Candidates
from mcugen.select.sharing import Picks, cheapest, code_of, within_code

BYTES_PRICE = 0.15
"""The share of the smallest code's time that its constants and code are worth once more: each percent of bytes must
save 0.15 % of the time.
"""

MOST_BYTES = 1.5
"""As many times the fewest bytes are too many, whatever they bring; then the price doubles."""

HALVES = 0.5
"""Share of a layer's time that frugal kernels may leave at most where their constants are over MOST_BYTES times the
fewest, as those of weights are that could be packed two to a byte.
"""

MODEL_CODE_BYTES = 10 * 1024
"""Most bytes of a model's code: kernels and what calls them."""

STEP_CODE_BYTES = 31
"""Bytes of the code that calls a step."""

FORM_CODE_BYTES = {Form.RING: 140, Form.WINDOW: 68, Form.ACCUMULATE: 50}
"""Further bytes for kernels that are called row by row, and for rows that are filled for them."""

START_CODE_BYTES = 200
"""Bytes of what starts the firmware whose code `simulate` counts, as far as estimates of kernels are not above."""

HELPER_BYTES = 920
"""About the bytes of a source that several kernels call, which their own code does not count."""

_RISES = 8
"""Times that the price doubles, from where nothing is worth it."""

_LESS = range(0, 3072, 256)
"""What is around the kernels depends on them: so many bytes less for kernels are tried."""

_LEAST = 1e-9
"""Weight of a cost that only breaks ties."""


def least_flash(candidates: Sequence[Candidates]) -> Picks:
    """The kernels of fewest bytes, and in their place others that are worth their bytes, within the limits.

    Of frugal kernels alone where that saves a larger share of the bytes than it takes more time.
    """
    frugal = [_frugal(listed) for listed in candidates]
    every = _least_flash(candidates)
    if all(len(few) == len(listed) for few, listed in zip(frugal, candidates, strict=True)):
        return every
    return min(every, _least_flash(frugal), key=lambda picks: _bytes_of(picks) * sum(c.cost for c in picks))


def _least_flash(candidates: Sequence[Candidates]) -> Picks:
    """The kernels of fewest bytes, and in their place others that are worth their bytes."""
    least = cheapest(candidates, 1.0, lambda c: c.choice.constant_bytes + c.cost * _LEAST)
    fewest = max(_bytes_of(least), 1)
    price = BYTES_PRICE * sum(c.cost for c in least) / fewest
    found = _worth(candidates, least, price)
    for _ in range(_RISES):
        if _bytes_of(found) <= MOST_BYTES * fewest:
            return found
        price *= 2
        found = _worth(candidates, least, price)
    return least


def _frugal(listed: Candidates) -> Candidates:
    """The kernels of a node without those whose constants are many and save too little time for it."""

    def wastes(c: Candidate) -> bool:
        most, slowest = c.choice.constant_bytes / MOST_BYTES, c.cost / HALVES
        return any(other.choice.constant_bytes < most and other.cost < slowest for other in listed)

    return tuple(c for c in listed if not wastes(c))


def _worth(candidates: Sequence[Candidates], least: Picks, price: float) -> Picks:
    """The kernels that are worth their bytes at a price of time for a byte, with code within bounds."""

    def weight(c: Candidate) -> float:
        return c.cost + price * c.choice.constant_bytes

    def total(picks: Picks) -> float:
        return sum(map(weight, picks)) + price * code_of(picks)

    room = MODEL_CODE_BYTES - _around(least)
    found = [_trimmed(candidates, within_code(candidates, room - less, weight, price)) for less in _LESS]
    fitting = [picks for picks in found if code_of(picks) + _around(picks) <= MODEL_CODE_BYTES]
    return min(fitting, key=total, default=least)


def _trimmed(candidates: Sequence[Candidates], picks: Picks) -> Picks:
    """The picks within the limit of code: kernels that take more to call give way to other functions of the same set,
    with the least time for each byte. The picks themselves where that does not reach.
    """
    used, found = {c.function for c in picks}, list(picks)
    while code_of(found) + _around(found) > MODEL_CODE_BYTES:
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


def _around(picks: Sequence[Candidate]) -> int:
    """Bytes of code that starts and calls the kernels, and of what they call themselves."""
    helpers = {helper for c in picks for helper in c.choice.kernel.helpers}
    return START_CODE_BYTES + sum(map(_calling, picks)) + HELPER_BYTES * len(helpers)


def _bytes_of(picks: Picks) -> int:
    return code_of(picks) + sum(c.choice.constant_bytes for c in picks)


def _calling(c: Candidate) -> int:
    """Bytes of code that call a step."""
    kernel = c.choice.kernel
    return (STEP_CODE_BYTES + FORM_CODE_BYTES.get(kernel.form, 0)) * kernel.has_code
