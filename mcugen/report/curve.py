"""RAM against cost as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcugen.report import svg

WIDTH, HEIGHT = 820, 480
LEFT, RIGHT, TOP, BOTTOM = 110, 40, 60, 60

Point = tuple[int, int, str]
"""(RAM in bytes, cost, what to say of it)."""


def picture(title: str, unit: str, points: Sequence[Point]) -> bytes:
    """The SVG of points, from the fastest to the smallest: x is RAM and y the cost in `unit`, both from 0."""
    most_ram = max((ram for ram, _, _ in points), default=1) * 1.06
    most_cost = max((cost for _, cost, _ in points), default=1) * 1.1
    placed = [
        (LEFT + (WIDTH - LEFT - RIGHT) * ram / most_ram, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * cost / most_cost)
        for ram, cost, _ in points
    ]
    body = [svg.text(LEFT, 28, title, "title"), *_axes(unit, int(most_ram), int(most_cost))]
    line = "L".join(f"{svg.num(x)} {svg.num(y)}" for x, y in placed)
    body += [f'<path class="front" d="M{line}"/>'] if placed else []
    for (x, y), (ram, cost, says) in zip(placed, points, strict=True):
        label = svg.escape(f"{ram:,} bytes, {cost:,} {unit}\n{says}")
        body.append(
            f'<circle class="point" cx="{svg.num(x)}" cy="{svg.num(y)}" r="4.5"><title>{label}</title></circle>'
        )
    body += _labels(placed, points)
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


def _labels(placed: Sequence[tuple[float, float]], points: Sequence[Point]) -> Iterator[str]:
    """The RAM at each point, above or below it in turn, left out where it would touch the last one on its side."""
    free = {True: float("inf"), False: float("inf")}
    for k, ((x, y), (ram, _, _)) in enumerate(zip(placed, points, strict=True)):
        above, half = k % 2 == 0, svg.width_of(f"{ram:,}") / 2
        if x + half < free[above]:
            yield svg.text(x, y - 10 if above else y + 20, f"{ram:,}", "tick", "middle")
            free[above] = x - half - 4
