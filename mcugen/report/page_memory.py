"""Memory over time in report.html: buffers as rectangles, over events or over time, and the Pareto curve."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from mcugen.report import curve_chart, estimates
from mcugen.report.facts import CycleFacts
from mcugen.report.svg import escape, fitted, num, ticks

_WIDTH, _HEIGHT = 1100, 340
_LEFT, _BOTTOM = 70, 26
_LEAST_NAMED, _LEAST_SHARED = 14, 0.5
"""In pixels: least height of a rectangle with a name in it; least side of an overlap that is hatched."""
_LIMIT_SHOWN = 2
"""A memory limit is drawn only if it is at most this many times the RAM used. A higher one would squeeze the map."""
_MOST_BY_TIME = 4000

Facts = Mapping[str, Any]


def map_of(facts: Facts, weights: Sequence[float]) -> dict[str, Any]:
    """A rectangle for each buffer, with regions stacked. weights: cost of each step."""
    regions = [r["name"] for r in facts["regions"]]
    sizes = {r["name"]: max(r["used_bytes"], 1) for r in facts["regions"]}
    base = {name: sum(sizes[other] for other in regions[:k]) for k, name in enumerate(regions)}
    lines = _lines(facts, sum(sizes.values()))
    total = max([sum(sizes.values()), *(line["bytes"] for line in lines)])
    times = _times(facts, weights)
    blocks = [_block(facts, b, base[b["region"]], total, times) for b in facts["buffers"]]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "blocks": blocks,
        "shared": _shared(blocks),
        "lines": [{**line, "y": num(_y(line["bytes"], total))} for line in lines],
        "marks": [{"y": num(_y(v, total)), "text": f"{v:,}"} for v in ticks(total, 6)],
        "events": facts["events"],
        "timed": bool(times),
        "knee": next((_knee(point) for point in facts["pareto"] if point["is_knee"]), None),
    }


def points_of(facts: Facts) -> list[dict[str, Any]]:
    """Results of `mcugen pareto`: the cost as counted, then in cycles and milliseconds if known."""
    found, clock = facts["pareto"], facts["clock_hz"]
    timed = all(p["cycles"] for p in found)
    rows = []
    for p in found:
        cycles = CycleFacts(p["cycles"]["low"], p["cycles"]["high"]) if timed else None
        row = {
            **p,
            "by_rows": escape(p["by_rows"]),
            "cycles": estimates.of_text(cycles),
            "ms": estimates.milliseconds(cycles, clock) if cycles and clock else "",
            "name": curve_chart.name_of(p["presets"], is_knee=p["is_knee"]),
        }
        rows.append(row)
    return rows


def events_of(trace: str) -> list[int]:
    """The step of each event, from the `trace` of report.json."""
    runs = (run.partition("x") for run in trace.split())
    return [step for text, _, count in runs for step in [int(text)] * int(count or 1)]


def _times(facts: Facts, weights: Sequence[float]) -> list[float]:
    """Fraction of the time that has passed before each event, and 1 at the end. Empty if there are too many events."""
    steps = events_of(facts["trace"])
    if not sum(weights) or len(steps) > _MOST_BY_TIME:
        return []
    counts = {step: steps.count(step) for step in set(steps)}
    each = [weights[step] / counts[step] if step >= 0 else 0.0 for step in steps]
    return [0.0, *itertools.accumulate(value / sum(each) for value in each)]


def _y(position: float, total: int) -> float:
    inner = _HEIGHT - _BOTTOM
    return inner - position * inner / total


def _lines(facts: Facts, used: int) -> list[dict[str, Any]]:
    """Horizontal lines: the board's limit if it is near, and the RAM of the knee."""
    found = []
    limit = facts["ram_limit_bytes"]
    if limit and len(facts["regions"]) == 1 and limit <= _LIMIT_SHOWN * used:
        found.append({"bytes": limit, "text": f"limit of {escape(facts['board'])}", "kind": "limit"})
    found += [
        {"bytes": p["ram_bytes"], "text": "knee", "kind": "knee"}
        for p in facts["pareto"]
        if p["is_knee"] and p["ram_bytes"] != facts["ram_bytes"]
    ]
    return found


def _knee(point: Facts) -> dict[str, Any]:
    unit = "instructions" if point["is_counted"] else "calls of kernels"
    return {"ram": point["ram_bytes"], "cost": f"{point['cost']:,} {unit}", "command": escape(point["command"])}


def _block(facts: Facts, b: Facts, base: int, total: int, times: Sequence[float]) -> dict[str, Any]:
    span = _WIDTH - _LEFT
    wide = span / max(facts["events"], 1)
    x, width = _LEFT + b["first_event"] * wide, max((b["last_event"] - b["first_event"] + 1) * wide, 1)
    y = _y(base + b["offset"] + b["nbytes"], total)
    height = max(b["nbytes"] * (_HEIGHT - _BOTTOM) / total, 1)
    label = fitted(b["tensors"][-1] if b["tensors"] else b["name"], width - 4) if height >= _LEAST_NAMED else ""
    block = {
        "x": num(x),
        "y": num(y),
        "w": num(width),
        "h": num(height),
        "kind": _kind(facts, b),
        "slug": slug(b["name"]),
        "title": escape(_title(b)),
        "label": escape(label),
        "ty": num(y + height / 2 + 4),
        "tx": num(x + width / 2),
    }
    if times:
        start, end = (times[min(k, len(times) - 1)] for k in (b["first_event"], b["last_event"] + 1))
        block |= {"time_x": num(_LEFT + start * span), "time_w": num(max((end - start) * span, 1))}
    return block


def _shared(blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Overlaps of rectangles: bytes that two tensors use in turns, since their rows are never live together."""
    corners = [tuple(float(b[key]) for key in "xywh") for b in blocks]
    found = []
    for (x, y, w, h), (x2, y2, w2, h2) in itertools.combinations(corners, 2):
        left, top = max(x, x2), max(y, y2)
        wide, high = min(x + w, x2 + w2) - left, min(y + h, y2 + h2) - top
        if min(wide, high) > _LEAST_SHARED:
            found.append({"x": num(left), "y": num(top), "w": num(wide), "h": num(high)})
    return found


def _kind(facts: Facts, b: Facts) -> str:
    ends = dict.fromkeys(facts["outputs"], "output") | dict.fromkeys(facts["inputs"], "input")
    return next((ends[n] for n in b["tensors"] if n in ends), "activation" if b["tensors"] else "scratch")


def slug(buffer: str) -> str:
    """The name of a buffer as an HTML identifier."""
    return "b-" + "".join(c if c.isalnum() and c.isascii() else "-" for c in buffer)


def _title(b: Facts) -> str:
    ring = f", {b['rows_kept']} of {b['rows']} rows at a time" if 0 < b["rows_kept"] < b["rows"] else ""
    names = ", ".join(b["tensors"]) or b["name"]
    place = f"{b['nbytes']:,} bytes at {b['offset']:,} in {b['region']}{ring}"
    return f"{names}: {place}; events {b['first_event']} to {b['last_event']}"
