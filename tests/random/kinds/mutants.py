# SPDX-License-Identifier: Apache-2.0
"""Damaged files of all formats. What is imported must run without a fault; no runtime need take it."""

from __future__ import annotations

import numpy as np

from mcugen.ir.graph import Graph
from tests.random import mutants
from tests.random.drawing import Drawn, Sets, options

LIKELY = 1.0
LOADS = ("onnxruntime",)


def draw(seed: int) -> Drawn:
    what, name, data = mutants.draw(seed)
    return Drawn(f"damaged {what}", name, data, (), options(np.random.default_rng([seed, 1])))


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    """Never differs: no runtime need accept a damaged file."""
    return ""
