"""The graph in report.html: one row per step, and one lane (column) per tensor that a later step still reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcugen.report.svg import escape, fitted, num

_ROW, _LANE, _LEFT, _WIDTH = 24, 18, 14, 1100
_DOT = 5
_TEXT = 640

Facts = Mapping[str, Any]


@dataclass
class _Walk:
    """Lanes (columns) in use at the current row. lanes: source of each lane, None if free. begun: source -> (row,
    lane). edges: SVG paths.
    """

    lanes: list[str | None] = field(default_factory=list)
    begun: dict[str, tuple[int, int]] = field(default_factory=dict)
    edges: list[str] = field(default_factory=list)

    def take(self) -> int:
        """The first free lane."""
        if None not in self.lanes:
            self.lanes.append(None)
        return self.lanes.index(None)

    def begin(self, source: str, row: int, lane: int) -> None:
        """Make the lane carry the result of a source, beginning at this row."""
        self.lanes[lane] = source
        self.begun[source] = (row, lane)

    def end(self, source: str) -> int:
        """Free the lane of a source and return its number."""
        lane = self.begun[source][1]
        self.lanes[lane] = None
        return lane

    def edge(self, source: str, row: int, lane: int) -> None:
        """Draw a line from a source, down its lane, to the step in `row` and `lane`."""
        (start, own), turn = self.begun[source], _y(row) - _ROW * 0.9
        x, to = _x(own), _x(lane)
        bend = f"V{num(turn)}C{num(x)} {num(_y(row) - 8)} {num(to)} {num(turn + 4)} {num(to)} {num(_y(row) - _DOT)}"
        self.edges.append(f"M{num(x)} {num(_y(start) + _DOT)}" + (bend if own != lane else f"V{num(_y(row) - _DOT)}"))


def _x(lane: int) -> float:
    return _LEFT + lane * _LANE


def _y(row: int) -> float:
    return row * _ROW + _ROW / 2


def graph_of(facts: Facts) -> dict[str, Any]:
    """Rows, edges and sizes of the picture. A source is a step, or an input or state of the model."""
    tensors = {t["name"]: t for t in facts["tensors"]}
    holders = {t["buffer"]: t["name"] for t in reversed(facts["tensors"]) if not t["made_by"]}
    read = [_sources(step, tensors, holders) for step in facts["steps"]]
    known = {source for sources in read for source in sources}
    given = [name for name in tensors if name in facts["inputs"] or name in known]
    last = {source: len(given) + k for k, sources in enumerate(read) for source in sources}
    walk, rows = _Walk(), []
    for row, name in enumerate(given):
        lane = walk.take()
        walk.begin(name, row, lane)
        what = "input" if name in facts["inputs"] else "state"
        rows.append(_row(row, lane, f"{what} {name}", _shape(tensors[name]), None))
        if name not in last:
            walk.end(name)
    for k, (step, sources) in enumerate(zip(facts["steps"], read, strict=True)):
        row = len(given) + k
        ending = [source for source in sources if last[source] == row]
        freed = [walk.end(source) for source in ending]
        lane = min(freed) if freed else walk.take()
        for source in sources:
            walk.edge(source, row, lane)
        if str(k) in last:
            walk.lanes[lane] = str(k)
        walk.begun[str(k)] = (row, lane)
        shapes = ", ".join(_shape(tensors[n]) for n in step["outputs"] if n in tensors)
        rows.append(_row(row, lane, f"{step['index']} {step['op']}", shapes, _marks(step, tensors)) | {"layer": k})
    text = _x(max(len(walk.lanes), 1)) + 6
    return {"rows": rows, "edges": walk.edges, "text": num(text), "width": _WIDTH, "height": len(rows) * _ROW}


def _sources(step: Facts, tensors: Mapping[str, Facts], holders: Mapping[str, str]) -> list[str]:
    """Sources that a step reads, each once: steps by number, inputs and states by the name of their buffer."""
    found: dict[str, None] = {}
    for name in step["inputs"]:
        if name in tensors:
            t = tensors[name]
            made = [str(k) for k in t["made_by"] if k < step["index"]]
            found.update(dict.fromkeys(made if t["made_by"] else [holders[t["buffer"]]]))
    return list(found)


def _row(row: int, lane: int, title: str, shape: str, marks: Sequence[str] | None) -> dict[str, Any]:
    said = "; ".join(marks or ())
    return {
        "x": num(_x(lane)),
        "y": num(_y(row)),
        "base": num(_y(row) + 4),
        "title": escape(title),
        "shape": escape(shape),
        "marks": escape(fitted(said, _TEXT)),
        "all_marks": escape(said),
        "kind": "input" if marks is None else "fused" if marks else "step",
        "layer": None,
    }


def _shape(t: Facts) -> str:
    return f"{t['dtype']} {list(t['shape'])}"


def _marks(step: Facts, tensors: Mapping[str, Facts]) -> list[str]:
    """Remarks on a step: operators that it computes if several, and channels of the model that were removed."""
    several = [f"does {len(step['operators'])}: {', '.join(step['operators'])}"] if step["operators"] else []
    gone = sum(tensors[name]["removed_channels"] for name in step["outputs"] if name in tensors)
    return several + ([f"{gone} channel{'s' if gone > 1 else ''} removed"] if gone else [])
