"""HTML page about a quantization: findings, the gain of each step, every layer, and the result on test data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from mcugen.emit import environment
from mcugen.quantize.diagnose import LayerFacts
from mcugen.quantize.findings import Finding
from mcugen.quantize.guard import Trial
from mcugen.quantize.prune import Pruned
from mcugen.quantize.quantization_report import number
from mcugen.quantize.quantize_model import Quantized
from mcugen.quantize.scores import Score
from mcugen.report.facts import NoiseFacts
from mcugen.report.svg import escape, num

_MILD = 20
_MOST_CLASSES, _MOST_CELLS, _WORST = 128, 2500, 10
_SIDE = 560


def page(found: Quantized, file: str, size: int) -> bytes:
    """The page. It has no scripts and no external files; text from the model is escaped."""
    layers, findings = found.diagnosis.layers, found.diagnosis.findings
    most = max((min(layer.own, 60.0) for layer in layers), default=1.0)
    places = {finding.place for finding in findings if finding.weight > _MILD}
    test = found.score
    return environment.render(
        "quantization.html.j2",
        name=escape(found.graph.name),
        samples=found.samples,
        recipe=escape(str(found.judged.recipe)),
        file=escape(file),
        size=f"{size:,}",
        findings=[_finding(finding) for finding in findings],
        pruned=None if found.pruned is None else _pruned(found.pruned),
        trials=[_trial(k, trial) for k, trial in enumerate(found.judged.trials)],
        most=num(most),
        layers=[_layer(layer, most, layer.name in places) for layer in layers],
        test=None if test is None else _test(test),
        confusion=None if test is None or test.confusion is None else _confusion(test.confusion),
    )


def noise(found: Quantized) -> tuple[NoiseFacts, ...]:
    """Noise of the layers of a model that a build quantized, for report.json."""
    return tuple(NoiseFacts(f.name, _stored(f), f.own, f.total, f.saturated) for f in found.diagnosis.layers)


def _stored(layer: LayerFacts) -> str:
    return f"{layer.dtype}, weights s{layer.weight_bits}" if layer.weight_bits else layer.dtype


def _finding(finding: Finding) -> Mapping[str, Any]:
    remedy = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(finding.remedy))
    text = escape(finding.text) + ("" if finding.text.endswith("?") else ".")
    return {"place": escape(finding.place), "text": text, "remedy": remedy, "mild": finding.weight <= _MILD}


def _trial(k: int, trial: Trial) -> Mapping[str, Any]:
    kept = "" if not k else "kept" if trial.kept else "left out"
    gain = f"{trial.gain:+.2f} dB" if k else ""
    return {"step": escape(trial.step), "score": f"{trial.score:.2f}", "gain": gain, "kept": kept}


def _pruned(pruned: Pruned) -> Mapping[str, Any]:
    """Channels removed, and the accuracy lost by the removal."""
    left = ", ".join(f"{name} {after} of {before}" for name, before, after in pruned.layers)
    work = f"{pruned.after:,} multiply-accumulates of {pruned.before:,}"
    stages = [
        {
            "step": s.step,
            "sqnr": f"{s.sqnr:.2f}",
            "worth": "" if s.worth is None else f"{s.worth:.4g}",
            "kept": "kept" if s.kept else "",
        }
        for s in pruned.stages
    ]
    text = escape(f"{work}. Channels that are left: {left}." if left else f"{work}: no channel had to go.")
    return {"text": text, "judged_on": pruned.judged_on, "stages": stages}


def _layer(layer: LayerFacts, most: float, is_bad: bool) -> Mapping[str, Any]:
    balancing = "" if layer.obstacle is None else f"no: {layer.obstacle}" if layer.obstacle else "possible"
    before = f"{layer.given.ratio:,.1f} → " if round(layer.given.ratio, 1) != round(layer.channels.ratio, 1) else ""
    return {
        "name": escape(layer.name),
        "source": escape(layer.source),
        "operator": escape(layer.operator),
        "stored": _stored(layer),
        "own": f"{layer.own:.1f}",
        "total": f"{layer.total:.1f}",
        "own_width": num(100 * min(1.0, max(layer.own, 0.0) / most)),
        "total_width": num(100 * min(1.0, max(layer.total, 0.0) / most)),
        "range": f"{layer.low:.3g} to {layer.high:.3g}",
        "used": f"{100 * layer.used:.0f} %",
        "saturated": f"{100 * layer.saturated:.2f} %" if layer.saturated else "0",
        "steps": f"{layer.steps:,} of {layer.all_steps:,}",
        "ratio": f"{before}{layer.channels.ratio:,.1f}",
        "dead": f"{layer.channels.dead} of {layer.channels.count}" if layer.channels.dead else "0",
        "balancing": escape(balancing),
        "bad": is_bad,
    }


def _test(test: Score) -> Mapping[str, Any]:
    rows = [{"title": escape(c.title), "before": number(c.before), "after": number(c.after)} for c in test.compared]
    return {"samples": test.samples, "sqnr": f"{test.sqnr:.1f}", "rows": rows}


def _confusion(matrix: np.ndarray) -> Mapping[str, Any]:
    """The confusion matrix as a picture of its nonzero cells, and the pairs of classes confused most."""
    count = len(matrix)
    cell = _SIDE / count
    rows = np.maximum(matrix.sum(axis=1), 1)
    every = sorted(zip(*np.nonzero(matrix), strict=True), key=lambda at: (-matrix[at], at))
    shown = every[:_MOST_CELLS] if count <= _MOST_CLASSES else []
    cells = [
        {
            "x": num(column * cell),
            "y": num(row * cell),
            "kind": "cell" if row == column else "miss",
            "share": f"{max(0.08, matrix[row, column] / rows[row]):.2f}",
            "title": f"{matrix[row, column]} of {rows[row]} samples of class {row} answered {column}",
        }
        for row, column in shown
    ]
    step = max(1, -(-count // 20))
    marks = [
        {"label": k, "middle": num((k + 0.5) * cell), "end": num((k + 0.5) * cell + 4)} for k in range(0, count, step)
    ]
    worst = [(row, column, matrix[row, column]) for row, column in every if row != column][:_WORST]
    around = _SIDE + 40
    return {
        "cells": cells,
        "marks": marks,
        "worst": worst,
        "cell": num(cell),
        "side": _SIDE,
        "width": around,
        "shown": around,
    }
