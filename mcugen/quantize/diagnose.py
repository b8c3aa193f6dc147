"""Diagnosis: what integers lose in each layer of a network, measured on some of the samples.

A layer is computed twice: from the integers that reach it, and from float operands rounded just before it. The second
error is the layer's own noise; the rest of the first error comes from the layers before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.types import TensorType
from mcugen.quantize import batch_evaluation
from mcugen.quantize.activation_ranges import Observed
from mcugen.quantize.channel_streams import obstacle
from mcugen.quantize.effort import work
from mcugen.quantize.float_values import FloatRun, FloatWalk
from mcugen.quantize.noise import decibels, powers
from mcugen.quantize.scales import matters
from mcugen.quantize.stored_integers import to_real, to_steps

_MOST, _LEAST, _WORK = 16, 4, 6e8
"""Most and fewest samples to measure, and the most multiply-accumulates for more than the fewest."""
_ALIVE = 1e-6
_WEAK_DB = 10.0
_LEAST_DB, _MOST_DB = -60.0, 120.0


@dataclass(frozen=True)
class ChannelStatistics:
    """Statistics of the channels of a tensor.

    count: number of channels; dead: number of channels that are 0 in all samples; ratio: largest magnitude over the
    median magnitude of channels that are not dead; far: number of channels with over ten times this median magnitude
    """

    count: int
    dead: int
    ratio: float
    far: int


@dataclass(frozen=True)
class LayerFacts:
    """Measurements of a layer, or of an input of the network.

    name: name in the model file; operator: its class, "input" for an input; source: its position in the file
    reads: names of the layers whose results it reads; dtype: type of the result; weight_bits: 0 if none
    total, own: SQNR of the result in dB, from the integers that reach the layer, and from float operands rounded
    low, high: range of the float values; used: 99.9th percentile of the magnitudes / largest magnitude
    saturated: share of values outside the integers' range; steps: distinct integers in the result, of `all_steps`
    channels, given: statistics of its channels after and before equalization
    weak: number of channels whose own SQNR is below 10 dB
    obstacle: why its channels cannot be equalized, "" if they can; None without weights
    gain: growth of values, see `_gain`; None without weights
    bias: standard deviation of the sums / bias, of the median channel; None without biases
    still: whether the result is the same for all samples
    """

    name: str
    operator: str
    source: str
    reads: tuple[str, ...]
    dtype: str
    total: float
    own: float
    low: float
    high: float
    used: float
    saturated: float
    steps: int
    all_steps: int
    channels: ChannelStatistics
    given: ChannelStatistics
    weak: int = 0
    weight_bits: int = 0
    obstacle: str | None = None
    gain: float | None = None
    bias: float | None = None
    still: bool = False


def diagnosed(original: FloatRun, floats: FloatRun, graph: Graph) -> tuple[LayerFacts, ...]:
    """Facts of the inputs and layers of an integer network, in order; operators that only move data are left out.

    original, floats: the float network before and after equalization
    """
    return tuple(_Diagnosis(original, floats, graph).run())


def channels_of(seen: Observed) -> ChannelStatistics:
    """Statistics of the magnitudes of each channel."""
    reach = seen.channels
    alive = reach[reach > _ALIVE]
    if not alive.size:
        return ChannelStatistics(reach.size, reach.size, 1.0, 0)
    median = float(np.median(alive))
    return ChannelStatistics(
        reach.size, reach.size - alive.size, float(alive.max()) / median, int((alive > 10 * median).sum())
    )


def sqnr(real: np.ndarray, found: np.ndarray) -> float:
    """Signal-to-noise ratio in dB, from -60 to 120."""
    return max(float(decibels(powers([real], [found]).sum(axis=1), _MOST_DB)), _LEAST_DB)


@dataclass
class _Diagnosis:
    """Evaluation of the integer and the float network side by side, node by node."""

    original: FloatRun
    floats: FloatRun
    graph: Graph
    values: dict[str, np.ndarray] = field(default_factory=dict)

    def run(self) -> list[LayerFacts]:
        walk = self.floats.part(_chosen(self.floats)).walk()
        found = [self._input(name, walk) for name in self.graph.inputs]
        place = {node.name: k for k, node in enumerate(self.floats.graph.nodes)}
        last = {name: k for k, node in enumerate(self.graph.nodes) for name in node.inputs}
        for index, node in enumerate(self.graph.nodes):
            if node.name in place:
                walk.step(place[node.name])
            facts = self._node(node, walk)
            found += [] if node.op.only_moves else [facts]
            if node.name in place:
                walk.forget(place[node.name])
            for name in [name for name in self.values if last.get(name, -1) <= index]:
                del self.values[name]
        return [facts for facts in found if facts is not None]

    def _input(self, name: str, walk: FloatWalk) -> LayerFacts | None:
        t, real = self.graph.type(name), walk.value(name)
        self.values[name] = real if t.quant is None else to_steps(real, t)
        if t.quant is None:
            return None
        return self._facts(name, "input", "", (real, self.values[name], self.values[name]))

    def _node(self, node: Node, walk: FloatWalk) -> LayerFacts | None:
        """Compute a node. Returns its facts if it is a node of the float network with a quantized result, else None."""
        call = self.graph.call(node, self.floats.reference)
        results = batch_evaluation.results(call, [self._operand(name) for name in node.inputs])
        self.values.update(zip(node.outputs, results, strict=True))
        name = node.outputs[0]
        if name not in self.floats.graph.tensors or self.graph.type(name).quant is None:
            return None
        exact = batch_evaluation.results(call, [self._rounded(name, walk) for name in node.inputs])
        arrays = (walk.value(name), results[0], exact[0])
        facts = replace(self._facts(name, type(node.op).__name__, node.source, arrays), reads=self._read_by(node))
        return self._weighted(facts, node, walk) if node.op.met_axis is not None else facts

    def _read_by(self, node: Node) -> tuple[str, ...]:
        """Layers that a node reads, directly or through operators that only move data."""
        names = [n.partition("@")[0] for n in node.inputs if n is not None and not self._is_constant(n)]
        found: list[str] = []
        for name in names:
            maker = next((n for n in self.floats.graph.nodes if name in n.outputs), None)
            if maker is not None and maker.op.only_moves:
                found += self._read_by(maker)
            else:
                found.append(self._label(name, "" if maker is None else maker.source))
        return tuple(found)

    def _is_constant(self, name: str) -> bool:
        """Whether an operand is a constant of the integer or the float network, which may name it differently."""
        return any(g.tensors[name].is_constant for g in (self.graph, self.floats.graph) if name in g.tensors)

    def _label(self, name: str, source: str) -> str:
        return self.floats.graph.tensors[name].label or source or name

    def _operand(self, name: str | None) -> np.ndarray | None:
        if name is None:
            return None
        data = self.graph.tensors[name].data
        return self.values[name] if data is None else data

    def _rounded(self, name: str | None, walk: FloatWalk) -> np.ndarray | None:
        """The float value of an operand as integers."""
        if name is None or self.graph.tensors[name].data is not None:
            return self._operand(name)
        real, t = walk.value(name.partition("@")[0]), self.graph.type(name)
        return real if t.quant is None else to_steps(real, t)

    def _weighted(self, facts: LayerFacts, node: Node, walk: FloatWalk) -> LayerFacts:
        """`facts` of a layer with weights, completed by the fields that only such layers have."""
        name, reference = node.outputs[0], self.floats.reference
        given = next(n for n in self.original.graph.nodes if n.name == node.name)
        call = self.floats.graph.call(next(n for n in self.floats.graph.nodes if n.name == node.name), reference)
        seen, weights = self.floats.observed().get(str(given.inputs[0])), self.graph.type(str(node.inputs[1]))
        sums = walk.sums(name)
        return replace(
            facts,
            weight_bits=8 if weights.dtype == "s8" else 4,
            obstacle=obstacle(self.original.graph, reference, given),
            gain=None if seen is None else _gain(seen, sums),
            bias=_over_bias(sums, call),
        )

    def _facts(self, name: str, operator: str, source: str, arrays: tuple[np.ndarray, ...]) -> LayerFacts:
        """Facts of a tensor.

        arrays: its float values; its integers; the integers that the node computes from float operands rounded
        """
        t, seen = self.graph.type(name), self.floats.observed()[name]
        known = matters(self.floats.graph, self.floats.reference, [name], self.floats.observed())
        real, stored, exact = arrays[0], arrays[1], np.clip(to_real(arrays[2], t), *known)
        expected, values = np.clip(real, *known), np.clip(seen.values, *known)
        most = float(np.abs(values).max(initial=0.0))
        low, high = t.limits
        return LayerFacts(
            name=self._label(name, source),
            operator=operator,
            source=source,
            reads=(),
            dtype=t.dtype,
            total=sqnr(expected, np.clip(to_real(stored, t), *known)),
            own=sqnr(expected, exact),
            low=seen.low,
            high=seen.high,
            used=float(np.percentile(np.abs(values), 99.9)) / most if most else 1.0,
            saturated=_beyond(values, t),
            steps=int((np.bincount(stored.reshape(-1).astype(np.int64) - low) > 0).sum()),
            all_steps=high - low + 1,
            channels=channels_of(seen),
            given=channels_of(self.original.observed()[name]),
            weak=_weak(expected, exact),
            still=_is_still(stored),
        )


def _gain(x: Observed, sums: np.ndarray) -> float:
    """Growth of values in a layer: s / largest if that is above 1, else min(s / median, 1).

    s: magnitude of the median channel of the sums; largest, median: magnitudes of channels of the operand
    """
    reach = _median(np.abs(sums.reshape(-1, sums.shape[-1])).max(axis=0))
    return max(reach / max(float(x.channels.max()), _ALIVE), min(reach / _median(x.channels), 1.0))


def _median(reach: np.ndarray) -> float:
    """Median of the magnitudes of channels that are not dead."""
    alive = reach[reach > _ALIVE]
    return float(np.median(alive)) if alive.size else _ALIVE


def _over_bias(sums: np.ndarray, call: Call) -> float | None:
    """Standard deviation of a layer's sums / bias, of the median channel; None if either is 0."""
    if not call.has(2) or call.constants[2] is None or not np.any(call.constant(2)):
        return None
    moved = sums.reshape(-1, sums.shape[-1]).std(axis=0, dtype=np.float64)
    if not moved.any():
        return None
    return float(np.median(moved / np.maximum(np.abs(call.constant(2).astype(np.float64)), _ALIVE * moved.max())))


def _chosen(floats: FloatRun) -> np.ndarray:
    """Indices of the samples to measure, evenly spread; fewer for a large network."""
    count = int(np.clip(_WORK / max(work(floats.graph), 1), _LEAST, _MOST))
    return np.unique(np.linspace(0, floats.count - 1, min(count, floats.count)).round().astype(np.int64))


def _is_still(values: np.ndarray) -> bool:
    return len(values) > 1 and bool((values == values[:1]).all())


def _beyond(values: np.ndarray, t: TensorType) -> float:
    """Share of values outside the range of the integers."""
    if t.quant is None:
        return 0.0
    low, high = t.limits
    steps = values.astype(np.float64) / t.scale + t.zero_point
    return float(((steps < low - 1) | (steps > high + 1)).mean())


def _weak(real: np.ndarray, found: np.ndarray) -> int:
    """Number of channels with an own SQNR below 10 dB."""
    a = real.reshape(-1, real.shape[-1]).astype(np.float64)
    noise = ((a - found.reshape(a.shape)) ** 2).sum(axis=0)
    signal = (a**2).sum(axis=0)
    alive = np.abs(a).max(axis=0) > _ALIVE
    return int((alive & (signal < noise * 10 ** (_WEAK_DB / 10))).sum())
