"""What a choice of bits found, as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from mcugen.mixed.loss import CLASSES, Loss
from mcugen.mixed.plan import Chosen
from mcugen.mixed.search import Point

_RULES = {
    CLASSES: "half of the share of samples whose top class changes",
    "error": "squared error over squared output",
}


def as_text(found: Chosen) -> str:
    """The assignment that was chosen, and the fronts."""
    board = found.wish.options.board
    lines: list[str] = []
    for kind, points in found.fronts.items():
        lines.append(f"{kind} from narrow to wide, for {board}; loss: {_rule(found.loss)}")
        lines.append(f"  {'constants':>10} {'RAM':>8} {'time':>12} {'SQNR':>9} {'loss':>7}  bits")
        lines += [_row(kind, point) for point in points]
    if found.point is not None:
        cost = found.point.cost
        lines.append(
            f"chosen for {board}: {cost.flash:,} bytes of constants in the file, {cost.built:,} in the C, "
            f"{cost.ram:,} of RAM, time {cost.time:,.0f}; "
            f"{found.point.loss:.2f} % lost on samples held out ({_rule(found.loss)})"
        )
    return "\n".join(lines) + "\n" if lines else ""


def as_dict(found: Chosen) -> dict[str, Any]:
    """The same as values for JSON."""
    return {
        "board": found.wish.options.board,
        "loss": _rule(found.loss),
        "chosen": None if found.point is None else _values(found.point),
        "fronts": {kind: [_values(point) for point in points] for kind, points in found.fronts.items()},
    }


def _rule(loss: Loss | None) -> str:
    return "" if loss is None else _RULES[loss.kind]


def _values(point: Point) -> dict[str, Any]:
    widths = point.widths
    bits = {"weights": dict(widths.weights_of), "activations": dict(widths.activations_of)}
    return {**asdict(point.cost), "sqnr_db": point.sqnr, "loss_percent": point.loss, "bits": bits}


def _row(kind: str, point: Point) -> str:
    cost, widths = point.cost, point.widths
    bits = widths.weights_of if kind == "weights" else widths.activations_of
    few = 4 if kind == "weights" else 16
    count = sum(b == few for _, b in bits)
    return (
        f"  {cost.flash:>10,} {cost.ram:>8,} {cost.time:>12,.0f} {point.sqnr:>6.1f} dB {point.loss:>5.2f} %"
        f"  {count} of {len(bits)} layers with {few} bits"
    )
