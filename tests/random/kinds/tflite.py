# SPDX-License-Identifier: Apache-2.0
"""Random .tflite networks, judged by TensorFlow Lite Micro and LiteRT: integers bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.machines.toolchain.runtimes import Answer, Runtime
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.hybrid_lstm import HybridLstm
from mcugen.ops.hybrid_rnn import HybridRnn
from mcugen.ops.reshape import Reshape
from mcugen.ops.reverse import Reverse
from mcugen.ops.transpose import Transpose
from mcugen.oracle import interpreter
from mcugen.verify import rebased
from tests.random import tflite_networks
from tests.random.drawing import Drawn, Sets, UnjudgedError, options
from tests.random.tflite_networks import Network
from tests.runtimes.judging import REFERENCES, compared, widened

LIKELY = 0.25
_CLOSE = 1e-5
"""Tolerance of a recurrent layer's floats, as a share of the largest."""

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
    if network.kind == "hybrid recurrent":
        return _recurrent(graph, which, sets, answer)
    alone = (interpreter.run(graph, a, which) for a in sets)
    values = interpreter.runs(graph, sets, which) if network.follow else alone
    got = [[value[name] for name in graph.outputs] for value in values]
    return compared(graph, which, network.drawn.sets, answer, got)


def _recurrent(graph: Graph, which: str, sets: Sets, answer: Answer) -> list[str]:
    """The first difference of runs one after the other; each step is computed from the state that the runtime had."""
    states: dict[str, np.ndarray] | None = None
    for k, (inputs, outputs) in enumerate(zip(sets, answer.outputs, strict=True)):
        values = rebased.run(graph, inputs, which, states, seen := _layers(graph, outputs))
        names = (*graph.outputs, *seen)
        if text := _far([values[name] for name in names], [*outputs, *seen.values()]):
            return [f"{which} run {k}: {text}"]
        states = {s.before: seen.get(s.after, values[s.after]) for s in graph.states}
    return []


def _layers(graph: Graph, outputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """The results of recurrent layers of a runtime, taken from its outputs; and the state that each layer leaves."""
    known = dict(zip(graph.outputs, outputs, strict=True))
    seen: dict[str, np.ndarray] = {}
    for node in reversed(graph.nodes):
        y = known.get(node.outputs[0])
        if y is not None and isinstance(node.op, HybridLstm | HybridRnn):
            seen |= {node.outputs[0]: y, node.outputs[1]: y[-1]}
        elif y is not None:
            known |= zip((name or "" for name in node.inputs), _operands(node, graph, y), strict=False)
    return seen


def _operands(node: Node, graph: Graph, y: np.ndarray) -> list[np.ndarray]:
    """The operands of a node that only moves elements, from its result; [] for other nodes."""
    types = [graph.type(name) for name in node.inputs if name is not None]
    match node.op:
        case Transpose(perm):
            return [np.transpose(y, np.argsort(perm))]
        case Reverse(axes):
            return [np.flip(y, axes)]
        case Reshape():
            return [y.reshape(types[0].shape)]
        case Concatenation(axis):
            return np.split(y, np.cumsum([t.shape[axis] for t in types])[:-1], axis)
    return []


def _far(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> str:
    for a, b in zip(got, want, strict=True):
        size = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
        if a.shape != b.shape or not np.isclose(a, b, rtol=0.0, atol=_CLOSE * size, equal_nan=True).all():
            return f"{a.reshape(-1)[:6]} is not {b.reshape(-1)[:6]}"
    return ""
