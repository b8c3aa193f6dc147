"""Report of a quantization, as text and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from mcugen.ir.graph import Graph
from mcugen.quantize.findings import Finding
from mcugen.quantize.guard import Trial
from mcugen.quantize.layer_bits import label_of
from mcugen.quantize.layers import is_constant
from mcugen.quantize.quantize_model import Quantized
from mcugen.quantize.recipe import weights_in_words
from mcugen.quantize.scores import Score
from mcugen.quantize.wide_kinds import wide_tensors
from mcugen.samples.metrics import Value
from mcugen.system import tabular

_BYTE = 8
_SHOWN = 5


def as_parts(found: Quantized, file: str, size: int) -> tabular.Parts:
    """Text of the result: the file and its quality, the gain of each step, and the findings."""
    trials = found.judged.trials
    judged = [
        f"what each step brought on samples it had not seen, of {found.samples}:",
        _trials(trials) if trials else f"  {found.judged.recipe}; nothing was tried",
    ]
    return [
        f"{file}: {size:,} bytes, {found.graph.name} in integers{_worth(found)}",
        *score_lines(found.score, "in integers"),
        *_pruned(found),
        *(
            judged
            if found.samples
            else [f"{found.judged.recipe}, weights to the nearest; without --data no more is known"]
        ),
        *_bits(found),
        *_wide(found),
        *findings_lines(found.diagnosis.findings),
        *(f"note: {note}" for note in found.notes),
    ]


def _pruned(found: Quantized) -> tabular.Parts:
    """Channels removed, and the loss before and after the rest was fitted; empty without pruning."""
    pruned = found.pruned
    if pruned is None:
        return []
    share = f"{100 * pruned.after / max(pruned.before, 1):.1f} %"
    lines = [f"{pruned.after:,} multiply-accumulates of {pruned.before:,} ({share})"]
    if not pruned.stages:
        return [f"{lines[0]}: no channel had to go"]
    lines += ["channels: " + ", ".join(f"{name} {left} of {of}" for name, of, left in pruned.layers)]
    lines += [f"without them, in floats, on {pruned.judged_on} variations of the samples that it had not seen:"]
    metric = "" if found.score is None else found.score.metric
    has_test = pruned.stages[0].worth is not None
    columns = [tabular.TableColumn("step", shrinks=True), tabular.TableColumn("dB", right=True)]
    columns += [tabular.TableColumn(f"{metric} in the test", right=True)] if has_test else []
    rows = [
        (s.step, f"{s.sqnr:.2f}", *([f"{s.worth:.4g}"] if s.worth is not None else []), "kept" if s.kept else "")
        for s in pruned.stages
    ]
    return [*lines, tabular.TextTable((*columns, tabular.TableColumn("")), tuple(rows))]


def _pruned_dict(found: Quantized) -> dict[str, Any] | None:
    pruned = found.pruned
    if pruned is None:
        return None
    return {
        "macs_before": pruned.before,
        "macs": pruned.after,
        "channels": [{"layer": name, "before": of, "after": left} for name, of, left in pruned.layers],
        "variations": pruned.judged_on,
        "steps": [{"step": s.step, "sqnr_db": s.sqnr, "test": s.worth, "kept": s.kept} for s in pruned.stages],
    }


def _worth(found: Quantized) -> str:
    """SQNR of the last trial that was kept, in words; "" without trials."""
    kept = [trial for trial in found.judged.trials if trial.kept]
    less = " without these channels" if found.pruned is not None and found.pruned.stages else ""
    return f", {kept[-1].score:.1f} dB against the float model{less}" if kept else ""


def _trials(trials: Sequence[Trial]) -> tabular.TextTable:
    columns = (
        tabular.TableColumn("step", shrinks=True),
        tabular.TableColumn("dB", right=True),
        tabular.TableColumn("gain", right=True),
        tabular.TableColumn(""),
    )
    rows = []
    for trial in trials:
        gain, kept = ("", "") if trial is trials[0] else (f"{trial.gain:+.2f}", "kept" if trial.kept else "left out")
        rows.append((trial.step, f"{trial.score:.2f}", gain, kept))
    return tabular.TextTable(columns, tuple(rows))


def as_dict(found: Quantized, file: str, size: int) -> dict[str, Any]:
    """The result as values for JSON."""
    return {
        "model": found.graph.name,
        "file": file,
        "bytes": size,
        "samples": found.samples,
        "recipe": str(found.judged.recipe),
        "steps": [
            {"step": t.step, "recipe": str(t.recipe), "sqnr_db": t.score, "gain_db": t.gain, "kept": t.kept}
            for t in found.judged.trials
        ],
        "weights_bits": {name: found.widths.of_weights(name) for name in weighted(found.floats.graph)},
        "activations_bits": {n.name: found.widths.of_data(n.name) for n in found.floats.graph.nodes},
        "wide": [dataclasses.asdict(tensor) for tensor in wide_tensors(found.floats.graph, found.graph)],
        "bridges": found.bridges,
        "test": score_dict(found.score),
        "pruned": _pruned_dict(found),
        "layers": [dataclasses.asdict(layer) for layer in found.diagnosis.layers],
        "findings": [{**dataclasses.asdict(finding), "sentence": str(finding)} for finding in found.diagnosis.findings],
        "notes": list(found.notes),
    }


def score_lines(test: Score | None, made: str) -> list[str]:
    """Results of a test, if there was one. made: kind of the network, in words."""
    if test is None:
        return []
    lines = [f"test: {test.samples} samples, {test.sqnr:.1f} dB against the float model"]
    if test.over_time is not None:
        of = test.over_time
        what = f"test: {test.samples} sequences of {of.frames:,} frames, {test.sqnr:.1f} dB against the float model"
        lines = [f"{what}, {of.worst:.1f} dB in the worst"]
        lines.append("  dB by tenths of time: " + ", ".join(f"{v:.1f}" for v in of.tenths))
    lines += [f"  {c.title}: {number(c.before)} in floats, {number(c.after)} {made}" for c in test.compared]
    return lines


def number(value: Value | None) -> str:
    """A score as text, or several with commas between them; "" for None."""
    parts = () if value is None else value if isinstance(value, tuple) else (value,)
    return ", ".join(f"{part:.4g}" for part in parts)


def score_dict(test: Score | None, made: str = "integer") -> dict[str, Any] | None:
    """Results of a test as values for JSON."""
    if test is None:
        return None
    return {
        "samples": test.samples,
        "sqnr_db": test.sqnr,
        "metric": test.metric,
        "float": test.before,
        made: test.after,
        "scores": {c.name: {"float": c.before, made: c.after} for c in test.compared},
        "confusion": None if test.confusion is None else test.confusion.tolist(),
        "over_time": None if test.over_time is None else dataclasses.asdict(test.over_time),
    }


def findings_lines(findings: Sequence[Finding]) -> list[str]:
    """Sentences to print: the worst findings, and the number of further findings."""
    lines = [f"! {finding}" for finding in findings[:_SHOWN]]
    more = len(findings) - _SHOWN
    return [*lines, f"! and {more} more: see them with --json, or in the page of --report"] if more > 0 else lines


def weighted(graph: Graph) -> list[str]:
    """Nodes with constant weights."""
    return [node.name for node in graph.nodes if node.op.scaled_axis is not None and is_constant(graph, node)]


def _bits(found: Quantized) -> list[str]:
    """Layers with other bits than 8, and the number of requantize operators between them; empty if all have 8."""
    graph, widths = found.floats.graph, found.widths
    names = weighted(graph)
    lines = []
    for bits in sorted({widths.of_weights(n) for n in names} - {_BYTE}, reverse=True):
        few = [label_of(graph, n) for n in names if widths.of_weights(n) == bits]
        lines.append(f"{weights_in_words(bits)}: {_listed(few, len(names))}")
    count = found.bridges
    lines += [f"{count} bridge{'s' if count > 1 else ''}: Quantize where widths or scales meet"] if count else []
    return lines


def _wide(found: Quantized) -> tabular.Parts:
    """The tensors of 16 bits with their bytes, by kind; only their number if every layer has 16."""
    tensors = wide_tensors(found.floats.graph, found.graph)
    if not tensors:
        return []
    if found.widths.activations > _BYTE:
        return ["data of 16 bits: all layers"]
    columns = (
        tabular.TableColumn("16 bits", shrinks=True),
        tabular.TableColumn("tensors", right=True),
        tabular.TableColumn("bytes", right=True),
        tabular.TableColumn("", shrinks=True),
    )
    kinds = dict.fromkeys(t.kind for t in tensors)
    rows = []
    for kind in kinds:
        mine = [t for t in tensors if t.kind == kind]
        rows.append((kind, str(len(mine)), f"{sum(t.nbytes for t in mine):,}", ", ".join(t.label for t in mine)))
    return [tabular.TextTable(columns, tuple(rows))]


def _listed(names: list[str], of: int) -> str:
    return "all layers" if len(names) == of else f"{len(names)} of {of} layers: {', '.join(names)}"
