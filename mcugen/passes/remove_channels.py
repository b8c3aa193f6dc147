"""Removes channels that nothing reads, and channels that are constant for every input of the model.

A channel of a tensor can be removed if its producer and all its readers can drop it. A reader can drop it if all its
weights for it are zero, if the results that depend on it are removed too, or if it is constant and can be folded into
the reader's constants.

The pass first requests the removal of all channels. Each operator then refuses the channels that it cannot drop. This
is repeated until no operator refuses a channel. The result is the largest set of channels that can be removed together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from mcugen import kernels
from mcugen.errors import InternalError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Origin, Removed, Tensor
from mcugen.ir.ranges import MAX_CHANNELS, Removal, channels_of, chosen, measured
from mcugen.ir.types import TensorType

DEVICE_RUN = 4
"""Number of channels that device kernels read and write at once, if the number of channels is a multiple of it."""

Masks = dict[str, np.ndarray]
_CONSTANT = "one value for every input, by the bounds of all sums before it; worked into the constants of its readers"
_UNREAD = "every weight that multiplies it is zero, or belongs to a channel that is removed too"


def remove_channels(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a target with these features. For devices, the numbers of channels stay multiples of four."""
    run = DEVICE_RUN if features & kernels.device_features() else 1

    def removed(graph: Graph, reference: str) -> Graph:
        """The graph without channels that its outputs do not need. Its ranges must have been measured.

        Inputs, outputs and states keep all channels.
        """
        return without_channels(graph, reference, removable_channels(graph, reference, run))

    removed.__name__ = remove_channels.__name__
    return removed


def without_channels(graph: Graph, reference: str, gone: Masks) -> Graph:
    """The graph without the channels in `gone`, which all operators must be able to drop together."""
    if not any(mask.any() for mask in gone.values()):
        return graph
    slimmer = _Slimmer(graph, reference, gone)
    nodes = [slimmer.node(node) for node in graph.nodes]
    return graph.updated(tensors=slimmer.tensors(), nodes=nodes, removed=_report(graph, gone))


def removable_channels(graph: Graph, reference: str, run: int) -> Masks:
    """Computed tensor -> mask of its removable channels.

    At least one channel of each tensor stays. If channels are removed, the number that stays is a multiple of `run`.
    Empty for a graph with a tensor of more than MAX_CHANNELS channels.
    """
    if any(channels_of(t.type) > MAX_CHANNELS for t in graph.tensors.values()):
        return {}
    found = Together(graph, reference, lambda tensor: tensor.range is not None)
    found.keep_runs(run)
    return found.gone


class Together:
    """The channels that the operators of a graph can drop together.

    may_go: whether channels of a tensor may be dropped. gone: for each computed tensor, a mask of the most channels
    that can be dropped.
    """

    def __init__(self, graph: Graph, reference: str, may_go: Callable[[Tensor], bool] = lambda tensor: True) -> None:
        self._calls = {node.name: graph.call(node, reference) for node in graph.nodes}
        ends = {*graph.given, *graph.kept}
        self.gone: Masks = {
            name: np.full(channels_of(t.type), may_go(t) and name not in ends)
            for name, t in graph.tensors.items()
            if not t.is_constant
        }
        self.touching: dict[str, list[Node]] = {name: [] for name in graph.tensors}
        for node in graph.nodes:
            for name in filter(None, (*node.inputs, *node.outputs)):
                self.touching[name].append(node)
        self.narrow(self.gone, list(reversed(graph.nodes)))

    def kept_with(self, name: str, place: int) -> dict[str, np.ndarray]:
        """Tensor -> the channels that must stay if channel `place` of the tensor `name` stays."""
        gone = dict(self.gone)
        gone[name] = gone[name].copy()
        gone[name][place] = False
        self.narrow(gone, self.touching[name])
        return {k: np.flatnonzero(self.gone[k] & ~mask) for k, mask in gone.items() if mask is not self.gone[k]}

    def keep_runs(self, run: int) -> None:
        """Keep channels until each tensor has at least one, and a multiple of `run` if it loses any."""
        waiting = True
        while waiting:
            waiting = False
            for name, mask in self.gone.items():
                remaining = int((~mask).sum())
                if mask.any() and (remaining % run or not remaining):
                    mask[np.flatnonzero(mask)[: max(-remaining % run, not remaining)]] = False
                    self.narrow(self.gone, self.touching[name])
                    waiting = True

    def refuses(self, node: Node) -> bool:
        """Whether an operator drops no channel, even if all channels of its operands and results could be dropped."""
        call = self._calls[node.name]
        every = {name: np.ones_like(self.gone[name]) for name in (*node.inputs, *node.outputs) if name in self.gone}
        granted = node.op.removable(call, _asked(node, call, every))
        return not any(mask.any() for _, mask in _pairs(node, granted))

    def narrow(self, gone: Masks, nodes: Sequence[Node]) -> None:
        """Clear channels in the masks that operators cannot drop, until all masks agree. nodes: the first to check."""
        _narrow(gone, self._calls, self.touching, deque(nodes))


def _narrow(gone: Masks, calls: dict[str, Call], touching: dict[str, list[Node]], waiting: deque[Node]) -> None:
    """Clear channels in the masks that operators cannot drop, until all masks agree."""
    queued = {node.name for node in waiting}
    while waiting:
        node = waiting.popleft()
        queued.discard(node.name)
        asked = _asked(node, calls[node.name], gone)
        granted = node.op.removable(calls[node.name], asked)
        for name, mask in _pairs(node, granted):
            if (gone[name] & ~mask).any():
                gone[name] = gone[name] & mask
                more = {other.name: other for other in touching[name] if other.name not in queued}
                waiting += more.values()
                queued |= more.keys()


def _asked(node: Node, call: Call, gone: Masks) -> Removal:
    pairs = zip(node.inputs, call.constants, strict=True)
    inputs = tuple(None if name is None or data is not None else gone[name] for name, data in pairs)
    return Removal(inputs, tuple(gone[name] for name in node.outputs))


def _pairs(node: Node, removal: Removal) -> Iterator[tuple[str, np.ndarray]]:
    for name, mask in zip((*node.inputs, *node.outputs), (*removal.inputs, *removal.outputs), strict=True):
        if name is not None and mask is not None:
            yield name, mask


class _Slimmer:
    """Builds the remaining nodes and tensors."""

    def __init__(self, graph: Graph, reference: str, gone: Masks) -> None:
        self._graph, self._reference, self._gone = graph, reference, gone
        self._made: dict[str, Tensor] = {}

    def node(self, node: Node) -> Node:
        """The node on the remaining channels."""
        call = self._graph.call(node, self._reference)
        removal = _asked(node, call, self._gone)
        if not any(mask.any() for _, mask in _pairs(node, removal)):
            return node
        slimmed = node.op.without(call, removal)
        names = list(node.inputs) + [None] * (max(slimmed.constants, default=-1) + 1 - len(node.inputs))
        for k, (t, data) in slimmed.constants.items():
            names[k] = self._constant(node, k, t, data)
        slim = replace(node, op=slimmed.op, inputs=tuple(names))
        self._check(slim)
        return slim

    def tensors(self) -> Iterator[Tensor]:
        """The tensors that are new or narrower."""
        yield from self._made.values()
        for name, mask in self._gone.items():
            if mask.any():
                yield _narrowed(self._graph.tensors[name], mask)

    def _constant(self, node: Node, k: int, t: TensorType, data: np.ndarray) -> str:
        old = node.inputs[k] if k < len(node.inputs) else None
        label = self._graph.tensors[old].label if old else ""
        name = f"{node.name}_{k}"
        self._made[name] = Tensor(name, t, np.ascontiguousarray(data), label, range=measured(data))
        return name

    def _check(self, node: Node) -> None:
        """Raise InternalError if the operator computes other shapes than the remaining channels require."""
        types = [None if n is None else self._made[n].type if n in self._made else self._type(n) for n in node.inputs]
        for name, t in zip(node.outputs, node.op.infer(*types), strict=True):
            if t.shape != self._type(name).shape:
                raise InternalError(
                    f"after channels were removed, {node.name} computes {t} instead of {self._type(name)}"
                )

    def _type(self, name: str) -> TensorType:
        t, mask = self._graph.type(name), self._gone.get(name)
        return t if mask is None or not mask.any() else chosen(t, -1, ~mask)


def _narrowed(tensor: Tensor, gone: np.ndarray) -> Tensor:
    """The tensor on its remaining channels."""
    bounds = tensor.range
    if bounds is None:  # Should not happen: only channels with bounds are requested at first.
        return replace(tensor, type=chosen(tensor.type, -1, ~gone), origin=None)
    origin = (tensor.origin or Origin(tensor.name)).without(gone, bounds)
    left = replace(bounds, low=bounds.low[~gone], high=bounds.high[~gone])
    return replace(tensor, type=chosen(tensor.type, -1, ~gone), origin=origin, range=left)


def _report(graph: Graph, gone: Masks) -> Iterator[Removed]:
    for name, mask in gone.items():
        tensor = graph.tensors[name]
        if tensor.range is None or tensor.origin is None:
            continue
        for what, some, why in (
            ("constant channels", mask & tensor.range.constant, _CONSTANT),
            ("unread channels", mask & ~tensor.range.constant, _UNREAD),
        ):
            if some.any():
                yield Removed(what, tensor.origin.tensor, why, int(some.sum()))
