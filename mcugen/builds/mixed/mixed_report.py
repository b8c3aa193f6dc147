"""Report on mixed precision, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mcugen.builds.mixed.by_noise import NoiseChoice
from mcugen.builds.mixed.loss import CLASSES, Loss
from mcugen.builds.mixed.plan import BitsChooser
from mcugen.builds.mixed.search import BitsPoint
from mcugen.system import tabular

_RULES = {
    CLASSES: "half of the share of samples whose top class changes",
    "error": "squared error over squared output",
}


def as_parts(found: BitsChooser) -> tabular.Parts:
    """The chosen assignment, and the Pareto fronts."""
    board = found.request.options.board
    parts: list[str | tabular.TextTable] = []
    if found.by_noise is not None:
        choice = found.by_noise
        parts.append(
            f"{len(choice.tensors)} tensors in 16 bits by their noise, {choice.sqnr:.1f} dB on samples held out, "
            f"{choice.predicted:.1f} dB predicted: {', '.join(t.label for t in choice.tensors)}"
        )
    if found.point is not None:
        cost = found.point.cost
        parts.append(
            f"chosen for {board}: {cost.flash:,} bytes of constants in the file, {cost.built:,} in the C, "
            f"{cost.ram:,} of RAM, time {cost.time:,.0f}; "
            f"{found.point.loss:.2f} % lost on samples held out ({_rule(found.loss)})"
        )
    for kind, points in found.fronts.items():
        parts.append(f"{kind}: more SQNR for more bytes or time, on {board}; loss: {_rule(found.loss)}")
        parts.append(_front(kind, points))
    return parts


def _front(kind: str, points: Sequence[BitsPoint]) -> tabular.TextTable:
    few = 4 if kind == "weights" else 16
    heads = ("constants", "RAM", "time", "SQNR", "loss", f"layers with {few} bits")
    rows = []
    for point in points:
        cost, widths = point.cost, point.widths
        bits = widths.weights_of if kind == "weights" else widths.activations_of
        count = sum(b == few for _, b in bits)
        figures = (
            f"{cost.flash:,}",
            f"{cost.ram:,}",
            f"{cost.time:,.0f}",
            f"{point.sqnr:.1f} dB",
            f"{point.loss:.2f} %",
        )
        rows.append((*figures, f"{count} of {len(bits)}"))
    return tabular.TextTable(tuple(tabular.TableColumn(head, right=True) for head in heads), tuple(rows))


def as_dict(found: BitsChooser) -> dict[str, Any]:
    """The result as plain values for JSON."""
    return {
        "board": found.request.options.board,
        "loss": _rule(found.loss),
        "chosen": None if found.point is None else _values(found.point),
        "by_noise": None if found.by_noise is None else _noise_values(found.by_noise),
        "fronts": {kind: [_values(point) for point in points] for kind, points in found.fronts.items()},
    }


def _rule(loss: Loss | None) -> str:
    return "" if loss is None else _RULES[loss.kind]


def _noise_values(choice: NoiseChoice) -> dict[str, Any]:
    tensors = [{"tensor": t.label, "noise": t.noise} for t in choice.tensors]
    return {"tensors": tensors, "predicted_db": choice.predicted, "sqnr_db": choice.sqnr}


def _values(point: BitsPoint) -> dict[str, Any]:
    widths = point.widths
    bits = {"weights": dict(widths.weights_of), "activations": dict(widths.activations_of)}
    return {**asdict(point.cost), "sqnr_db": point.sqnr, "loss_percent": point.loss, "bits": bits}
