"""Cortex-M85: the costs of Cortex-M55, since Arm publishes none. They err on the slow side."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.cores.cortex_m55 import MODEL as M55

MODEL = replace(
    M55,
    core="cortex-m85",
    note="Arm publishes no cycle counts for Cortex-M85: estimates use the slower Cortex-M55",
)
