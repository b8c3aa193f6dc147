"""Cycle estimates: turns counted instructions into an interval of cycles on a core."""

from __future__ import annotations

from mcugen.machines.cycles.core_model import CycleModel, load
from mcugen.machines.cycles.estimate import Estimator, Interval

__all__ = ["CycleModel", "Estimator", "Interval", "load"]
