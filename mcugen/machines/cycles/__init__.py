"""Estimates of cycles: the time of the counted instructions on a core, as an interval."""

from __future__ import annotations

from mcugen.machines.cycles.estimate import Estimator, Interval
from mcugen.machines.cycles.model import CycleModel, load

__all__ = ["CycleModel", "Estimator", "Interval", "load"]
