"""Normalization of int8 rows and groups, four bytes at a time."""

from __future__ import annotations

from dataclasses import replace

from mcugen.kernels.dsp import scaling
from mcugen.ops.normalization import Normalization

KERNELS = tuple(
    replace(kernel, symbol=f"{kernel.symbol}__dsp", needs=scaling.DSP)
    for kernel in Normalization.kernels
    if kernel.symbol in ("mg_norm_even_s8", "mg_norm_s8", "mg_norm_groups_s8")
)
