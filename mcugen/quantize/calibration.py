"""Statistics of the float tensors, stored in a calibration cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.quantize import cache
from mcugen.quantize.activation_ranges import Observed
from mcugen.quantize.float_values import FloatRun


def calibrated(floats: FloatRun, path: Path, model_sha256: str, samples_sha256: str) -> FloatRun:
    """The float network with the overrides of a calibration cache; writes the file `path` if it does not exist.

    Raises UsageError for a cache of another model or other samples, and for names that the model does not have.
    """
    names = _labels(floats)
    if not path.exists():
        spreads = {label: _spread(floats.observed()[name]) for label, name in names.items()}
        cache.write(path, cache.Cache(model_sha256, samples_sha256, spreads))
        return floats
    found = cache.read(path, model_sha256, samples_sha256).spreads
    overrides = {label: spread.override for label, spread in found.items() if spread.override is not None}
    unknown = sorted(set(overrides) - set(names))
    if unknown:
        hint = "correct the name: the file that mcugen writes lists all; a tensor inside a fused layer has none"
        raise UsageError(f"the model has no tensor {unknown[0]!r} to override", where=str(path), hint=hint)
    return replace(floats, overrides={names[label]: bounds for label, bounds in overrides.items()})


def _labels(floats: FloatRun) -> dict[str, str]:
    """Label -> tensor. A label is the tensor's name in the model file, made unique."""
    found: dict[str, str] = {}
    for name in floats.observed():
        label = floats.graph.tensors[name].label or name
        found[label if label not in found else f"{label}#{name}"] = name
    return found


def _spread(seen: Observed) -> cache.Spread:
    points = np.clip(np.percentile(seen.values, cache.POINTS), seen.low, seen.high)
    return cache.Spread(seen.low, seen.high, tuple(float(p) for p in points), seen.count)
