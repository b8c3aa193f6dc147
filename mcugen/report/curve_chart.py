"""Chart of RAM against cost, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcugen.options import GOALS
from mcugen.report import svg

WIDTH, HEIGHT = 820, 480
LEFT, RIGHT, TOP, BOTTOM = 110, 40, 60, 60
_LINE = 14
"""Height of a line of labels in pixels."""

Point = tuple[int, int, str, str]
"""(RAM in bytes, cost, remark, name or "")."""


def name_of(presets: Sequence[str], *, is_knee: bool) -> str:
    """Name of a schedule, e.g. "balanced (the default)" or "speed, the knee"; "" if it has none."""
    names = [f"{goal} (the default)" if goal == GOALS[0] else goal for goal in presets]
    return ", ".join([*names, *(["the knee"] if is_knee else [])])


def picture(title: str, unit: str, points: Sequence[Point]) -> bytes:
    """SVG of points: x is RAM, y is the cost in `unit`, both from 0. A line joins the Pareto-optimal points."""
    points = sorted(points, key=lambda p: (p[1], p[0]))
    most_ram = max((ram for ram, *_ in points), default=1) * 1.06
    most_cost = max((cost for _, cost, *_ in points), default=1) * 1.1
    placed = [
        (LEFT + (WIDTH - LEFT - RIGHT) * ram / most_ram, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * cost / most_cost)
        for ram, cost, *_ in points
    ]
    shown = svg.fitted(title, (WIDTH - LEFT) / 1.5)  # the title's font is half as large again as that of labels
    body = [svg.text(LEFT, 28, shown, "title"), *_axes(unit, int(most_ram), int(most_cost))]
    best = [xy for k, xy in enumerate(placed) if all(ram > points[k][0] for ram, *_ in points[:k])]
    line = "L".join(f"{svg.num(x)} {svg.num(y)}" for x, y in best)
    body += [f'<path class="front" d="M{line}"/>'] if best else []
    for (x, y), (ram, cost, says, name) in zip(placed, points, strict=True):
        label = svg.escape("\n".join(filter(None, (name, f"{ram:,} bytes, {cost:,} {unit}", says))))
        body.append(
            f'<circle class="point" cx="{svg.num(x)}" cy="{svg.num(y)}" r="4.5"><title>{label}</title></circle>'
        )
    body += [*_figures(placed, points), *_names(placed, points)]
    return svg.document(WIDTH, HEIGHT, body, title)


def _axes(unit: str, most_ram: int, most_cost: int) -> Iterator[str]:
    right, base = WIDTH - RIGHT, HEIGHT - BOTTOM
    for value in svg.ticks(most_cost, 6):
        y = base - (base - TOP) * value / max(most_cost, 1)
        yield svg.line(LEFT, y, right, y, "grid")
        yield svg.text(LEFT - 8, y + 4, f"{value:,}", "tick", "end")
    for value in svg.ticks(most_ram, 7):
        x = LEFT + (right - LEFT) * value / max(most_ram, 1)
        yield svg.line(x, base, x, base + 5, "axis")
        yield svg.text(x, base + 18, f"{value:,}", "tick", "middle")
    yield svg.line(LEFT, TOP, LEFT, base, "axis")
    yield svg.line(LEFT, base, right, base, "axis")
    yield svg.text(LEFT - 8, TOP - 12, unit, "small", "end")
    yield svg.text(right, base + 38, "bytes of RAM", "small", "end")


def _figures(placed: Sequence[tuple[float, float]], points: Sequence[Point]) -> Iterator[str]:
    """RAM figures below the points. A figure that would touch another is left out."""
    spans: list[tuple[float, float]] = []
    for (x, y), (ram, *_) in zip(placed, points, strict=True):
        half = svg.width_of(f"{ram:,}") / 2
        if all(x + half + 4 <= low or high + 4 <= x - half for low, high in spans):
            spans.append((x - half, x + half))
            yield svg.text(x, y + 20, f"{ram:,}", "tick", "middle")


def _names(placed: Sequence[tuple[float, float]], points: Sequence[Point]) -> Iterator[str]:
    """Names above the points. A name that would touch another name or a point is moved up."""
    boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in placed]
    for (x, y), (*_, name) in zip(placed, points, strict=True):
        if not name:
            continue
        half = svg.width_of(name) / 2
        middle = min(x, WIDTH - half)
        base = y - 10
        while any(_touch((middle - half, base - _LINE + 4, middle + half, base), box) for box in boxes):
            base -= _LINE / 2
        boxes.append((middle - half, base - _LINE + 4, middle + half, base))
        yield svg.text(middle, base, name, "name", "middle")


def _touch(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two boxes, each (left, top, right, bottom), overlap."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
