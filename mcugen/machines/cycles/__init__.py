"""Estimates of cycles: the time of the counted instructions on a core, as an interval."""

from __future__ import annotations

from mcugen.machines.cycles.core_model import CycleModel, load
from mcugen.machines.cycles.estimate import Estimator, Interval

__all__ = ["CycleModel", "Estimator", "Interval", "load"]
