"""Runs generated C on this computer: compiled once as a shared library, and called with NumPy arrays."""

from __future__ import annotations

from mcugen.machines.native.ends import End
from mcugen.machines.native.model import Model, all_of

__all__ = ["End", "Model", "all_of"]
