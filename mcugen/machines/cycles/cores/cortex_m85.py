"""Cortex-M85: no cycle counts are published; those of Cortex-M55 stand in, and are on the slow side."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.cores.cortex_m55 import MODEL as M55

MODEL = replace(
    M55,
    core="cortex-m85",
    note="Arm publishes no cycle counts for Cortex-M85: those of Cortex-M55 stand in, which issues fewer at once",
)
