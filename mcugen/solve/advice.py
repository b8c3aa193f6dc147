# SPDX-License-Identifier: Apache-2.0
"""Advice on RAM: sentences about faster builds that need a little more of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcugen.options import Options
from mcugen.solve.time_memory_curve import Point

NEAR = 1.02
"""A plan with at most this factor times the RAM counts as "almost as little RAM"."""

ALMOST = "almost as little RAM"

WORTH = 1.1
"""Least speed-up for which a faster plan is mentioned."""
_Named = tuple[Point, str]


def faster_points(points: Sequence[Point], ram_bytes: int, cost: float, options: Options) -> Iterator[_Named]:
    """Points that are faster than a plan of this RAM and cost, each with its name in the advice.

    For the goal `ram`, the fastest point that needs hardly more RAM; then the knee.
    """
    faster = [p for p in points if p.peak > ram_bytes and p.cost * WORTH < cost]
    near = [p for p in faster if p.peak <= NEAR * ram_bytes]
    if near and options.optimize == "ram":
        yield min(near, key=lambda p: (p.cost, p.peak)), ALMOST
    knee = knee_of([(p.peak, p.cost) for p in points])
    if knee is not None and points[knee] in faster:
        yield points[knee], "the knee"


def knee_of(points: Sequence[tuple[int, float]]) -> int | None:
    """Index of the point (RAM, cost) furthest below the line from the fastest to the smallest point; None without any.

    Beyond the knee, each byte of RAM saved costs the most time.
    """
    if not points:
        return None
    fastest, smallest = min(points, key=lambda p: (p[1], p[0])), min(points)
    wide, high = fastest[0] - smallest[0], smallest[1] - fastest[1]
    if wide <= 0 or high <= 0:
        return None
    depth = [(fastest[0] - ram) / wide - (cost - fastest[1]) / high for ram, cost in points]
    return depth.index(max(depth)) if max(depth) > 0 else None


def sentence(name: str, ram_bytes: int, cost: float, more_bytes: int, less_cost: float, options: Options) -> str:
    """The note: "the knee: 6 % more RAM is 1.9 times faster: --ram 32768". options: have the larger budget."""
    goal = "--optimize balanced " if options.optimize == "ram" else ""
    budget = f"--region {options.region}" if options.region else f"--ram {options.ram}"
    share = 100 * (more_bytes / ram_bytes - 1)
    return f"{name}: {share:.0f} % more RAM is {cost / less_cost:.1f} times faster: {goal}{budget}"
