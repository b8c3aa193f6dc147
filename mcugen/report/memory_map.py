"""Memory map as a picture: which buffers use which bytes of the arena during which events, and the bytes live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mcugen.report import svg
from mcugen.solve.plan import Buffer, MemoryPlan, Piece, live_bytes
from mcugen.solve.schedule import Schedule

WIDTH = 1120
LEFT, RIGHT = 78, 24
MAP_TOP, MAP_HEIGHT = 78, 440
LIVE_TOP, LIVE_HEIGHT = MAP_TOP + MAP_HEIGHT + 66, 110
HEIGHT = LIVE_TOP + LIVE_HEIGHT + 62
KINDS = ("input", "output", "activation", "scratch")
MAX_SHAPES = 6000
"""Most rectangles in a picture, to keep the file small. If there are more, rectangles close to each other are
joined.
"""


@dataclass(frozen=True)
class _Scale:
    """Scale of the picture: event -> x and byte address -> y, in pixels."""

    events: int
    nbytes: int

    def x(self, event: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * event / max(self.events, 1)

    def y(self, address: float) -> float:
        return MAP_TOP + MAP_HEIGHT * (1 - address / max(self.nbytes, 1))


def picture(schedule: Schedule, plan: MemoryPlan, name: str) -> bytes:
    """The SVG of a planned schedule. `name` and the labels of tensors are data and are escaped.

    The upper panel has events as x and addresses as y; the lower one shows bytes live. A buffer is drawn as the pieces
    that it uses: a ring as one piece per row. Its tooltip lists tensors, bytes and events. Each region has a picture of
    its own, one below the other.
    """
    if not plan.further:
        body = list(_panels(schedule, plan, name))
    else:
        body = []
        for k, part in enumerate(plan.parts):
            shown = _panels(schedule, part, f"{name}, {part.region}")
            body += [f'<g transform="translate(0,{k * HEIGHT})">', *shown, "</g>"]
    return svg.document(WIDTH, HEIGHT * len(plan.parts), body, f"Memory map of {name}")


def _panels(schedule: Schedule, plan: MemoryPlan, name: str) -> Iterator[str]:
    """The panels of one region: the map, and the bytes live in it."""
    scale = _Scale(len(schedule.trace), plan.nbytes)
    inside = [b for b in schedule.buffers() if b.name in plan.offset]
    buffers = sorted(inside, key=lambda b: (plan.offset[b.name], b.first, b.name))
    yield from (
        *_heading(schedule, plan, name),
        *_grid(scale),
        *_blocks(schedule, plan, buffers, scale),
        *_live(schedule, plan, buffers, scale),
        *_peak(schedule, plan, scale),
        *_names(schedule, plan, buffers, scale),
    )


def _heading(schedule: Schedule, plan: MemoryPlan, name: str) -> Iterator[str]:
    yield svg.text(LEFT, 26, f"{name}: {plan.nbytes:,} bytes of arena", "title")
    gap = plan.nbytes - plan.lower_bound
    over = f"{gap:,} above the most bytes live at once" if gap else "as many as are live at the peak: none are wasted"
    count = f"{len(schedule.trace)} events of {len(schedule.steps)} steps"
    yield svg.text(LEFT, 45, f"{over}; lower bound {plan.lower_bound:,}; {count}", "small")
    x: float = WIDTH - RIGHT
    for kind in reversed(KINDS):
        x -= 24 + 6.5 * len(kind)
        yield f'<rect class="block {kind}" x="{svg.num(x)}" y="{MAP_TOP - 22}" width="12" height="12"/>'
        yield svg.text(x + 17, MAP_TOP - 12, kind, "small")
        x -= 12


def _grid(scale: _Scale) -> Iterator[str]:
    """The address axis, with grid lines."""
    yield svg.text(LEFT - 8, MAP_TOP - 12, "address", "small", "end")
    for value in svg.ticks(scale.nbytes, 8):
        yield svg.line(LEFT, scale.y(value), WIDTH - RIGHT, scale.y(value), "grid")
        yield svg.text(LEFT - 8, scale.y(value) + 4, f"{value:,}", "tick", "end")
    yield svg.line(LEFT, MAP_TOP, LEFT, MAP_TOP + MAP_HEIGHT, "axis")
    yield svg.line(LEFT, MAP_TOP + MAP_HEIGHT, WIDTH - RIGHT, MAP_TOP + MAP_HEIGHT, "axis")


# buffers -----------------------------------------------------------------------------------------------------------


def _blocks(schedule: Schedule, plan: MemoryPlan, buffers: Sequence[Buffer], scale: _Scale) -> Iterator[str]:
    held = schedule.held()
    shapes = sum(len(b.pieces) for b in buffers)
    closest = 0.0 if shapes <= MAX_SHAPES // 4 else 1.5 if shapes <= MAX_SHAPES else WIDTH
    for b in buffers:
        if not b.nbytes:
            continue
        tensors = held.get(b.name, [])
        rects = [_rect(p, plan.offset[b.name], scale) for p in _joined(b.pieces, closest, scale)]
        outline = "".join(
            f"M{svg.num(x)} {svg.num(y)}h{svg.num(w)}v{svg.num(h)}h-{svg.num(w)}z" for x, y, w, h in rects
        )
        title = svg.escape(_title(schedule, b, tensors, plan.offset[b.name]))
        yield f'<path class="block {_kind(schedule, tensors)}" d="{outline}"><title>{title}</title></path>'


def _names(schedule: Schedule, plan: MemoryPlan, buffers: Sequence[Buffer], scale: _Scale) -> Iterator[str]:
    """Names of the buffers, drawn on top of everything else."""
    held = schedule.held()
    for b in buffers:
        rects = [_rect(p, plan.offset[b.name], scale) for p in b.pieces if b.nbytes]
        written = _name_on(rects, _short(schedule, held.get(b.name, []))) if rects else ""
        if written:
            yield written


def _joined(pieces: Sequence[Piece], closest: float, scale: _Scale) -> Iterable[Piece]:
    """The pieces, with pieces of the same bytes less than `closest` pixels apart joined."""
    result: list[Piece] = []
    for p in pieces:
        last = result[-1] if result else None
        if (
            last
            and (last.offset, last.nbytes) == (p.offset, p.nbytes)
            and scale.x(p.first - last.last) - LEFT < closest
        ):
            result[-1] = Piece(p.offset, p.nbytes, min(last.first, p.first), max(last.last, p.last))
        else:
            result.append(p)
    if closest >= WIDTH:
        return [Piece(0, max(p.offset + p.nbytes for p in pieces), pieces[0].first, max(p.last for p in pieces))]
    return result


def _rect(p: Piece, offset: int, scale: _Scale) -> tuple[float, float, float, float]:
    """(x, y, width, height) of a piece in pixels, at least wide enough to see."""
    x, y = scale.x(p.first), scale.y(offset + p.offset + p.nbytes)
    return x, y, max(scale.x(p.last + 1) - x, 0.4), max(scale.y(offset + p.offset) - y, 0.4)


def _kind(schedule: Schedule, tensors: Sequence[str]) -> str:
    if not tensors:
        return "scratch"
    ends = dict.fromkeys(schedule.graph.outputs, "output") | dict.fromkeys(schedule.graph.inputs, "input")
    kinds = {ends.get(name, "activation") for name in tensors}
    return next(kind for kind in KINDS if kind in kinds)


def _title(schedule: Schedule, b: Buffer, tensors: Sequence[str], offset: int) -> str:
    """Tooltip of a buffer: tensors, ring, state, bytes and events."""
    lines = [_line(schedule, name) for name in tensors] or [b.name]
    buffer = schedule.row_buffers.get(b.name)
    if buffer and buffer.kept < buffer.rows:
        lines.append(f"a ring of {buffer.kept} of {buffer.rows} rows, {buffer.row_bytes:,} bytes each")
    if any(state.before in tensors for state in schedule.graph.states):
        lines.append("kept from run to run")
    lines.append(f"{b.nbytes:,} bytes at {offset:,}..{offset + b.nbytes - 1:,}, events {b.first}..{b.last}")
    return "\n".join(lines)


def _line(schedule: Schedule, name: str) -> str:
    """A tensor in a tooltip: its type, its label, and its offset in its buffer if that is not 0."""
    start = schedule.places[name].start
    text = f"{name}: {schedule.graph.type(name)} {schedule.graph.tensors[name].label}".rstrip()
    return f"{text}, from byte {start:,}" if start else text


def _short(schedule: Schedule, tensors: Sequence[str]) -> str:
    """Short name to print on a buffer: that of its last tensor. Converters join names of fused tensors; the last part
    of the last name is used.
    """
    if not tensors:
        return "scratch"
    label = schedule.graph.tensors[tensors[-1]].label.rstrip(";").rsplit(";", 1)[-1]
    return f"{tensors[-1]} {label.strip('/').rsplit('/', 1)[-1]}".strip()


def _name_on(rects: Sequence[tuple[float, float, float, float]], label: str) -> str:
    """The label, at the x where the stacked pieces below it are highest. Empty if there is no room."""
    left, right = min(r[0] for r in rects), max(r[0] + r[2] for r in rects)
    best: tuple[float, str] = (0, "")
    for part in (0.5, 0.3, 0.7, 0.15, 0.85):
        x = left + part * (right - left)
        shown = svg.fitted(label, 2 * min(x - left, right - x) - 6)
        half = svg.width_of(shown) / 2 + 2
        under = [r for r in rects if r[0] <= x - half and x + half <= r[0] + r[2]]
        if not shown or not under:
            continue
        top, bottom = min(r[1] for r in under), max(r[1] + r[3] for r in under)
        if bottom - top >= 12 and (bottom - top) * len(shown) > 1.2 * best[0]:
            best = ((bottom - top) * len(shown), svg.text(x, (top + bottom) / 2 + 4, shown, "name", "middle"))
    return best[1]


# the lower panel ---------------------------------------------------------------------------------------------------


def _live(schedule: Schedule, plan: MemoryPlan, buffers: Sequence[Buffer], scale: _Scale) -> Iterator[str]:
    live = live_bytes(buffers)
    base = LIVE_TOP + LIVE_HEIGHT

    def y(value: float) -> float:
        return base - LIVE_HEIGHT * value / max(plan.nbytes, 1)

    yield svg.text(LEFT - 8, LIVE_TOP - 10, "bytes live", "small", "end")
    for value in svg.ticks(plan.nbytes, 3):
        yield svg.line(LEFT, y(value), WIDTH - RIGHT, y(value), "grid")
        yield svg.text(LEFT - 8, y(value) + 4, f"{value:,}", "tick", "end")
    points = [f"M{svg.num(scale.x(0))} {base}"]
    for time, value in enumerate(live):
        if not time or value != live[time - 1]:
            points.append(f"V{svg.num(y(value))}")
        if time + 1 == len(live) or live[time + 1] != value:
            points.append(f"H{svg.num(scale.x(time + 1))}")
    yield f'<path class="live" d="{"".join(points)}V{base}z"><title>bytes live at each event</title></path>'
    yield svg.line(LEFT, y(plan.lower_bound), WIDTH - RIGHT, y(plan.lower_bound), "bound")
    yield svg.text(WIDTH - RIGHT, y(plan.lower_bound) - 5, f"lower bound {plan.lower_bound:,}", "say", "end")
    yield svg.line(LEFT, base, WIDTH - RIGHT, base, "axis")
    yield from _spans(schedule, scale, base)


def _spans(schedule: Schedule, scale: _Scale, base: float) -> Iterator[str]:
    """Steps below the axis, with a tick at the end of each group. Interleaved steps form one group."""
    free = LEFT - 1.0
    for first, last, steps in groups(schedule):
        left, right = scale.x(first), scale.x(last + 1)
        yield svg.line(right, base, right, base + 5, "axis")
        shown = _group_text(schedule, steps, right - left)
        half = svg.width_of(shown) / 2
        if shown and (left + right) / 2 - half > free:
            yield svg.text((left + right) / 2, base + 18, shown, "tick", "middle")
            free = (left + right) / 2 + half + 4
    yield svg.text(LEFT, base + 40, f"steps, in {len(schedule.trace)} events from left to right", "small")


def _group_text(schedule: Schedule, steps: range, width: float) -> str:
    if len(steps) > 1:
        return f"steps {steps[0]}-{steps[-1]} by rows" if width > 120 else f"{steps[0]}-{steps[-1]}"
    if not steps:
        return "input"
    step = schedule.steps[steps[0]]
    full = f"{steps[0]} {type(step.choice.node.op).__name__}"
    return full if svg.width_of(full) < width else str(steps[0])


def groups(schedule: Schedule) -> list[tuple[int, int, range]]:
    """(first event, last event, steps) of each group: a range of events in which the steps are interleaved."""
    order = [event.step for event in schedule.trace]
    after = [0] * len(order)
    least = len(schedule.steps)
    for time in range(len(order) - 1, -1, -1):
        after[time] = least
        least = min(least, order[time]) if order[time] >= 0 else least
    found = []
    start, most = 0, -1
    for time, step in enumerate(order):
        most = max(most, step)
        if most < after[time] and (step >= 0 or time + 1 == len(order)):
            low = min((s for s in order[start : time + 1] if s >= 0), default=0)
            found.append((start, time, range(low, most + 1)))
            start, most = time + 1, -1
    return found


def _peak(schedule: Schedule, plan: MemoryPlan, scale: _Scale) -> Iterator[str]:
    """A line through both panels at the first event with the most bytes live."""
    if not schedule.trace:
        return
    event = schedule.trace[plan.peak_step]
    x = (scale.x(plan.peak_step) + scale.x(plan.peak_step + 1)) / 2
    yield svg.line(x, MAP_TOP, x, LIVE_TOP + LIVE_HEIGHT, "peak")
    where = "a row of the input comes in"
    if event.step >= 0:
        op = type(schedule.steps[event.step].choice.node.op).__name__
        where = f"step {event.step} {op}" + (f", part {event.event}" if schedule.steps[event.step].by_rows else "")
    says = f"peak at event {plan.peak_step}: {where}"
    anchor, beside = ("start", 6) if x < WIDTH / 2 else ("end", -6)
    yield svg.text(x + beside, MAP_TOP + MAP_HEIGHT + 24, says, "say", anchor)
