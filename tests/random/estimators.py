# SPDX-License-Identifier: Apache-2.0
"""Estimators with random settings: how each is made, and how it becomes ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

ROWS = 60
Maker = Callable[["Settings"], Any]


class UnfitError(Exception):
    """The settings do not go together, or the converter does not take them: others are drawn."""


@dataclass
class Settings:
    """Draws settings and notes them; also the data to train on.

    task: "classify", "regress" or "none", set by the maker.
    """

    rng: np.random.Generator
    task: str = "none"
    text: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def pick(self, name: str, choices: Sequence[Any]) -> Any:
        value = choices[int(self.rng.integers(len(choices)))]
        self.text += f" {name}={getattr(value, '__name__', value)}"
        return value

    def number(self, low: float, high: float) -> float:
        return float(np.round(np.exp(self.rng.uniform(np.log(low), np.log(high))), 4))

    def seed(self) -> int:
        return int(self.rng.integers(2**31))


_KNOWN: dict[str, tuple[str, Maker]] = {}


def estimator(task: str) -> Callable[[Maker], Maker]:
    """Marks a function that makes an estimator of its name."""

    def note(make: Maker) -> Maker:
        _KNOWN[make.__name__] = task, make
        return make

    return note


@cache
def known() -> dict[str, Maker]:
    """The functions that make estimators, by name."""
    from tests.random import sklearn_estimators  # noqa: F401 - it marks them

    return {name: _with_task(task, make) for name, (task, make) in sorted(_KNOWN.items())}


def _with_task(task: str, make: Maker) -> Maker:
    def made(settings: Settings) -> Any:
        settings.task = task
        return make(settings)

    return made


def converted(settings: Settings, make: Maker) -> tuple[bytes, np.ndarray]:
    """The ONNX file of a trained estimator, and rows [n, features] to try. Raises UnfitError."""
    rng = settings.rng
    width = int(rng.integers(2, 8))
    x = rng.normal(0, 1.5, (ROWS, width)).astype(np.float32)
    model = make(settings)
    if settings.options.pop("positive", False):
        x = np.abs(x)
    if settings.options.pop("steps", False):
        x = np.round(x)
    target = _target(settings, x)
    try:
        model.fit(x, target)
        data = _onnx(settings, model, width)
    except Exception as error:
        raise UnfitError(f"{type(error).__name__}: {error}") from error
    fresh = x + rng.normal(0, 0.1, x.shape).astype(np.float32)
    rows = x if settings.options.get("as trained") else np.concatenate([x, np.abs(fresh) if x.min() >= 0 else fresh])
    return data, rows.astype(np.float32)


def _target(settings: Settings, x: np.ndarray) -> np.ndarray | None:
    if settings.task == "none":
        return None
    score = x @ settings.rng.normal(size=x.shape[1]) + 0.2 * settings.rng.normal(size=len(x))
    if settings.task == "regress":
        return score.astype(np.float32)
    classes = settings.pick("classes", (2, 3, 4))
    labels = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    texts = settings.options.get("texts", False) and settings.rng.random() < 0.3
    return np.array(["no", "yes", "maybe", "more"])[labels] if texts else labels


def _onnx(settings: Settings, model: Any, width: int) -> bytes:
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType

    kind = type(model).__module__.split(".")[0]
    types = [("x", FloatTensorType([1, width]))]
    opset = int(settings.rng.integers(12, 20))
    settings.text += f" opset={opset}"
    if kind in ("lightgbm", "xgboost"):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType as Floats

        types = [("x", Floats([1, width]))]
        convert = onnxmltools.convert_lightgbm if kind == "lightgbm" else onnxmltools.convert_xgboost
        return bytes(convert(model, initial_types=types, target_opset=min(opset, 15)).SerializeToString())
    zipmap = settings.options.get("zipmap", True)
    more = (
        {"options": {"zipmap": settings.pick("zipmap", (False, True))}}
        if settings.task == "classify" and zipmap
        else {}
    )
    return bytes(
        to_onnx(model, initial_types=types, target_opset={"": opset, "ai.onnx.ml": 3}, **more).SerializeToString()
    )
