# SPDX-License-Identifier: Apache-2.0
"""Damaged files of the other kinds: bytes flipped, cut off, or repeated. What is imported must run without a fault."""

from __future__ import annotations

import importlib

import numpy as np

from mcugen.graph import Graph
from tests.random.drawing import Drawn, Sets

LIKELY = 1.0
LOADS = ("onnxruntime",)
SOURCES = ("onnx",)
"""The kinds whose files are damaged."""


def draw(seed: int) -> Drawn:
    rng = np.random.default_rng([seed, 1])
    source = importlib.import_module(f"tests.random.kinds.{rng.choice(SOURCES)}").draw(seed)
    data = bytearray(source.data)
    if rng.random() < 0.2:
        data = data[: int(rng.integers(len(data)))]
    for place in rng.integers(0, len(data), rng.integers(1, 4)) if data else ():
        data[place] ^= 1 << int(rng.integers(8)) if rng.random() < 0.7 else int(rng.integers(1, 256))
    return Drawn(f"damaged {source.label}", source.file, bytes(data), (), source.choices)


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    """Nothing: no runtime need take a damaged file."""
    return ""
