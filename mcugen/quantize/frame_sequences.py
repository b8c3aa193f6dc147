"""Networks with states as inputs and outputs: samples are sequences of frames, and each frame begins where the last
ended.

The float network is run over all sequences, from states of zero. Its frames, each with the states that occur, are the
samples of the quantization; whole sequences are the test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from mcugen import samples
from mcugen.errors import QuantizationError, UsageError
from mcugen.ir.graph import Graph, Node
from mcugen.quantize import walk
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.noise import decibels, powers
from mcugen.quantize.recipe import Widths
from mcugen.quantize.recurrent_weights import is_recurrent
from mcugen.quantize.scores import LabelledTest, OverTime, Score
from mcugen.quantize.stored_integers import stored_inputs, to_real
from mcugen.samples import Samples, arrays, metrics
from mcugen.samples.column import Column
from mcugen.samples.metrics import Interface
from mcugen.samples.metrics.frame_errors import parts_of

WHERE = "--state"
_FEWEST = 8
"""Fewest frames of a sequence."""
_GROWING, _LARGE = 1.9, 256.0
"""A state grows without bound if its reach grows so much in each of three doublings of time, beyond this size."""
_ROOM = 1.25
"""Factor on the reach of a state: longer sequences reach further."""
_SEED = 1


@dataclass(frozen=True)
class States:
    """Pairs (output, input) of a network: the output is the next frame's input. Indices, in the network's order."""

    pairs: tuple[tuple[int, int], ...]

    def driven(self, graph: Graph) -> tuple[int, ...]:
        """Indices of the inputs that are no states."""
        held = {k for _, k in self.pairs}
        return tuple(k for k in range(len(graph.inputs)) if k not in held)


def states_of(graph: Graph, texts: Sequence[str]) -> States:
    """The states that the user names, each as OUTPUT=INPUT. Raises UsageError."""
    outputs, inputs = ([graph.tensors[name].label or name for name in names] for names in (graph.outputs, graph.inputs))
    pairs: list[tuple[int, int]] = []
    for text in texts:
        after, _, before = text.partition("=")
        for name, known, what in ((after, outputs, "output"), (before, inputs, "input")):
            if name not in known:
                hint = f"give OUTPUT=INPUT; {what}s: {', '.join(known)}"
                raise UsageError(f"{text!r} names {name!r}, which is no {what} of the network", where=WHERE, hint=hint)
        pair = outputs.index(after), inputs.index(before)
        made, read = graph.type(graph.outputs[pair[0]]), graph.type(graph.inputs[pair[1]])
        if (made.shape, made.dtype) != (read.shape, read.dtype):
            hint = "a state's output and input must have one type"
            raise UsageError(f"{after!r} is {made}, but {before!r} is {read}", where=WHERE, hint=hint)
        if any(pair[k] in {p[k] for p in pairs} for k in (0, 1)):
            raise UsageError(f"{text!r} names an output or an input twice", where=WHERE, hint="give each state once")
        pairs.append(pair)
    found = States(tuple(pairs))
    if not found.driven(graph):
        raise UsageError("every input is a state", where=WHERE, hint="one input must be given anew for each frame")
    return found


def load(
    path: Path,
    graph: Graph,
    states: States,
    *,
    limit: int | None = None,
    with_labels: bool = False,
    to_run: bool = False,
) -> Samples:
    """The sequences of a file: for each input that is no state an array [sequences, frames, *shape].

    to_run: see `samples.load`. Raises UsageError for arrays that do not fit, sequences with different numbers of
    frames, and short sequences.
    """
    driven = [graph.inputs[k] for k in states.driven(graph)]
    frames = _frames(path, graph, driven)
    if frames < _FEWEST:
        hint = f"give sequences of at least {_FEWEST} frames: what a state reaches shows only over time"
        raise UsageError(f"its sequences have {frames} frames", where=path.name, hint=hint)
    tensors = {name: replace(t, data=None) for name, t in graph.tensors.items()}
    for name in driven:
        t = graph.type(name)
        tensors[name] = replace(tensors[name], type=t.with_shape((frames, *t.shape)))
    whole = replace(graph, inputs=tuple(driven), tensors=tensors)
    return samples.load(path, whole, limit=limit, with_labels=with_labels, to_run=to_run)


def holds_sequences(path: Path, graph: Graph) -> bool:
    """Whether each sample of a file has the elements of several runs of a network."""
    if not path.is_file() or path.suffix.lower() == ".wav":
        return False
    first = next(iter(_given(path, graph, graph.inputs).values()))
    size = graph.type(graph.inputs[0]).size
    return len(first.shape) > 1 and math.prod(first.shape) == first.shape[0] * size > size


def _given(path: Path, graph: Graph, driven: Sequence[str]) -> dict[str, Column]:
    """The arrays of a file for some inputs, by key."""
    columns = arrays.archive(path) if arrays.kind(path) == arrays.ZIP else {"": arrays.single(path)}
    labels = {graph.tensors[name].label or name for name in driven}
    return {key: column for key, column in columns.items() if key in labels} or dict([next(iter(columns.items()))])


def _frames(path: Path, graph: Graph, driven: Sequence[str]) -> int:
    """The number of frames of each sequence in a file."""
    if path.is_dir() or not path.is_file():
        raise UsageError("sequences are read from one file", where=path.name, hint="give an .npz or .npy of arrays")
    given = _given(path, graph, driven)
    for key, column in given.items():
        if len(column.shape) < 2:
            shape = f"[{column.count}{''.join(f', {d}' for d in column.shape)}]"
            hint = "give an array [sequences, frames, ...]; all sequences need the same number of frames"
            raise UsageError(f"{key or 'its array'} has the shape {shape}", where=path.name, hint=hint)
    counts = {key: column.shape[0] for key, column in given.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{key!r}: {count}" for key, count in counts.items())
        hint = "all sequences need the same number of frames: cut the longer ones"
        raise UsageError(f"its inputs have different numbers of frames ({listed})", where=path.name, hint=hint)
    return next(iter(counts.values()))


def _beside(graph: Graph, states: States) -> dict[tuple[int, int], list[Node]]:
    """The nodes that compute each state, and its first readers: the data movements around it, and one node behind
    these.
    """
    makers = {name: node for node in graph.nodes for name in node.outputs}
    found: dict[tuple[int, int], list[Node]] = {}
    for pair in states.pairs:
        name: str | None = graph.outputs[pair[0]]
        nodes: list[Node] = []
        while name in makers:
            nodes.append(makers[str(name)])
            name = nodes[-1].inputs[0] if nodes[-1].op.only_moves else None
        name = graph.inputs[pair[1]]
        while name is not None:
            readers = [node for node in graph.nodes if name in node.inputs]
            nodes += readers[:1]
            name = readers[0].outputs[0] if readers and readers[0].op.only_moves else None
        found[pair] = nodes
    return found


def _plain(graph: Graph, states: States) -> dict[tuple[int, int], list[Node]]:
    """The nodes beside each state that no recurrent layer decides on."""
    return {pair: nodes for pair, nodes in _beside(graph, states).items() if not any(map(is_recurrent, nodes))}


def widened(graph: Graph, widths: Widths, states: States) -> Widths:
    """The bits of all layers, with 16 for those that compute or read a state."""
    of = dict(widths.activations_of)
    of |= {node.name: 16 for nodes in _plain(graph, states).values() for node in nodes}
    return replace(widths, activations_of=tuple(of.items()))


def with_ranges(floats: FloatRun, states: States) -> FloatRun:
    """The float network with one range for the output and the input of each state, a quarter wider than was seen."""
    found = dict(floats.overrides)
    for after, before in _plain(floats.graph, states):
        names = floats.graph.outputs[after], floats.graph.inputs[before]
        reach = max(1e-6, *(abs(v) for n in names for v in (floats.observed()[n].low, floats.observed()[n].high)))
        found |= dict.fromkeys(names, (-_ROOM * reach, _ROOM * reach))
    return replace(floats, overrides=found)


def require_one_type(graph: Graph, states: States | None) -> None:
    """Raise QuantizationError if a state's output and input have different types in the integer network."""
    for after, before in () if states is None else states.pairs:
        made, read = graph.outputs[after], graph.inputs[before]
        if graph.type(made) != graph.type(read):
            name = graph.tensors[made].label or made
            what = f"the state {name!r} has the types {graph.type(made)} and {graph.type(read)}"
            raise QuantizationError(what, hint="let an operator with a scale of its own compute it, such as Add")


@dataclass(frozen=True, eq=False)
class SequenceRun:
    """A network over sequences. frames: its inputs in each frame, [frames, sequences, *shape] for each input.

    outputs: its outputs in each frame, likewise, as the network gives them.
    """

    frames: tuple[np.ndarray, ...]
    outputs: tuple[np.ndarray, ...]


def run(graph: Graph, reference: str, states: States, sequences: Sequence[np.ndarray]) -> SequenceRun:
    """Run a network over sequences [sequences, frames, *shape], one array for each input that is no state.

    States begin as the zero point of their type.
    """
    count, length = sequences[0].shape[:2]
    types = [graph.type(name) for name in graph.inputs]
    now = [np.full((count, *t.shape), t.zero_point if t.quant else 0, t.np_dtype) for t in types]
    inputs: list[list[np.ndarray]] = [[] for _ in graph.inputs]
    outputs: list[list[np.ndarray]] = [[] for _ in graph.outputs]
    for frame in range(length):
        for k, array in zip(states.driven(graph), sequences, strict=True):
            now[k] = array[:, frame]
        found = walk.outputs(graph, reference, now)
        for kept, values in ((inputs, now), (outputs, found)):
            for k, value in enumerate(values):
                kept[k].append(value)
        for after, before in states.pairs:
            now[before] = found[after]
    return SequenceRun(tuple(np.stack(a) for a in inputs), tuple(np.stack(a) for a in outputs))


def frames_of(graph: Graph, reference: str, states: States, sequences: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """All frames as samples, one array [samples, *shape] for each input, in an order that mixes times and sequences.

    Raises UsageError if a state is not finite, or grows without bound.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = run(graph, reference, states, sequences)
    for after, _ in states.pairs:
        _require_bounded(graph.tensors[graph.outputs[after]].label or graph.outputs[after], found.outputs[after])
    count = found.frames[0].shape[0] * found.frames[0].shape[1]
    order = np.random.default_rng(_SEED).permutation(count)
    return tuple(np.ascontiguousarray(a.reshape(count, *a.shape[2:])[order]) for a in found.frames)


def _require_bounded(label: str, values: np.ndarray) -> None:
    """Raise UsageError if a state [frames, sequences, ...] is not finite, or grows without bound."""
    each = np.abs(values.reshape(len(values), -1)).max(axis=1)
    wrong = np.flatnonzero(~np.isfinite(each))
    if wrong.size:
        hint = "scale the samples as for training; if they are, the network is not stable"
        raise UsageError(f"the state {label!r} is infinite or NaN after frame {wrong[0]}", where=WHERE, hint=hint)
    reach = np.maximum.accumulate(each)
    steps = [reach[len(reach) // part - 1] for part in (8, 4, 2, 1)]
    grows = all(after > _GROWING * before for before, after in pairwise(steps))
    if grows and steps[-1] > _LARGE:
        hint = "no scale holds it: reset it, or compute it outside of the network"
        what = f"the state {label!r} grows without bound: it reaches {steps[-1]:.4g} at frame {int(each.argmax())}"
        raise UsageError(what, where=WHERE, hint=hint)


def interface_of(graph: Graph, states: States, tested: Samples) -> Interface:
    """The interface of a network that runs over the sequences of a test, for metrics."""
    return metrics.interface_of(graph, tested.arrays[0].shape[1], {k for k, _ in states.pairs})


def score(
    graphs: tuple[Graph, Graph],
    reference: str,
    states: States,
    sequences: Sequence[np.ndarray],
    test: LabelledTest | None,
) -> Score:
    """The score of an integer network over whole sequences: noise of its outputs that are no states.

    graphs: the float network and the integer one. sequences: see `run`.
    """
    floats, integers = graphs
    held = {k for k, _ in states.pairs}
    shown = [k for k in range(len(floats.outputs)) if k not in held] or list(range(len(floats.outputs)))
    driven = replace(integers, inputs=tuple(integers.inputs[k] for k in states.driven(integers)))
    wanted = run(floats, reference, states, sequences).outputs
    found = run(integers, reference, states, stored_inputs(driven, sequences)).outputs
    real = [to_real(a, integers.type(name)) for a, name in zip(found, integers.outputs, strict=True)]
    first, second = ([a[k].swapaxes(0, 1) for k in shown] for a in (wanted, real))
    length = sequences[0].shape[1]
    power = np.stack([powers([a[:, s] for a in first], [a[:, s] for a in second]) for s in parts_of(length)])
    over_time = OverTime(
        length,
        min(float(v) for v in decibels(power.sum(axis=0))),
        tuple(float(v) for v in decibels(power.sum(axis=2).T)),
    )
    compared = () if test is None else test.compared(tuple(first), tuple(second))
    return Score(len(first[0]), float(decibels(power.sum(axis=(0, 2)))), compared, over_time=over_time)
