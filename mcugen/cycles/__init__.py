"""Estimates of cycles: what a core takes for the instructions that were counted, as an interval."""

from __future__ import annotations

from mcugen.cycles.estimate import Estimator, Interval
from mcugen.cycles.model import Model, load

__all__ = ["Estimator", "Interval", "Model", "load"]
