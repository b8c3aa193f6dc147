"""The intermediate representation: immutable tensors, nodes and graphs that refer to each other by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.op import Op
from mcugen.ir.ranges import Range, channels_of
from mcugen.ir.types import Shape, TensorType


@dataclass(frozen=True)
class Origin:
    """The imported tensor that a tensor represents: imported value = stored value + offset, in the stored channels.

    kept: the channels of the imported tensor that are stored, in order; None: all. constant: (channel, imported value)
    of channels that are not stored because they have one value for every input of the model. No remaining node reads
    any other channel that is not stored. order: the order in which the values are stored; None: as imported. Channels
    are those of the stored tensor.
    """

    tensor: str
    offset: int = 0
    kept: tuple[int, ...] | None = None
    constant: tuple[tuple[int, int], ...] = ()
    order: Order | None = None

    def ordered(self, imported: np.ndarray) -> np.ndarray:
        """All values of the imported tensor in the order and shape of the stored tensor."""
        return imported if self.order is None else self.order.stored(imported)

    def stored_part(self, imported: np.ndarray) -> np.ndarray:
        """The part of the imported tensor's values that is stored."""
        values = self.ordered(imported)
        return values if self.kept is None else values[..., list(self.kept)]

    def imported(self, stored: np.ndarray, shape: Shape) -> np.ndarray | None:
        """The imported tensor of that shape, from the stored values; None if some of its channels are not stored."""
        if self.kept is not None:
            return None
        values = stored.reshape(-1)
        if self.offset:
            values = (values.astype(np.int64) + self.offset).astype(np.uint8)
        found = np.empty(math.prod(shape), values.dtype)
        places = self.ordered(np.arange(found.size).reshape(shape))
        if places.size != stored.size:
            return None
        found[places.reshape(-1)] = values
        return found.reshape(shape)

    def without(self, gone: np.ndarray, values: Range) -> Origin:
        """This origin with fewer stored channels. gone: a mask of channels to remove. values: bounds of all stored
        channels.
        """
        kept = np.arange(gone.size) if self.kept is None else np.array(self.kept)
        fixed = gone & values.constant
        found = ((int(kept[k]), int(values.low[k]) + self.offset) for k in np.flatnonzero(fixed))
        return replace(self, kept=tuple(kept[~gone].tolist()), constant=(*self.constant, *found))


UNREAD_NODE = "unread results"
"""`Removed.what` for the result of a node that a pass removes because nothing reads it."""


@dataclass(frozen=True)
class Removed:
    """A part that a pass removed.

    what: kind of the part. tensor: the imported tensor. why: why the model's results stay the same. channels: number of
    removed channels. exact: whether no bit of the results changes; else floats are rounded in other places.
    """

    what: str
    tensor: str
    why: str
    channels: int = 0
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Tensor:
    """A named value.

    data: values of a constant, else None. label: the model's own name, which must not appear in code. range: bounds of
    the stored integers for every input of the model, if a pass has determined them.
    """

    name: str
    type: TensorType
    data: np.ndarray | None = None
    label: str = ""
    origin: Origin | None = None
    range: Range | None = None

    @property
    def is_constant(self) -> bool:
        return self.data is not None

    @property
    def layer(self) -> str:
        """The model's name of the layer that computes this tensor: the first if an exporter joined names with `;`."""
        return self.label.split(";")[0]


@dataclass(frozen=True)
class Node:
    """One operator applied to named tensors. `source` is its place in the model file."""

    name: str
    op: Op
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, eq=False)
class State:
    """A value that is passed from run to run: a run reads it from tensor `before`, and writes the next value to
    `after`.

    before: a tensor that no node writes. after: any tensor of the same type that has a value at the end of a run.
    initial: the value of `before` in the first run.
    """

    before: str
    after: str
    initial: np.ndarray


@dataclass(frozen=True)
class SampleStream:
    """How an input arrives as a stream of samples.

    hop: samples from the start of one window to the start of the next. stride: rows from one run of the nodes that
    depend on collected rows to the next. rate: samples per second. queue: samples that may wait between an interrupt
    and the task; 0 without a queue.
    """

    hop: int
    stride: int
    rate: int
    queue: int = 0


@dataclass(frozen=True, eq=False)
class Graph:
    """A network: nodes in an order that respects their inputs.

    sha256       hash of the model file
    format       kind of the model file, for example "tflite"
    refusals     runtime ("tflm", "litert") -> the file's operators that this runtime does not compute, with the reason
    removed      the parts that passes removed, in order
    notes        assumptions of the import, for the user
    states       the values that a run passes to the next run
    signatures   (name, index) of each named subgraph of the file
    texts        index of an output whose integers are indices of texts -> these texts
    layouts      input or output whose axes are permuted -> for each axis, the axis in the file
    values       name of a value in the file -> the tensor that holds it, which may have been removed
    stream       how the input arrives as a stream of samples; None if each run gets the whole input
    features     hash of the front end whose features the network was made for; "" if that is not known
    front_end    facts of the front end that the graph begins with, by name; None without a front end
    rounds_once  whether integer operators replace float operators, with their exact results rounded once
    file         bytes of the model file, empty for a folder
    unlike_file  how inputs and outputs differ from the file's
    indices      tensor indices of the inputs, then of the outputs, in a .tflite file
    variables    tensor indices of the variables in that file
    """

    name: str
    tensors: Mapping[str, Tensor]
    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sha256: str = ""
    format: str = ""
    refusals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    removed: tuple[Removed, ...] = ()
    notes: tuple[str, ...] = ()
    states: tuple[State, ...] = ()
    signatures: tuple[tuple[str, int], ...] = ()
    texts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    stream: SampleStream | None = None
    features: str = ""
    front_end: Mapping[str, object] | None = None
    rounds_once: bool = False
    file: bytes = b""
    unlike_file: tuple[str, ...] = ()
    indices: tuple[int, ...] = ()
    variables: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tensors", MappingProxyType(dict(self.tensors)))

    @property
    def given(self) -> tuple[str, ...]:
        """The tensors that have a value before the first node runs: inputs and states."""
        return (*self.inputs, *(state.before for state in self.states))

    @property
    def kept(self) -> tuple[str, ...]:
        """The tensors that must have a value at the end of a run: outputs and the next values of states."""
        return (*self.outputs, *(state.after for state in self.states))

    @property
    def unread_inputs(self) -> frozenset[str]:
        """Inputs that no node reads and that are no outputs or next states. They stay in the C interface."""
        read = {name for node in self.nodes for name in node.inputs} | set(self.kept)
        return frozenset(name for name in self.inputs if name not in read)

    @property
    def stores_halves(self) -> bool:
        """Whether any computed float is stored as half."""
        return any(t.type.dtype == "f16" and not t.is_constant for t in self.tensors.values())

    def type(self, name: str) -> TensorType:
        return self.tensors[name].type

    def call(self, node: Node, reference: str) -> Call:
        """The node as a call, with the constants and bounds of its operands."""
        operands = [None if name is None else self.tensors[name] for name in node.inputs]
        return Call(
            op=node.op,
            inputs=tuple(t.type if t else None for t in operands),
            outputs=tuple(self.type(name) for name in node.outputs),
            constants=tuple(t.data if t else None for t in operands),
            reference=reference,
            input_range=tuple(t.range if t else None for t in operands),
        )

    def removals(self, names: Iterable[str], what: str, why: str, *, exact: bool = True) -> list[Removed]:
        """Entries of `removed` for tensors that a pass leaves out. Tensors that a pass added get no entry."""
        origins = (self.tensors[name].origin for name in names)
        return [Removed(what, origin.tensor, why, exact=exact) for origin in origins if origin]

    def updated(
        self,
        *,
        tensors: Iterable[Tensor] = (),
        nodes: Iterable[Node] | None = None,
        inputs: tuple[str, ...] | None = None,
        outputs: tuple[str, ...] | None = None,
        removed: Iterable[Removed] = (),
        states: Iterable[State] | None = None,
    ) -> Graph:
        """A copy with changes and without unused tensors.

        tensors: tensors to add, or to replace by name. removed: the parts that this change removes.
        """
        changed = replace(
            self,
            tensors={**self.tensors, **{t.name: t for t in tensors}},
            nodes=self.nodes if nodes is None else tuple(nodes),
            inputs=inputs or self.inputs,
            outputs=outputs or self.outputs,
            removed=(*self.removed, *removed),
            states=self.states if states is None else tuple(states),
        )
        used = {name for node in changed.nodes for name in (*node.inputs, *node.outputs)}
        used |= {*changed.given, *changed.kept}
        return replace(changed, tensors={name: t for name, t in changed.tensors.items() if name in used})

    def dump(self) -> str:
        """The graph as text, one line per tensor and node: what `mcugen inspect --ir` prints."""
        lines = [f"graph {self.name!r} ({self.format} {self.sha256[:16]})"]
        lines += [f"  input  {name}: {self.type(name)}" for name in self.inputs]
        lines += [f"  state  {s.before}: {self.type(s.before)} = {_values_text(s.initial)}" for s in self.states]
        lines += [f"  const  {t.name}: {t.type}" for t in self.tensors.values() if t.is_constant]
        for node in self.nodes:
            operands = ", ".join(name or "-" for name in node.inputs)
            results = ", ".join(f"{name}: {self.type(name)}" for name in node.outputs)
            lines.append(f"  {node.name}: {results} = {node.op}({operands})")
        lines += [f"  {s.before} of the next run is {s.after}" for s in self.states]
        lines += [f"  output {name}: {self.type(name)}" for name in self.outputs]
        return "\n".join(lines) + "\n"


def _values_text(values: np.ndarray) -> str:
    """A constant as text: its value, or its least and greatest value."""
    low, high = values.min(), values.max()
    return f"{low}" if low == high else f"{low}..{high}"


def with_origins(graph: Graph) -> Graph:
    """An imported graph in which each tensor represents itself."""
    return replace(
        graph, tensors={name: replace(t, origin=t.origin or Origin(name)) for name, t in graph.tensors.items()}
    )


def verify_origins(graph: Graph, imported: Graph, stage: str) -> Graph:
    """Return the graph if every computed tensor states which imported tensor it represents, and how.

    Raises InternalError, naming the stage, if not.
    """
    for name, tensor in graph.tensors.items():
        origin = tensor.origin
        if tensor.is_constant:
            continue
        if origin is None or origin.tensor not in imported.tensors:
            raise InternalError(f"{name!r} does not state which imported tensor it represents", where=stage)
        t = imported.type(origin.tensor)
        t = t if origin.order is None else origin.order.stored_type(t)
        channels = channels_of(t) if origin.kept is None else len(origin.kept)
        if t.size // channels_of(t) * channels != tensor.type.size:
            raise InternalError(f"{name!r} of type {tensor.type} differs in size from its {origin} of {t}", where=stage)
    return graph


def verify(graph: Graph, stage: str) -> Graph:
    """Return the graph if it is well formed; raise InternalError, naming the stage, if not."""
    known = {name for name, t in graph.tensors.items() if t.is_constant} | set(graph.given)
    for node in graph.nodes:
        for name in node.inputs:
            if name is not None and name not in known:
                raise InternalError(f"{node.name} reads {name!r} before it is written", where=stage)
        for name in node.outputs:
            if name not in graph.tensors or name in known:
                raise InternalError(f"{node.name} writes {name!r}, which is unknown or already written", where=stage)
            known.add(name)
    missing = [name for name in graph.kept if name not in known]
    if missing:
        raise InternalError(f"outputs or states {missing} are never written", where=stage)
    _verify_states(graph, stage)
    for name, tensor in graph.tensors.items():
        if tensor.data is not None and (tensor.data.shape, tensor.data.dtype) != (
            tensor.type.shape,
            tensor.type.np_dtype,
        ):
            raise InternalError(f"the data of constant {name!r} are not {tensor.type}", where=stage)
        if tensor.type.is_packed:
            _verify_packed(tensor, stage)
        if tensor.range is not None and tensor.range.low.size != channels_of(tensor.type):
            raise InternalError(f"the bounds of {name!r} have other channels than {tensor.type}", where=stage)
    return graph


def _verify_packed(tensor: Tensor, stage: str) -> None:
    if tensor.data is None:
        raise InternalError(f"{tensor.name!r} of type {tensor.type} is no constant", where=stage)
    low, high = tensor.type.limits
    if tensor.data.size and not low <= tensor.data.min() <= tensor.data.max() <= high:
        raise InternalError(f"constant {tensor.name!r} does not fit its type {tensor.type}", where=stage)


def _verify_states(graph: Graph, stage: str) -> None:
    if len(set(graph.given)) < len(graph.given):
        raise InternalError(f"{list(graph.given)} name an input or a state twice", where=stage)
    for state in graph.states:
        before, after = graph.tensors[state.before], graph.tensors[state.after]
        if before.is_constant:
            raise InternalError(f"state {state.before!r} must not be a constant", where=stage)
        if before.type != after.type:
            raise InternalError(f"state {state.before!r} of type {before.type} becomes {after.type}", where=stage)
        if (state.initial.shape, state.initial.dtype) != (before.type.shape, before.type.np_dtype):
            raise InternalError(f"the initial value of state {state.before!r} is not {before.type}", where=stage)
