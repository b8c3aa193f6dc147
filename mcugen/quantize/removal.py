"""Choice of channels to remove: their order, their loss, and how many of each stream meet a budget of work.

Order: the next channel is the channel whose removal changes the sums of its readers least, after the other taps are
fitted again. Source: Hassibi and Stork, Optimal Brain Surgeon, here with all taps of a channel removed together.
Loss: measured at the outputs, for each stream with some of its channels removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mcugen.ir.graph import Node
from mcugen.ir.ranges import channels_of
from mcugen.quantize import rounding
from mcugen.quantize.backwards import Arrays, GradientNetwork, matrix, unmatrix
from mcugen.quantize.coupled import Channel, CoupledChannels, meets_all, taps_of
from mcugen.quantize.moments import moments_of
from mcugen.quantize.parallel import in_threads, parts

_MOST = 0.75
"""Largest share of a stream's channels that may be removed."""
_LEVEL = 0.1
"""Point of a curve where the loss is measured to scale the curve, as a share of the curve's last value."""
_PAIRS_FROM = 8
"""Streams with at least this many channels lose two at a time, since kernels compute channels in pairs."""
_RIDGE = 10
"""Factor of the regularization for weights with few rows per tap."""
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Facts:
    """Statistics of a network on samples.

    judged: samples that losses are measured on; moments: moments of each layer's inputs; weight: influence of each
    output of a layer on `GradientNetwork.heads`; heads: their values on `judged`; power: variance of each of them
    """

    judged: Arrays
    moments: Mapping[str, rounding.Moments]
    weight: Mapping[str, np.ndarray]
    heads: Arrays
    power: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class RemovalCurve:
    """Channels of a stream in the order of removal. losses[k]: loss after removing the first k channels."""

    stream: CoupledChannels
    order: tuple[Channel, ...]
    losses: np.ndarray

    @property
    def at_once(self) -> int:
        return 2 if len(self.stream.channels) >= _PAIRS_FROM else 1


def facts(network: GradientNetwork, inputs: Arrays, judged: Arrays) -> Facts:
    """Statistics from forward passes on the samples, and from backward passes of random gradients of `heads`."""
    count = len(next(iter(inputs.values())))
    rng = np.random.default_rng(0)
    shapes = {name: (count, *network.graph.type(name).shape) for name in network.heads}
    probes = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}

    def part(which: slice) -> dict[str, np.ndarray]:
        run = network.run({name: a[which] for name, a in inputs.items()})
        _, of_sums = network.gradients(run, {name: a[which] for name, a in probes.items()}, {})
        return {n: (g.reshape(-1, g.shape[-1]).astype(np.float64) ** 2).sum(axis=0) for n, g in of_sums.items()}

    weight: dict[str, np.ndarray] = {}
    for squares in in_threads(part, parts(network, count)):
        for name, g in squares.items():
            weight[name] = weight.get(name, 0.0) + g / count
    heads = dict(zip(network.heads, outputs(network, judged), strict=True))
    power = {name: float(y.var(axis=0).sum()) + _TINY for name, y in heads.items()}
    return Facts(judged, moments_of(network, inputs), weight, heads, power)


def outputs(network: GradientNetwork, inputs: Arrays) -> list[np.ndarray]:
    """The values of `GradientNetwork.heads`."""

    def part(which: slice) -> list[np.ndarray]:
        run = network.run({name: a[which] for name, a in inputs.items()})
        return [run.sums.get(name, run.values[name]) for name in network.heads]

    found = in_threads(part, parts(network, len(next(iter(inputs.values())))))
    return [np.concatenate(arrays) for arrays in zip(*found, strict=True)]


def curves(
    network: GradientNetwork, known: Facts, streams: Sequence[CoupledChannels], progress: Callable[[str], None]
) -> list[RemovalCurve]:
    """The curve of each stream; losses are shares of the variance of `GradientNetwork.heads`."""
    found = []
    for index, stream in enumerate(streams):
        progress(f"weighing channels, stream {index + 1} of {len(streams)}")
        work = _Elimination(network, known, stream)
        order, losses = work.run(int(_MOST * len(stream.channels)))
        level = int(np.searchsorted(losses, _LEVEL * losses[-1])) if len(order) else 0
        if level:
            work = _Elimination(network, known, stream)
            work.run(level, order)
            losses = losses * (loss(network.with_weights(work.constants()), known) / max(losses[level], _TINY))
        found.append(RemovalCurve(stream, tuple(stream.channels[k] for k in order), losses))
    return found


def loss(network: GradientNetwork, known: Facts) -> float:
    """Squared error / variance of each of `GradientNetwork.heads`, averaged."""
    errors = []
    for (name, wanted), found in zip(known.heads.items(), outputs(network, known.judged), strict=True):
        squares = (found.astype(np.float64) - wanted) ** 2
        errors.append(float(squares.sum()) / len(wanted) / known.power[name])
    return float(np.mean(errors))


@dataclass
class _Reader:
    """A layer that reads the channels of a stream while these are removed.

    first: its original weights [outputs, taps]; root: square root of each output's influence [outputs, 1]
    taps: columns of each channel [channels, taps of a channel]; inverse: inverse of the inputs' second moments
    weights: the current weights times root
    """

    node: Node
    first: np.ndarray
    root: np.ndarray
    taps: np.ndarray
    inverse: np.ndarray
    weights: np.ndarray

    def losses(self, left: Sequence[int]) -> np.ndarray:
        """Increase of the squared error by the removal of each of these channels."""
        taps = self.taps[list(left)]
        blocks = self.inverse[taps[:, :, None], taps[:, None, :]]
        columns = self.weights[:, taps].transpose(1, 2, 0)
        return np.asarray((columns * np.linalg.solve(blocks, columns)).sum(axis=(1, 2)))

    def remove(self, channel: int) -> None:
        taps = self.taps[channel]
        by = np.linalg.solve(self.inverse[np.ix_(taps, taps)], self.inverse[taps])
        self.weights = self.weights - self.weights[:, taps] @ by
        self.inverse = self.inverse - self.inverse[:, taps] @ by
        self.weights[:, taps] = 0
        self.inverse[taps] = 0
        self.inverse[:, taps] = 0


@dataclass
class _Elimination:
    """Removal of a stream's channels one after the other."""

    network: GradientNetwork
    known: Facts
    stream: CoupledChannels
    readers: list[_Reader] = field(default_factory=list)

    def __post_init__(self) -> None:
        graph = self.network.graph
        for node in self.stream.readers:
            moments = self.known.moments[node.name]
            xx = moments.xx[0]
            ridge = (1 + _RIDGE * len(xx) / moments.rows) * rounding.damped(moments.xx)[0]
            w = matrix(graph.call(node, self.network.reference)).astype(np.float64)
            root = np.sqrt(self.known.weight[node.name])[:, None] + _TINY
            inverse = np.linalg.inv(xx + ridge * np.eye(len(xx)))
            taps = np.stack([taps_of(graph, node, channel) for channel in self.stream.channels])
            self.readers.append(_Reader(node, w, root, taps, inverse, w * root))

    def run(self, count: int, order: Sequence[int] = ()) -> tuple[list[int], np.ndarray]:
        """Remove `count` channels, in this order or by least loss; returns the order, and the running sum of losses."""
        left, losses = list(range(len(self.stream.channels))), [0.0]
        gone: list[int] = []
        while len(gone) < count:
            each = np.sum([reader.losses(left) for reader in self.readers], axis=0)
            at = left.index(order[len(gone)]) if order else int(np.argmin(each))
            gone.append(left.pop(at))
            losses.append(losses[-1] + max(0.0, float(each[at])))
            for reader in self.readers:
                reader.remove(gone[-1])
        return gone, np.array(losses)

    def constants(self) -> dict[str, np.ndarray]:
        """Weights and biases of readers, fitted to compensate for the removed channels."""
        found = {}
        for reader in self.readers:
            call = self.network.graph.call(reader.node, self.network.reference)
            w = reader.weights / reader.root
            found[str(reader.node.inputs[1])] = unmatrix(call, w.astype(np.float32))
            if call.has(2):
                mean = (reader.first - w) @ self.known.moments[reader.node.name].x[0]
                found[str(reader.node.inputs[2])] = (call.constant(2) + mean).astype(np.float32)
        return found


@dataclass(frozen=True)
class _Work:
    """Multiply-accumulates as a function of the share of channels left in each tensor.

    fixed: multiply-accumulates that do not change; terms: for each layer, its multiply-accumulates, and the tensors
    whose numbers of channels they are proportional to
    """

    fixed: int
    terms: tuple[tuple[int, tuple[str, ...]], ...]

    def of(self, left: Mapping[str, float]) -> float:
        return self.fixed + sum(macs * float(np.prod([left.get(n, 1.0) for n in names])) for macs, names in self.terms)


def work(network: GradientNetwork) -> _Work:
    """The multiply-accumulates of a network."""
    terms, fixed = [], 0
    learned = {node.name for node in network.layers}
    for node in network.graph.nodes:
        macs = node.op.macs(network.graph.call(node, network.reference))
        if node.name in learned:
            read = (str(node.inputs[0]),) if meets_all(network.graph, node) else ()
            terms.append((macs, (*read, node.outputs[0])))
        else:
            fixed += macs
    return _Work(fixed, tuple(terms))


def chosen(network: GradientNetwork, found: Sequence[RemovalCurve], budget: float) -> list[int]:
    """Number of channels to remove from each stream to meet the budget; the most allowed if that is not enough.

    The next channel to remove is always the channel with the least loss per multiply-accumulate saved.
    """
    cost, counts = work(network), [0] * len(found)
    shares = [dict(_shares(network, curve)) for curve in found]

    def after(k: int, by: int) -> tuple[float, float]:
        """The work after removing `by` more channels of stream k, and the additional loss."""
        then = [n + by * (i == k) for i, n in enumerate(counts)]
        left: dict[str, float] = {}
        for n, share in zip(then, shares, strict=True):
            left.update((name, left.get(name, 1.0) - n * s) for name, s in share.items())
        return cost.of(left), float(found[k].losses[then[k]] - found[k].losses[counts[k]])

    now = cost.of({})
    while now > budget:
        free = [k for k, curve in enumerate(found) if counts[k] + curve.at_once < len(curve.losses)]
        rates = {k: lost / (now - then) for k in free for then, lost in [after(k, found[k].at_once)] if then < now}
        if not rates:
            break
        best = min(rates, key=lambda k: (rates[k], k))
        now, _ = after(best, found[best].at_once)
        counts[best] += found[best].at_once
    while now <= budget:  # the last removals may have saved more than needed
        some = [k for k, curve in enumerate(found) if counts[k] >= curve.at_once]
        gains = {k: lost for k in some for then, lost in [after(k, -found[k].at_once)] if then <= budget}
        if not gains:
            break
        best = min(gains, key=lambda k: (gains[k], k))
        now, _ = after(best, -found[best].at_once)
        counts[best] -= found[best].at_once
    return counts


def _shares(network: GradientNetwork, curve: RemovalCurve) -> Iterator[tuple[str, float]]:
    """Tensors of a stream, each with the share of its channels that it loses with one channel of the stream."""
    for name, places in curve.stream.channels[0].items():
        yield name, places.size / channels_of(network.graph.type(name))
