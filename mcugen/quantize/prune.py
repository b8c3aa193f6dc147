"""Pruning: channels are removed until a float network meets a budget of work, and the rest is trained to compensate.

The loss is measured on variations of the samples that were not used before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import UnsupportedError, UsageError
from mcugen.ir.graph import Graph, Node
from mcugen.passes.remove_channels import Masks
from mcugen.quantize import coupled, removal, slopes
from mcugen.quantize.backwards import Arrays, GradientNetwork, is_layer
from mcugen.quantize.distill import Training, steps_for
from mcugen.quantize.float_values import FloatRun, require_finite
from mcugen.quantize.layer_bits import label_of
from mcugen.quantize.noise import decibels, powers
from mcugen.quantize.refit import refitted
from mcugen.quantize.scores import LabelledTest
from mcugen.quantize.variations import varied

_FEWEST, _FEW = 8, 16
_BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*(%|[kKmMgG]?)")
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_VARIED, _JUDGING = 3, 256
"""Variations of each sample for ranking channels, and most variations for judging, which training does not use."""
_SHOWN = 4
_FARTHEST = 1e15
"""Largest sum of squares of values that float32 handles."""
_BYTES = 1 << 29


@dataclass(frozen=True, eq=False)
class Stage:
    """The network after one stage of pruning.

    sqnr: SQNR in dB against the original network, on the variations for judging; worth: accuracy in %, or mean squared
    error, on the samples of a test
    """

    step: str
    graph: Graph
    sqnr: float
    kept: bool = False
    worth: float | None = None


@dataclass(frozen=True, eq=False)
class Pruned:
    """A network with fewer channels.

    before, after: multiply-accumulates; layers: (name, channels before, after); judged_on: number of variations
    """

    graph: Graph
    before: int
    after: int
    layers: tuple[tuple[str, int, int], ...]
    stages: tuple[Stage, ...]
    judged_on: int


def macs_of(graph: Graph, reference: str) -> int:
    """Multiply-accumulates of one run."""
    return sum(node.op.macs(graph.call(node, reference)) for node in graph.nodes)


def budget_of(text: str, whole: int) -> float:
    """Multiply-accumulates of a budget: a share such as `70%`, or a number such as `8M`. Raises UsageError."""
    found = _BUDGET.fullmatch(text.strip())
    if found is None:
        hint = "give a share or a number, for example 70% or 8M"
        raise UsageError(f"{text!r} is no budget of multiply-accumulates", where="--macs", hint=hint)
    number, unit = float(found[1]), found[2].upper()
    if number == 0:
        hint = "give a budget above 0, for example 70% or 8M"
        raise UsageError(f"{text!r} leaves no multiply-accumulates", where="--macs", hint=hint)
    return whole * number / 100 if unit == "%" else number * _UNITS[unit]


def pruned(
    graph: Graph, reference: str, samples: tuple[np.ndarray, ...], asked: str, progress: Callable[[str], None]
) -> Pruned:
    """The network within a budget of multiply-accumulates. samples: [samples, *shape] of each input.

    Raises UnsupportedError if channels cannot be removed, or not enough of them.
    """
    before = macs_of(graph, reference)
    budget = budget_of(asked, before)
    if before <= budget:
        return Pruned(graph, before, before, (), (), 0)
    teacher = GradientNetwork(graph, reference)
    require_gradients(teacher)
    if len(samples[0]) < _FEWEST:
        given = "1 sample is" if len(samples[0]) == 1 else f"{len(samples[0])} samples are"
        what = f"{given} too few to train the model after channels are removed"
        raise UsageError(what, where="--data", hint=f"give {_FEWEST} or more, better 100, or leave --macs out")
    inputs = _taken(teacher, samples)
    judging = varied(inputs, min(_JUDGING, _FEW * _count(inputs)), 3, 0)
    progress("looking for channels that go together")
    streams = coupled.streams(graph, reference)
    known = removal.facts(teacher, _more(inputs), judging)
    found = removal.curves(teacher, known, streams, progress)
    counts = removal.chosen(teacher, found, budget)
    gone = [channel for curve, n in zip(found, counts, strict=True) for channel in curve.order[:n]]
    smaller, masks = coupled.without(graph, reference, gone)
    after = macs_of(smaller, reference)
    if after > budget:
        raise _too_few(teacher, before, after)
    stages = _trained(teacher, GradientNetwork(smaller, reference), inputs, judging, masks, progress)
    best = max(range(len(stages)), key=lambda k: (np.nan_to_num(stages[k].sqnr, nan=-np.inf), k))
    stages = tuple(replace(stage, kept=k == best) for k, stage in enumerate(stages))
    return Pruned(stages[best].graph, before, after, _layers(graph, masks), stages, _count(judging))


def tested(found: Pruned, floats: FloatRun, test: LabelledTest | None) -> Pruned:
    """The result with `Stage.worth`, if there are labels. floats: the original network on the test samples."""
    if test is None:
        return found
    stages = []
    for stage in found.stages:
        made = FloatRun(stage.graph, floats.reference, floats.given()).outputs()
        stages.append(replace(stage, worth=test.worth(made)[1]))
    return replace(found, stages=tuple(stages))


def require_moderate(floats: FloatRun) -> None:
    """Raise UsageError if values of the network are too large to train a pruned network in float32."""
    require_finite(floats)
    for name, seen in floats.observed().items():
        reach = max(-seen.low, seen.high)
        if reach > _FARTHEST:
            label = floats.graph.tensors[name].label or name
            what = f"{label}: values reach {reach:.4g} with these samples, too large to train the pruned model"
            raise UsageError(what, where="--data", hint="scale the samples as for training, or leave --macs out")


def require_gradients(network: GradientNetwork) -> None:
    """Raise UnsupportedError that names the operators without a gradient."""
    graph = network.graph
    nodes = [node for node, _, _ in network.steps if node.outputs[0] in network.learned]
    without = [n for n in nodes if not slopes.has_rule(graph.call(n, network.reference))]
    if network.layers and not without:
        return
    names = _listed([_named(graph, n) for n in without])
    what = f"no gradient is known for {names}" if without else "the network has no layers with weights"
    hint = "leave --macs out, or export the network without these operators"
    if any(is_layer(graph, n) and graph.type(n.outputs[0]).shape[:1] != (1,) for n in without):
        what = f"the first axis of {names} is not that of one sample"
        hint = "leave --macs out, or export the network for one sample"
    raise UnsupportedError(f"channels cannot be removed: {what}", where="--macs", hint=hint)


def _named(graph: Graph, node: Node) -> str:
    return f"{type(node.op).__name__} ({label_of(graph, node.name)})"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _count(inputs: Arrays) -> int:
    return len(next(iter(inputs.values())))


def _taken(network: GradientNetwork, samples: tuple[np.ndarray, ...]) -> Arrays:
    """Samples by input; only some for large networks, as their values must fit in memory."""
    most = max(_FEW, _BYTES // (4 * max(1, network.elements)))
    return {name: a[:most] for name, a in zip(network.graph.inputs, samples, strict=True)}


def _more(inputs: Arrays) -> Arrays:
    """The samples, and variations of them."""
    made = varied(inputs, _VARIED * _count(inputs), 1, 0)
    return {name: np.concatenate([a, made[name]]) for name, a in inputs.items()}


def _trained(
    teacher: GradientNetwork,
    student: GradientNetwork,
    inputs: Arrays,
    judging: Arrays,
    masks: Masks,
    progress: Callable[[str], None],
) -> tuple[Stage, ...]:
    heads = zip(teacher.heads, removal.outputs(teacher, judging), strict=True)
    wanted = [y[..., ~masks[name]] for name, y in heads]

    def stage(step: str, weights: Mapping[str, np.ndarray]) -> Stage:
        made = student.with_weights(weights)
        noise = powers(wanted, removal.outputs(made, judging)).sum(axis=1)
        return Stage(step, _with_constants(student.graph, weights), float(decibels(noise)))

    stages = [stage("channels removed", {})]
    progress("fitting what is left")
    fitted = refitted(student, teacher, _more(inputs), masks)
    stages.append(stage("layers fitted anew", fitted))
    start = fitted if stages[1].sqnr > stages[0].sqnr else {}
    training = Training(student, teacher, inputs, masks, dict(start))
    stages.append(stage("trained towards the network as it was", training.run(steps_for(teacher), progress)))
    return tuple(stages)


def _with_constants(graph: Graph, weights: Mapping[str, np.ndarray]) -> Graph:
    return graph.updated(tensors=[replace(graph.tensors[name], data=data) for name, data in weights.items()])


def _layers(graph: Graph, masks: Masks) -> tuple[tuple[str, int, int], ...]:
    found = []
    for node in graph.nodes:
        gone = masks.get(node.outputs[0])
        if is_layer(graph, node) and gone is not None and gone.any():
            found.append((label_of(graph, node.name), gone.size, int((~gone).sum())))
    return tuple(found)


def _too_few(network: GradientNetwork, before: int, after: int) -> UnsupportedError:
    graph = network.graph
    obstacles = coupled.obstacles(graph, network.reference)
    refusing = [_named(graph, node) for node in obstacles if node.outputs[0] in network.learned]
    why = f"; none goes through {_listed(refusing)}" if refusing else ""
    if after == before:
        what = why or "; those of inputs and outputs stay, and one of each layer"
        return UnsupportedError(f"no channel can be removed{what}", where="--macs", hint="leave --macs out")
    return UnsupportedError(
        f"channels can be removed down to {100 * after / before:.0f} % of the multiply-accumulates{why}",
        where="--macs",
        hint=f"ask for {100 * after / before + 1:.0f}% or more",
    )
