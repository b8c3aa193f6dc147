# SPDX-License-Identifier: Apache-2.0
"""Random .tflite networks, judged by TensorFlow Lite Micro and LiteRT: integers bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.machines.toolchain.runtimes import Answer, Runtime
from mcugen.oracle import interpreter
from tests.random import tflite_networks
from tests.random.drawing import Drawn, Sets, UnjudgedError, options
from tests.random.tflite_networks import Network
from tests.runtimes.judging import REFERENCES, compared, widened

LIKELY = 0.25
_STEP = 0.05
"""Tolerance of floats that are quantized from run to run, as a share of the largest: a last bit may become a step."""


_UNDEFINED = {"tflm": "SPACE_TO_BATCH_ND f"}
"""Runtime: the beginning of labels of models that it pads with bytes that it never wrote."""


@dataclass(frozen=True, eq=False)
class _Drawn(Drawn):
    network: Network | None = None


def draw(seed: int) -> Drawn:
    rng = np.random.default_rng([seed, 5])
    network = tflite_networks.draw(seed)
    found = network.drawn
    choices = {**options(rng), "reference": str(rng.choice(REFERENCES))}
    sets = [[widened(a) for a in arrays] for arrays in found.sets]
    return _Drawn(found.label, "net.tflite", found.model, sets, choices, network=network)


@cache
def _runtime(name: str) -> Runtime:
    """One process for all models."""
    return Runtime(name)


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    """The first difference from a runtime, or a refusal of one that mcugen does not foresee."""
    network = drawn.network if isinstance(drawn, _Drawn) else None
    assert network is not None
    sets, found, ran = network.drawn.sets, [], False
    for which in REFERENCES:
        answer = _runtime(which).run(drawn.data, sets, follow=network.follow)
        ran |= not answer.refused
        found += _compared(network, graph, which, answer, drawn.sets)
    if not ran and not found:
        raise UnjudgedError("both runtimes refuse it")
    return "; ".join(found)


def _compared(network: Network, graph: Graph, which: str, answer: Answer, sets: Sets) -> list[str]:
    undefined = network.drawn.label.startswith(_UNDEFINED.get(which, "-")) or answer.crashed
    if network.kind == "custom" or undefined or (network.kind == "hybrid recurrent" and graph.refusals[which]):
        return []
    if answer.refused:  # the oracle has no bits to give either
        return compared(graph, which, network.drawn.sets, answer, [])
    alone = (interpreter.run(graph, a, which) for a in sets)
    values = interpreter.runs(graph, sets, which) if network.follow else alone
    got = [[value[name] for name in graph.outputs] for value in values]
    if network.kind != "hybrid recurrent":
        return compared(graph, which, network.drawn.sets, answer, got)
    return [f"{which}: {text}" for a, b in zip(got, answer.outputs, strict=True) if (text := _far(a, b))][:1]


def _far(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> str:
    for a, b in zip(got, want, strict=True):
        size = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
        if a.shape != b.shape or not np.isclose(a, b, rtol=0.0, atol=_STEP * size, equal_nan=True).all():
            return f"{a.reshape(-1)[:6]} is not {b.reshape(-1)[:6]}"
    return ""
