"""Output of `inspect`: the model's operators with their cost, live memory at each step, dumps of any stage."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

from mcugen.ir.graph import Graph, Node
from mcugen.pipeline import Artifact
from mcugen.report import buffer_lifetimes, removals
from mcugen.solve.plan import live_bytes
from mcugen.solve.schedule import INPUT, Choice, Event, Schedule
from mcugen.solve.schedule.places import Place
from mcugen.system import tabular

_BAR = 24
"""Length of the longest bar, in characters."""
_PLACE = re.compile(r"(?:operator )?((?:node )?)(\d+)( .*)", re.DOTALL)
"""Position of an operator in its file: text before its index, the index, and the operator's name."""


def facts_of(artifact: Artifact) -> dict[str, Any]:
    """The model as plain values, for JSON and for `as_parts`."""
    graph = artifact.imported
    return {
        "name": artifact.name,
        "title": artifact.report.title,
        "format": graph.format,
        "sha256": graph.sha256,
        "inputs": [_tensor(graph, name) for name in graph.inputs],
        "outputs": [_tensor(graph, name) for name in graph.outputs],
        "signatures": [{"name": name, "subgraph": index} for name, index in graph.signatures],
        "macs": artifact.report.macs,
        "live_macs": artifact.report.live_macs,
        "weights_bytes": artifact.report.weights_bytes,
        "lower_bound": artifact.report.lower_bound,
        "operators": [_operator(graph, node, artifact.view.reference) for node in graph.nodes],
        "steps": _steps(artifact.schedule),
        "removed": removals.table(graph, artifact.report.removed),
    }


def _tensor(graph: Graph, name: str) -> dict[str, Any]:
    t = graph.type(name)
    return {
        "tensor": name,
        "label": graph.tensors[name].label,
        "dtype": t.dtype,
        "shape": list(t.shape),
        "scale": list(t.quant.scale) if t.quant else None,
        "zero_point": list(t.quant.zero_point) if t.quant else None,
        "axis": t.quant.axis if t.quant and t.quant.per_channel else None,
        "text": str(t),
    }


def _operator(graph: Graph, node: Node, reference: str) -> dict[str, Any]:
    call = graph.call(node, reference)
    constants = (graph.tensors[name] for name in node.inputs if name is not None and graph.tensors[name].is_constant)
    return {
        "source": node.source,
        "op": type(node.op).__name__,
        "attributes": _plain(dataclasses.asdict(node.op)),
        "inputs": [name for name in node.inputs if name is not None and not graph.tensors[name].is_constant],
        "outputs": [_tensor(graph, name) for name in node.outputs],
        "macs": node.op.macs(call),
        "weights_bytes": sum(tensor.type.nbytes for tensor in constants),
    }


def _plain(value: Any) -> Any:
    """Attributes as JSON values: tuples become lists, a number that is not finite becomes text."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _steps(schedule: Schedule) -> list[dict[str, Any]]:
    """Each step, with the most bytes live during any of its events."""
    live = live_bytes(schedule.buffers())
    peak = dict.fromkeys(range(len(schedule.steps)), 0)
    for time, event in enumerate(schedule.trace):
        if event.step != INPUT:
            peak[event.step] = max(peak[event.step], live[time])
    return [
        {
            "index": s.index,
            "layer": buffer_lifetimes.name_of(schedule, s),
            "op": type(s.choice.node.op).__name__,
            "by_rows": s.by_rows,
            "live_bytes": peak[s.index],
            "scratch_bytes": s.scratch_bytes,
        }
        for s in schedule.steps
    ]


def as_parts(facts: dict[str, Any]) -> tabular.Parts:
    """The model's cost in one line; its inputs and outputs; its operators; the bytes live at each step."""
    executed = f" ({facts['live_macs']:,} executed)" if facts["live_macs"] != facts["macs"] else ""
    lines = [
        f"{tabular.called(facts['title'], facts['name'])}: {len(facts['operators']):,} operators, "
        f"{facts['macs']:,} MAC{executed}, {facts['weights_bytes']:,} bytes of constants, "
        f"{facts['lower_bound']:,} bytes live at most",
        f"  {facts['format']}, sha256 {facts['sha256'][:16]}",
    ]
    for kind in ("inputs", "outputs"):
        lines += [f"  {kind[:-1]:<7} {end['tensor']:<6} {end['text']}  {end['label']!r}" for end in facts[kind]]
    named = ", ".join(f"{row['name']!r} (subgraph {row['subgraph']})" for row in facts["signatures"])
    lines += [f"  signatures {named}"] if named else []
    return [*lines, "", _operators(facts["operators"]), "", _live(facts["steps"])]


def _operators(rows: list[dict[str, Any]]) -> tabular.TextTable:
    """A row per operator of the file. Operators with the most work are marked."""
    columns = (
        tabular.TableColumn("operator", shrinks=True),
        tabular.TableColumn("layer", shrinks=True, ends=True),
        tabular.TableColumn("MAC", right=True),
        tabular.TableColumn("constants", right=True),
        tabular.TableColumn("result", optional=True),
    )
    cells = []
    for row, source in zip(rows, _aligned([row["source"] for row in rows]), strict=True):
        made = row["outputs"][0] if row["outputs"] else {"tensor": "", "text": "", "label": ""}
        result = f"{made['tensor']}: {made['text']}" if made["text"] else ""
        cells.append((source, made["label"], f"{row['macs']:,}", f"{row['weights_bytes']:,}", result))
    return tabular.TextTable(columns, tuple(cells), tabular.largest([row["macs"] for row in rows]))


def _aligned(sources: Sequence[str]) -> list[str]:
    """Operators' positions, with indices padded to one width: `operator 9 ADD` becomes ` 9 ADD` if there are more than
    ten.
    """
    found = [_PLACE.fullmatch(source) for source in sources]
    digits = max((len(place[2]) for place in found if place), default=0)
    pairs = zip(sources, found, strict=True)
    return [f"{place[1]}{place[2].rjust(digits)}{place[3]}" if place else source for source, place in pairs]


def _live(rows: list[dict[str, Any]]) -> tabular.TextTable:
    """A row per step, with a bar for the bytes live at its peak. The highest are marked."""
    most = max((row["live_bytes"] for row in rows), default=0)
    columns = (
        tabular.TableColumn("step", right=True),
        tabular.TableColumn("layer", shrinks=True, ends=True),
        tabular.TableColumn("operator", shrinks=True),
        tabular.TableColumn("live bytes", right=True),
        tabular.TableColumn("scratch", right=True),
        tabular.TableColumn("at its peak", optional=True),
    )
    cells = []
    for row in rows:
        sizes = (f"{row['live_bytes']:,}", f"{row['scratch_bytes']:,}")
        bar = "#" * round(_BAR * row["live_bytes"] / max(most, 1))
        cells.append((str(row["index"]), row["layer"], row["op"], *sizes, bar))
    return tabular.TextTable(columns, tuple(cells), tabular.largest([row["live_bytes"] for row in rows]))


def removed_parts(facts: dict[str, Any]) -> tabular.Parts:
    """Removed work, and why no bit of the results changes."""
    return removals.as_parts(facts["removed"])


def dump(artifact: Artifact, stage: str) -> str:
    """The intermediate representation after a stage: imported, passes, schedule or plan."""
    if stage in ("imported", "passes"):
        return (artifact.imported if stage == "imported" else artifact.graph).dump()
    return _schedule_dump(artifact.schedule) if stage == "schedule" else _plan_dump(artifact)


def _schedule_dump(schedule: Schedule) -> str:
    lines = [f"step {s.index}: {_choice_text(s.choice)}" for s in schedule.steps]
    lines += [f"event {time}: {_event_text(schedule, e)}" for time, e in enumerate(schedule.trace)]
    lines += [
        f"buffer {h.name}: {h.kept} of {h.rows} rows of {h.row_bytes} bytes" for h in schedule.row_buffers.values()
    ]
    places = ((name, place) for name, place in schedule.places.items() if name != place.buffer)
    lines += [f"tensor {name} in {p.buffer}{_place_text(p)}" for name, p in places]
    return "\n".join(lines) + "\n"


def _place_text(place: Place) -> str:
    start = f" from byte {place.start}" if place.start else ""
    return start + (f", rows {place.pitch} bytes apart" if place.pitch else "")


def _choice_text(choice: Choice) -> str:
    return f"{choice.kernel.symbol} {choice.kernel.form.name} ({choice.why}) for {choice.node.source}"


def _event_text(schedule: Schedule, event: Event) -> str:
    if event.step == INPUT:
        return f"row {event.event} of the input comes in"
    return f"step {event.step} " + (f"event {event.event}" if schedule.steps[event.step].by_rows else "whole")


def _plan_dump(artifact: Artifact) -> str:
    lines = []
    for plan in artifact.plan.parts:
        where = f" in {plan.region}" if artifact.plan.further else ""
        lines.append(
            f"arena{where} {plan.nbytes} bytes, lower bound {plan.lower_bound} at step {plan.peak_step}, {plan.method}"
        )
        inside = [b for b in artifact.schedule.buffers() if b.name in plan.offset]
        for b in sorted(inside, key=lambda b: (plan.offset[b.name], b.first)):
            lines.append(f"{plan.offset[b.name]:>10} +{b.nbytes:<10} steps {b.first}..{b.last}  {b.name}")
    return "\n".join(lines) + "\n"
