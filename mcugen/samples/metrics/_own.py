"""A function of the user's as a metric: FILE.py:FUNCTION."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples.labels import Ragged, Truth
from mcugen.samples.metrics import WHERE, Interface, Metric, Outputs, Scores


def metric_of(text: str, known: Sequence[str]) -> Metric:
    """The metric FILE.py:FUNCTION. The function takes outputs and labels, and returns a number or a dict of numbers.

    Raises UsageError. known: names of the other metrics.
    """
    file, _, name = text.rpartition(":")
    if not file.endswith(".py"):
        hint = f"give {', '.join(known)}, or a function of yours as FILE.py:FUNCTION"
        raise UsageError(f"{text!r} is not a metric", where=WHERE, hint=hint)
    function = getattr(_module(Path(file)), name, None)
    if not callable(function):
        raise UsageError(f"{file} has no function {name!r}", where=WHERE, hint="define it, taking outputs and labels")
    return Metric(
        name,
        lambda truth, network: False,
        lambda truth, network: None,
        partial(_scores, function, name, file),
        {},
    )


def _scores(function: Any, name: str, file: str, outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    labels = {key: truth.rows(key) for key in truth.parts} if isinstance(truth, Ragged) else truth
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


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("mcugen_metric", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise UsageError(f"there is no file {str(file)!r}", where=WHERE, hint="check the path")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        message = f"{file} fails at import: {type(error).__name__}: {error}"
        raise UsageError(message, where=WHERE, hint="correct the file") from error
    return module
