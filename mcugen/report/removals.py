"""Report on simplification: the work that is left, and each removal with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mcugen.graph import Graph, Removed
from mcugen.schedule import Schedule

LABEL_WIDTH = 60


def nominal_macs(imported: Graph, schedule: Schedule, reference: str) -> int:
    """Multiply-accumulates of the model as imported: of an inference, or, streaming, of a frame."""
    rows: dict[str, int] = {}
    for step in schedule.steps:
        per_frame = step.walked_rows if schedule.streams and step.writes_rows else 1
        for name in step.choice.node.outputs:
            origin = schedule.graph.tensors[name].origin
            rows[origin.tensor if origin else name] = per_frame
    return sum(node.op.macs(imported.call(node, reference)) // rows.get(node.outputs[0], 1) for node in imported.nodes)


def summary(removed: Sequence[Removed]) -> list[str]:
    """One line that counts what was removed; none where nothing was."""
    if not removed:
        return []
    counts: Counter[str] = Counter()
    for item in removed:
        counts[item.what] += item.channels or 1
    exact = all(item.exact for item in removed)
    result = "no bit of the results changes" if exact else "floats are rounded at other places"
    return [", ".join(f"{count:,} {what}" for what, count in counts.items()) + f"; {result}"]


def table(graph: Graph, removed: Sequence[Removed]) -> list[dict[str, Any]]:
    """Each removal as plain values; channels is 0 where it is not about channels."""
    return [
        {
            "tensor": item.tensor,
            "label": graph.tensors[item.tensor].label,
            "what": item.what,
            "channels": item.channels,
            "of": graph.type(item.tensor).shape[-1] if item.channels else 0,
            "why": item.why,
        }
        for item in removed
    ]


def as_text(rows: Sequence[dict[str, Any]]) -> str:
    """The removals with their reasons, each reason once."""
    if not rows:
        return "nothing is removed\n"
    lines: list[str] = []
    for why in dict.fromkeys(row["why"] for row in rows):
        lines += [f"because {why}:"]
        for row in (r for r in rows if r["why"] == why):
            count = f"{row['channels']:>5,} of {row['of']:>5,} " if row["channels"] else ""
            lines.append(f"  {row['tensor']:<8} {count}{row['what']}  {row['label'][-LABEL_WIDTH:]!r}")
    return "\n".join(lines) + "\n"
