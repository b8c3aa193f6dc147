"""Scores of outputs against labels: of classes, of target values, or by a function of the user's."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.errors import UsageError
from mcugen.machines.native import Model
from mcugen.quantize.scores import are_classes

WHERE = "--metric"
_MOST_CLASSES_OF_ONE = 2
_HALF = 0.5

Metric = Callable[[tuple[np.ndarray, ...], np.ndarray], Mapping[str, float]]
"""Gives scores by name. Arguments: the outputs as real numbers, [n, ...] each; the labels."""
Answers = Callable[[tuple[np.ndarray, ...]], np.ndarray]


def chosen(text: str, labels: np.ndarray, model: Model) -> tuple[Metric, Answers | None]:
    """The metric, and for classification the function that gives the class of each sample. Raises UsageError."""
    name = text or _fitting(labels, model)
    if name == "top1":
        if labels.ndim != 1 or labels.dtype.kind not in "iu":
            raise UsageError(
                "top1 needs a class per sample", where=WHERE, hint="use mse, or give a class per sample as label"
            )
        _refuse_others(labels, model)
        return _top1, _answers
    if name == "mse":
        return _mse, None
    return _own(name), None


def _refuse_others(labels: np.ndarray, model: Model) -> None:
    """Raise UsageError for a label that is not one of the model's classes."""
    count, greatest = int(np.prod(model.outputs[0].shape)), int(labels.max(initial=0))
    if count > 1 and greatest >= count:
        raise UsageError(
            f"a label is {greatest}, but the model's classes are 0 to {count - 1}",
            where=WHERE,
            hint="number the classes as the model does, from 0",
        )


def _fitting(labels: np.ndarray, model: Model) -> str:
    """The default metric: top1 for class labels, if the first output has a score per class, one score, or the class.
    Otherwise mse.
    """
    end = model.outputs[0]
    size = int(np.prod(end.shape))
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        return "mse"
    is_class = end.dtype.kind in "iub" and not end.is_quantized
    return "top1" if are_classes(labels, size) or is_class or int(labels.max()) < _MOST_CLASSES_OF_ONE else "mse"


def _answers(outputs: tuple[np.ndarray, ...]) -> np.ndarray:
    """The class of each sample: that of the greatest score; for a single score, whether it is at least 0.5; for an
    integer output, its value.
    """
    first = outputs[0].reshape(len(outputs[0]), -1)
    if first.shape[1] > 1:
        return np.asarray(first.argmax(axis=1))
    return first[:, 0].astype(np.int64) if first.dtype.kind in "iub" else (first[:, 0] >= _HALF).astype(np.int64)


def count_of_classes(outputs: tuple[np.ndarray, ...], labels: np.ndarray) -> int:
    """The number of classes that occur in outputs, labels and answers."""
    size = outputs[0].reshape(len(outputs[0]), -1).shape[1]
    return max(size, int(labels.max()) + 1, int(_answers(outputs).max()) + 1)


def _top1(outputs: tuple[np.ndarray, ...], labels: np.ndarray) -> Mapping[str, float]:
    return {"top1": float((_answers(outputs) == labels).mean())}


def _mse(outputs: tuple[np.ndarray, ...], labels: np.ndarray) -> Mapping[str, float]:
    found, wanted = (a.reshape(len(labels), -1).astype(np.float64) for a in (outputs[0], labels))
    if found.shape != wanted.shape:
        raise UsageError(
            f"there are {wanted.shape[1]} targets per sample, but the model has {found.shape[1]} outputs",
            where=WHERE,
            hint="give targets of the output's shape, or use top1",
        )
    return {"mse": float(((found - wanted) ** 2).mean())}


def _own(text: str) -> Metric:
    """The function FILE.py:FUNCTION as a metric. It takes outputs and labels, and returns a number or a dict of
    numbers.
    """
    file, _, name = text.rpartition(":")
    if not file.endswith(".py"):
        hint = "give top1, mse, or a function of yours as FILE.py:FUNCTION"
        raise UsageError(f"{text!r} is not a metric", where=WHERE, hint=hint)
    function = getattr(_module(Path(file)), name, None)
    if not callable(function):
        raise UsageError(f"{file} has no function {name!r}", where=WHERE, hint="define it, taking outputs and labels")

    def metric(outputs: tuple[np.ndarray, ...], labels: np.ndarray) -> Mapping[str, float]:
        try:
            found = function(outputs[0] if len(outputs) == 1 else outputs, labels)
            by_name = found if isinstance(found, Mapping) else {name: found}
            scores = {str(key): float(value) for key, value in by_name.items()}
        except Exception as error:
            raise UsageError(
                f"{name} of {file} raised {type(error).__name__}: {error}",
                where=WHERE,
                hint="it must take outputs as real numbers, [n, ...], and labels, and return a number",
            ) from error
        if not np.isfinite([*scores.values()]).all():
            hint = "let it return a finite number for these samples"
            raise UsageError(f"{name} of {file} gave {found}, which is not a number", where=WHERE, hint=hint)
        return scores

    return metric


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("mcugen_metric", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise UsageError(f"there is no file {str(file)!r}", where=WHERE, hint="check the path")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        message = f"{file} fails at import: {type(error).__name__}: {error}"
        raise UsageError(message, where=WHERE, hint="correct the file") from error
    return module
