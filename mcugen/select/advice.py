# SPDX-License-Identifier: Apache-2.0
"""What a little more RAM would bring: sentences for builds whose memory decides how fast they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mcugen.options import Options
from mcugen.select.curve import Point

NEAR = 1.02
"""As many times the RAM are hardly more."""

WORTH = 1.1
"""A plan is named if it is as many times faster."""

STEEP = 0.5
"""A knee is named if the logarithm of its gain is at least as many times that of its RAM."""

_Named = tuple[Point, str]


def faster_points(points: Sequence[Point], ram_bytes: int, cost: float, options: Options) -> Iterator[_Named]:
    """Points that are faster than a plan of that RAM and cost, each with what to call it.

    For the goal `ram` the fastest that needs hardly more; then the knee, which gains the most time per RAM, both taken
    as ratios.
    """
    faster = [p for p in points if p.peak > ram_bytes and p.cost * WORTH < cost]
    near = [p for p in faster if p.peak <= NEAR * ram_bytes]
    if near and options.optimize == "ram":
        yield min(near, key=lambda p: (p.cost, p.peak)), "almost as little RAM"
    steep = {p: math.log(cost / p.cost) / math.log(p.peak / ram_bytes) for p in faster}
    knee = max(steep, key=lambda p: steep[p], default=None)
    if knee is not None and steep[knee] >= STEEP:
        yield knee, "the knee"


def sentence(name: str, ram_bytes: int, cost: float, more_bytes: int, less_cost: float, options: Options) -> str:
    """The note: "the knee: 6 % more RAM is 1.9 times faster: --ram 32768"."""
    goal = "--optimize balanced " if options.optimize == "ram" else ""
    share = 100 * (more_bytes / ram_bytes - 1)
    return f"{name}: {share:.0f} % more RAM is {cost / less_cost:.1f} times faster: {goal}--ram {more_bytes}"
