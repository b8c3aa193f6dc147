"""The result of an evaluation: text for people, values with stable names for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.samples import metrics
from mcugen.system import tabular
from mcugen.verify.check_report import simulate_dict
from mcugen.verify.evaluation.scoring import Evaluation

_SHOWN_CLASSES = 20
_SHOWN_PAIRS = 10
_EXACT = "equal to the reference in every bit"


def as_dict(result: Evaluation) -> dict[str, Any]:
    """The result as a dictionary with stable keys for JSON."""
    return {
        "name": result.name,
        "board": result.board,
        "samples": result.samples,
        "scores": dict(result.scores),
        "confusion": None if result.confusion is None else result.confusion.tolist(),
        "seconds": result.seconds,
        "samples_per_second": _per_second(result),
        "ran_as": result.ran_as,
        "emulated": None if result.emulated is None else simulate_dict(result.emulated),
        "answers": [{"label": label, "answer": answer} for label, answer in result.answers],
        "notes": list(result.notes),
    }


def as_parts(result: Evaluation) -> tabular.Parts:
    """Scores, then speed, then the confusion of classes."""
    single = {name: value for name, value in result.scores.items() if not isinstance(value, tuple)}
    scores = ", ".join(f"{name} {metrics.shown(name, value)}" for name, value in single.items())
    lines = [f"{result.called}: {scores} on {result.samples:,} samples"]
    lines += [f"  {name}: {metrics.shown(name, value)}" for name, value in result.scores.items() if name not in single]
    lines += [f"  note: {note}" for note in result.notes]
    lines.append(f"  this machine  {_per_second(result):>12,.0f} samples per second ({result.ran_as})")
    lines += _emulated(result)
    return lines if result.confusion is None else [*lines, *_confusion(result.confusion)]


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
    if result.answers:
        right = sum(label == answer for label, answer in result.answers)
        labels, answers = (" ".join(str(pair[k]) for pair in result.answers) for k in (0, 1))
        lines += [f"  labels        {labels}", f"  classes there {answers}: {right} of {len(result.answers)} right"]
    return lines


def _confusion(matrix: np.ndarray) -> tabular.Parts:
    """The whole matrix if there are few classes, otherwise the pairs confused most."""
    if len(matrix) > _SHOWN_CLASSES:
        return _pairs(matrix)
    answers = (tabular.TableColumn(str(k), right=True) for k in range(len(matrix)))
    columns = (tabular.TableColumn("label", right=True), *answers, tabular.TableColumn("right", right=True))
    rows = [(str(label), *(str(n) if n else "." for n in row), _share(row, label)) for label, row in enumerate(matrix)]
    return ["", "  label, and what was answered", tabular.TextTable(columns, tuple(rows))]


def _share(row: np.ndarray, label: int) -> str:
    return f"{100 * row[label] / row.sum():.2f} %" if row.sum() else ""


def _pairs(matrix: np.ndarray) -> tabular.Parts:
    wrong = matrix * (1 - np.eye(len(matrix), dtype=matrix.dtype))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_SHOWN_PAIRS]
    pairs = [divmod(int(k), len(matrix)) for k in order]
    rows = [(str(label), str(answer), f"{wrong[label, answer]:,}") for label, answer in pairs if wrong[label, answer]]
    columns = tuple(tabular.TableColumn(head, right=True) for head in ("label", "taken for", "samples"))
    return ["", "  most frequent errors", tabular.TextTable(columns, tuple(rows))] if rows else []
