"""The result of an evaluation: text for people, values with stable names for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.evaluation.run import Evaluation
from mcugen.verify.report import simulate_dict

_SHOWN_CLASSES = 20
_SHOWN_PAIRS = 10
_EXACT = "equal to the reference in every bit"


def as_dict(result: Evaluation) -> dict[str, Any]:
    """Stable keys: name, board, samples, scores, confusion, seconds, samples_per_second, emulated."""
    return {
        "name": result.name,
        "board": result.board,
        "samples": result.samples,
        "scores": dict(result.scores),
        "confusion": None if result.confusion is None else result.confusion.tolist(),
        "seconds": result.seconds,
        "samples_per_second": _per_second(result),
        "emulated": None if result.emulated is None else simulate_dict(result.emulated),
        "notes": list(result.notes),
    }


def as_text(result: Evaluation) -> str:
    """Scores first, then speed, then which classes are taken for which."""
    scores = ", ".join(f"{name} {_number(name, value)}" for name, value in result.scores.items())
    lines = [f"{result.name}: {scores} on {result.samples:,} samples"]
    lines += [f"  note: {note}" for note in result.notes]
    lines.append(f"  this machine  {_per_second(result):>12,.0f} samples per second")
    lines += _emulated(result)
    if result.confusion is not None:
        lines += ["", *_confusion(result.confusion)]
    return "\n".join(lines) + "\n"


def _number(name: str, value: float) -> str:
    return f"{100 * value:.2f} %" if name == "top1" else f"{value:.6g}"


def _per_second(result: Evaluation) -> float:
    return result.samples / max(result.seconds, 1e-9)


def _emulated(result: Evaluation) -> list[str]:
    found = result.emulated
    if found is None:
        return []
    same = (_EXACT if found.exact else "within the tolerance of the reference") if result.agrees else "DIFFERS"
    lines = [f"  {found.board:<12}  {found.instructions:>12,} instructions for a sample, counted"]
    if found.cycles and found.clock_hz:
        low, high = (found.clock_hz / cycles for cycles in (found.cycles.high, found.cycles.low))
        lines.append(f"{'':<14}  {low:>12,.4g} to {high:,.4g} samples per second, estimated")
    lines.append(f"{'':<14}  {found.verdict.cases:>12,} samples run there: outputs {same}")
    return lines


def _confusion(matrix: np.ndarray) -> list[str]:
    """The matrix of few classes; of many the pairs that are confused most."""
    if len(matrix) > _SHOWN_CLASSES:
        return _pairs(matrix)
    wide = max(len(str(matrix.max())), len(str(len(matrix) - 1))) + 1
    head = "".join(f"{k:>{wide}}" for k in range(len(matrix)))
    rows = [
        f"  {label:>5}{''.join(f'{n:>{wide}}' if n else ' ' * (wide - 1) + '.' for n in row)}  {_share(row, label)}"
        for label, row in enumerate(matrix)
    ]
    return ["  label, and what was answered", f"  {'':>5}{head}", *rows]


def _share(row: np.ndarray, label: int) -> str:
    return f"{100 * row[label] / row.sum():6.2f} %" if row.sum() else ""


def _pairs(matrix: np.ndarray) -> list[str]:
    wrong = matrix * (1 - np.eye(len(matrix), dtype=matrix.dtype))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_SHOWN_PAIRS]
    pairs = [divmod(int(k), len(matrix)) for k in order]
    lines = [
        f"  {label:>5} taken for {answer:<5} {wrong[label, answer]:>6,}"
        for label, answer in pairs
        if wrong[label, answer]
    ]
    return ["  most frequent errors", *lines] if lines else []
