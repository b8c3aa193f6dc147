"""Metrics: how good the answers of a network are, by the labels of samples. A metric is a module here.

Each module has a METRIC. `--metric` names it; without a name, the shapes of labels and outputs choose.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from types import MappingProxyType

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op
from mcugen.ir.types import Shape
from mcugen.ops.box_table import BoxTable
from mcugen.ops.detection_postprocess import DetectionPostprocess
from mcugen.samples.labels import Ragged, Truth

WHERE = "--metric"
TASKS = {"detection": "map"}
"""Name of `--task` -> the metric for it."""

Value = float | tuple[float, ...]
"""A score; several are the scores of successive parts of time."""
Outputs = tuple[np.ndarray, ...]
"""Outputs as real numbers, [samples, *shape] each, or for sequences [samples, frames, *shape]."""
Scores = Mapping[str, Value]


@dataclass(frozen=True)
class ScoredOutput:
    """An output of a network: name, shape of one run, and whether its integers number classes."""

    name: str
    shape: Shape
    numbers_classes: bool = False

    @property
    def plain(self) -> Shape:
        """The shape without a first axis of 1."""
        return self.shape[1:] if self.shape[:1] == (1,) else self.shape

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Interface:
    """Shapes of a network, as far as metrics must know them.

    outputs: those that are no states; inputs: shapes of the inputs; frames: number of frames of each sequence, 0 if
    samples are no sequences; box_classes: number of classes of a detector, 0 if it is unknown
    """

    outputs: tuple[ScoredOutput, ...]
    inputs: tuple[Shape, ...] = ()
    frames: int = 0
    box_classes: int = 0


@singledispatch
def box_classes(op: Op, call: Call) -> int:
    """The number of classes of the boxes that an operator makes; 0 if it makes none."""
    return 0


@box_classes.register(DetectionPostprocess)
def _(op: DetectionPostprocess, call: Call) -> int:
    return op.classes


@box_classes.register(BoxTable)
def _(op: BoxTable, call: Call) -> int:
    return call.input(2).shape[1]


def interface_of(graph: Graph, frames: int = 0, states: Collection[int] = ()) -> Interface:
    """The interface of a graph. states: indices of its outputs that are states."""
    shown = [name for k, name in enumerate(graph.outputs) if k not in states] or list(graph.outputs)
    outputs = [
        ScoredOutput(graph.tensors[name].label or name, t.shape, t.np_dtype.kind in "iub" and t.quant is None)
        for name, t in ((name, graph.type(name)) for name in shown)
    ]
    count = max((box_classes(node.op, graph.call(node, "")) for node in graph.nodes), default=0)
    return Interface(tuple(outputs), tuple(graph.type(name).shape for name in graph.inputs), frames, count)


@dataclass(frozen=True)
class Metric:
    """A way to compare outputs with labels.

    name: for `--metric`
    fits: whether labels of this kind and shape, with such outputs, ask for this metric
    require: raises UsageError for labels that it cannot take
    score: scores by name, from outputs and labels that `require` let pass
    titles: name of a score -> words for it; shares: names of the scores that are shares, shown in %
    answers: for classification, the class of each sample
    """

    name: str
    fits: Callable[[Truth, Interface], bool]
    require: Callable[[Truth, Interface], None]
    score: Callable[[Outputs, Truth, Interface], Scores]
    titles: Mapping[str, str]
    shares: frozenset[str] = frozenset()
    answers: Callable[[Outputs], np.ndarray] | None = None


@functools.cache
def every() -> Mapping[str, Metric]:
    """The metrics by name, sorted."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    found = [importlib.import_module(f"{__name__}.{name}").METRIC for name in names]
    return MappingProxyType({metric.name: metric for metric in sorted(found, key=lambda metric: str(metric.name))})


def chosen(text: str, truth: Truth, network: Interface, task: str = "") -> Metric:
    """The metric of a name, of a task, or the only one that fits labels and outputs. Raises UsageError.

    text: a name, FILE.py:FUNCTION for a function of the user's, or ""
    """
    from mcugen.samples.metrics import _own

    if truth is None:
        raise UsageError("there are no labels", where=WHERE, hint="add an array with the key 'y' to the samples")
    known = every()
    name = text or TASKS.get(task, "")
    if name and name not in known:
        return _own.metric_of(name, [*known])
    fitting = [name] if name else [key for key, metric in known.items() if metric.fits(truth, network)]
    if len(fitting) != 1:
        raise _unclear(fitting, truth, network)
    found = known[fitting[0]]
    found.require(truth, network)
    return found


def shown(name: str, value: Value) -> str:
    """A score as text: in % if it is a share."""
    parts = value if isinstance(value, tuple) else (value,)
    is_share = any(name in metric.shares for metric in every().values())
    return ", ".join(f"{100 * v:.2f} %" if is_share else f"{v:.6g}" for v in parts)


def _unclear(fitting: Sequence[str], truth: Truth, network: Interface) -> UsageError:
    outputs = ", ".join(str(list(output.plain)) for output in network.outputs)
    what = f"labels of {described(truth)} and outputs of {outputs} fit {' and '.join(fitting) or 'no metric'}"
    return UsageError(what, where=WHERE, hint=f"name one: {', '.join(every())}, or a function of yours, FILE.py:NAME")


def described(truth: Truth) -> str:
    """Kind and shape of labels, in words."""
    if isinstance(truth, Ragged):
        return f"{', '.join(truth.parts)} for each sample"
    if truth is None:
        return "no kind"
    kind = "classes" if truth.dtype.kind in "iu" else "floats"
    return f"{kind} {list(truth.shape[1:])}" if truth.ndim > 1 else f"one of the {kind}"
