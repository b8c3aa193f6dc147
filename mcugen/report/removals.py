"""Results of simplification: the remaining work, and each removal with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mcugen.ir.graph import Graph, Removed
from mcugen.solve.schedule import Schedule
from mcugen.system import tabular


def nominal_macs(imported: Graph, schedule: Schedule, reference: str) -> int:
    """Multiply-accumulates of the model as imported, per inference or, for a streaming model, per frame."""
    rows: dict[str, int] = {}
    for step in schedule.steps:
        per_frame = step.walked_rows if schedule.streams and step.writes_rows else 1
        for name in step.choice.node.outputs:
            origin = schedule.graph.tensors[name].origin
            rows[origin.tensor if origin else name] = per_frame
    return sum(node.op.macs(imported.call(node, reference)) // rows.get(node.outputs[0], 1) for node in imported.nodes)


def summary(removed: Sequence[Removed]) -> list[str]:
    """One line that counts the removals by kind; empty if there are none."""
    if not removed:
        return []
    counts: Counter[str] = Counter()
    for item in removed:
        counts[item.what] += item.channels or 1
    exact = all(item.exact for item in removed)
    result = "no bit of the results changes" if exact else "floats are rounded at other places"
    return [", ".join(f"{count:,} {what}" for what, count in counts.items()) + f"; {result}"]


def table(graph: Graph, removed: Sequence[Removed]) -> list[dict[str, Any]]:
    """Each removal as plain values, for JSON. channels is 0 if the removal is not about channels."""
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


def as_parts(rows: Sequence[dict[str, Any]]) -> tabular.Parts:
    """How much was removed, and one table per reason."""
    if not rows:
        return ["nothing is removed"]
    reasons = dict.fromkeys(row["why"] for row in rows)
    channels = sum(row["channels"] for row in rows)
    parts: list[str | tabular.TextTable] = [
        f"{_plural(len(rows), 'removal')} for {_plural(len(reasons), 'reason')}"
        + (f", {_plural(channels, 'channel')} in all" if channels else "")
    ]
    columns = (
        tabular.TableColumn("tensor"),
        tabular.TableColumn("removed", right=True),
        tabular.TableColumn("what", shrinks=True),
        tabular.TableColumn("layer", shrinks=True, ends=True),
    )
    for why in reasons:
        cells = [
            (
                row["tensor"],
                f"{row['channels']:,} of {row['of']:,}" if row["channels"] else "",
                row["what"],
                row["label"],
            )
            for row in rows
            if row["why"] == why
        ]
        parts += ["", f"because {why}:", tabular.TextTable(columns, tuple(cells))]
    return parts


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("s" if count != 1 else "")
