"""Reader of TensorFlow Lite: a .tflite file becomes a Graph. Operators have their own modules.

The model is one subgraph of the file. Subgraphs that its operators call are expanded in place, once for each call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcugen.errors import CorruptModelError, QuantizationError, UnsupportedError, UsageError
from mcugen.formats._builder import Builder, Expander, importing, used
from mcugen.formats._operands import check_operands, check_result, check_results, require_runtime
from mcugen.formats.registry import RegisteredImport, Registry
from mcugen.formats.tflite import flatbuffer as fb
from mcugen.formats.tflite.tensors import (
    Operands,
    Results,
    as_declared,
    bounded,
    inner_quantization,
    is_half,
    is_handle,
    is_readable,
    leaves_open,
    tensor,
    unknown_type,
)
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import activation_bounds
from mcugen.ir.graph import Graph, Node, State, Tensor
from mcugen.ir.imports import Imported, Source
from mcugen.ir.types import Shape

REFERENCES = ("tflm", "litert")
"""The runtimes whose results a model of this format can reproduce, the default first."""

LAYOUT = "nhwc"
"""The order of image axes in this format."""

MAX_OPERATORS = 10_000
MAX_REPEATED = 1 << 14
"""Most operators imported from a file; operators in loops count once per iteration."""

MAX_FOLDED_BYTES = 1 << 26
"""Largest total size of the constants that called subgraphs compute at import."""


def recognises(data: bytes) -> bool:
    """Whether a file is one of this format."""
    return data[4:8] == fb.IDENTIFIER


def operators(data: bytes) -> tuple[str, ...]:
    """The names of all operators of a file, sorted, a custom one as CUSTOM:NAME. Raises CorruptModelError."""
    return tuple(sorted({operator.name for graph in fb.read(data).graphs for operator in graph.operators}))


def load(
    data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape], signature: str = ""
) -> Graph:
    """Import a model. Raises CorruptModelError, UnsupportedError (all nodes at once), ShapeError, QuantizationError."""
    file = fb.read(data)
    if shapes:
        raise UsageError("the shapes of a .tflite model are fixed", where="--input-shape", hint="leave the option out")
    importer = _imported(file, registry, signature)
    fixed = {name for name, v in importer.builder.variables.items() if v.is_stated and not v.is_changed}
    if fixed:  # a second pass imports these variables as constants, and folds what only depends on them
        importer = _imported(file, registry, signature, frozenset(fixed))
    raw, common = importer.raw, importer.common
    outputs = tuple(importer.held(i) for i in raw.outputs)
    states = common.builder.states(outputs)
    halves = (raw.tensors[i].label for i in (*raw.inputs, *raw.outputs) if is_half(raw.tensors[i]))
    return Graph(
        name=path.stem,
        tensors=importer.used_tensors(states),
        nodes=tuple(common.nodes),
        inputs=tuple(importer.held(i) for i in raw.inputs if raw.tensors[i].data is None),  # constants cannot be set
        outputs=outputs,
        sha256=sha256,
        format="tflite",
        refusals={runtime: tuple(dict.fromkeys(found)) for runtime, found in common.refusals.items()},
        states=states,
        signatures=file.signatures,
        features=file.features,
        notes=(
            *(f"{label!r} is float16 in the file, and float32 here" for label in dict.fromkeys(halves)),
            *(note for i in raw.inputs for note in _open_sizes(raw.tensors[i])),
        ),
        unlike_file=tuple(importer.unlike_file()),
        indices=(*raw.inputs, *raw.outputs),
        variables=tuple(i for i, found in enumerate(raw.tensors) if found.is_variable),
    )


def _imported(file: fb.RawModel, registry: Registry, signature: str, fixed: frozenset[str] = frozenset()) -> _Importer:
    """The importer after a pass over the model. fixed: variables that no run changes."""
    importer = _Importer(_Common(file, registry), file.entry(signature))
    importer.builder.fixed = fixed
    importer.run()
    importer.require_supported()
    return importer


def _open_sizes(tensor: fb.RawTensor) -> list[str]:
    """A note if sizes other than the batch are open in the file; like the runtimes, mcugen uses the stated ones."""
    if not leaves_open(tensor.signature[1:], tensor.shape[1:]):
        return []
    return [f"input {tensor.label!r}: its open shape {list(tensor.signature)} is taken as {list(tensor.shape)}"]


@dataclass
class _Common:
    """The state that the imports of all subgraphs of a file share.

    calling: the subgraphs that are being imported, each called by the one before it. calls: number of calls so far.
    operators: number of operators imported so far; in loops, each repetition counts. folded_bytes: size of the
    constants that called subgraphs computed at import.
    """

    file: fb.RawModel
    registry: Registry
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    refusals: dict[str, list[str]] = field(default_factory=lambda: {runtime: [] for runtime in REFERENCES})
    calling: list[int] = field(default_factory=list)
    calls: int = 0
    operators: int = 0
    folded_bytes: int = 0

    def __post_init__(self) -> None:
        self.builder = Builder(self.registry, "tflite", REFERENCES[0], self.tensors, self.nodes, prefix="x")
        self.builder.inline = self.inline

    def inline(self, graph: int, operands: Sequence[str]) -> Sequence[str]:
        """Append the nodes of a subgraph that an operator calls; returns its results."""
        if not 0 <= graph < len(self.file.graphs):
            raise CorruptModelError(f"an operator calls subgraph {graph}, but the file has {len(self.file.graphs)}")
        if graph in self.calling:
            raise UnsupportedError(f"subgraph {graph} calls itself", hint="export the model without recursion")
        self.calls += 1
        called = _Importer(self, graph, f"c{self.calls}")
        return called.call(operands)


@dataclass
class _Importer:
    """One pass over the operators of a subgraph in file order; computed constants are folded as they appear.

    prefix: start of the names of this call's tensors. values: index in the file -> tensor, if it is not the tensor
    named after that index. handles: index of a RESOURCE -> the variable that it refers to.
    written: indices that have a value so far. custom: results of custom operators, whose shapes files often leave out
    or state wrongly.
    """

    common: _Common
    graph: int
    prefix: str = ""
    written: set[int] = field(default_factory=set)
    custom: set[int] = field(default_factory=set)
    values: dict[int, str] = field(default_factory=dict)
    handles: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.raw = self.common.file.graphs[self.graph]
        self.tensors, self.nodes = self.common.tensors, self.common.nodes
        self.builder, self.unsupported = self.common.builder, self.common.unsupported
        self._place = f"subgraph {self.graph} " if self.prefix else ""

    def name(self, index: int) -> str:
        """The tensor of this index. Calls of a subgraph share its constants."""
        shared = f"g{self.graph}" if self.prefix and self.raw.tensors[index].data is not None else self.prefix
        return f"{shared}t{index}"

    def held(self, index: int) -> str:
        """The tensor that holds a value of the file, or the variable that it refers to."""
        return self.handles.get(index) or self.values.get(index, self.name(index))

    def unlike_file(self) -> Iterator[str]:
        """Differences between the graph's inputs and outputs and those in the file, in words."""
        for kind, indices in (("input", self.raw.inputs), ("output", self.raw.outputs)):
            for i in indices:
                raw = self.raw.tensors[i]
                if kind == "input" and raw.data is not None:
                    yield f"input {raw.label!r} is a constant in the file"
                elif is_half(raw):
                    yield f"{kind} {raw.label!r} is float16 in the file and float32 here"
                elif self.tensors[self.held(i)].type.shape != raw.shape:
                    yield f"{kind} {raw.label!r} has another shape in the file, {list(raw.shape)}"

    def call(self, operands: Sequence[str]) -> Sequence[str]:
        """Import the subgraph on these operands; returns the names of its results."""
        if len(operands) != len(self.raw.inputs):
            raise CorruptModelError(
                f"a call gives {len(operands)} operands to a subgraph with {len(self.raw.inputs)} inputs"
            )
        for index, operand in zip(self.raw.inputs, operands, strict=True):
            self._check_index(index, "graph input")
            self._bind(index, operand)
        self.run()
        return [self.held(i) for i in self.raw.outputs]

    def run(self) -> None:
        self._check_container()
        for index, raw in self._referenced():
            self._add_tensor(index, raw)
        for index, name in list(self.values.items()):  # the operands of the call
            if self.name(index) in self.tensors:
                self._hold(index, name)
        held = (i for i, t in enumerate(self.raw.tensors) if t.data is not None or t.is_variable)
        self.written = {*self.raw.inputs, *held}
        self.common.calling.append(self.graph)
        try:
            for index, operator in enumerate(self.raw.operators):
                self._add(index, operator)
        finally:
            self.common.calling.pop()
        for index in self.raw.outputs:
            if index not in self.written:
                self.require_supported()
                raise CorruptModelError(f"graph output tensor {index} is never computed")

    def _add_tensor(self, index: int, raw: fb.RawTensor) -> None:
        """Import one tensor. Tensors of unknown types are left out; nodes that use them are refused later."""
        if is_readable(raw):
            name = self.name(index)
            if name not in self.tensors:
                self.tensors[name] = tensor(index, raw, name)
        elif (index in self.raw.inputs or index in self.raw.outputs) and not (self.prefix and is_handle(raw)):
            self.unsupported.append(unknown_type(index, raw))

    def used_tensors(self, states: Sequence[State]) -> dict[str, Tensor]:
        """The tensors that nodes, the interface or states refer to, and every folded result."""
        ends = [self.held(i) for i in (*self.raw.inputs, *self.raw.outputs)]
        return used(self.tensors, self.nodes, [*ends, *(name for s in states for name in (s.before, s.after))])

    def _check_container(self) -> None:
        if not self.raw.outputs and not self.prefix:
            raise CorruptModelError("the graph has no output")
        for what, found in (("input", self.raw.inputs), ("output", self.raw.outputs)):
            for index in found:
                self._check_index(index, f"graph {what}")
        if len(set(self.raw.inputs)) != len(self.raw.inputs):
            raise CorruptModelError("the graph names the same input twice")
        for operator in self.raw.operators:
            for index in (*operator.inputs, *operator.outputs):
                if index != -1 or index in operator.outputs:
                    self._check_index(index, operator.name)
        if len(self.raw.operators) > MAX_OPERATORS:
            raise UnsupportedError(f"the model has {len(self.raw.operators)} operators, more than {MAX_OPERATORS}")

    def _check_index(self, index: int, what: str) -> None:
        if not 0 <= index < len(self.raw.tensors):
            raise CorruptModelError(
                f"{what} names tensor {index}, but the subgraph has {len(self.raw.tensors)} tensors"
            )

    def _referenced(self) -> list[tuple[int, fb.RawTensor]]:
        used = {*self.raw.inputs, *self.raw.outputs}
        used |= {i for operator in self.raw.operators for i in (*operator.inputs, *operator.outputs) if i >= 0}
        return [(i, self.raw.tensors[i]) for i in sorted(used)]

    def _add(self, index: int, operator: fb.RawOperator) -> None:
        """Import one operator: unsupported features are collected, errors are raised with the operator's place."""
        where = f"{self._place}operator {index} {operator.name}"
        self.common.operators += 1
        if self.common.operators > MAX_REPEATED:
            raise UnsupportedError(f"loops and calls make more than {MAX_REPEATED} operators", where=where)
        for operand in operator.inputs:
            if operand >= 0 and operand not in self.written and not self.unsupported:
                raise CorruptModelError(f"the operator reads tensor {operand} before anything writes it", where=where)
        for result in operator.outputs:
            if result in self.written:
                raise CorruptModelError(f"the operator writes tensor {result}, which already has a value", where=where)
            self.written.add(result)
        self.custom.update(operator.outputs if operator.name.startswith("CUSTOM:") else ())
        with importing(where, self.unsupported):
            self._add_node(index, operator, where)
        if self.prefix:
            held = (self.tensors.get(self.held(i)) for i in operator.outputs)
            self.common.folded_bytes += sum(t.type.nbytes for t in held if t is not None and t.is_constant)
        if self.common.folded_bytes > MAX_FOLDED_BYTES:
            raise UnsupportedError(f"calls compute over {MAX_FOLDED_BYTES} bytes of constants", where=where)

    def _add_node(self, index: int, operator: fb.RawOperator, where: str) -> None:
        found = self.common.registry.find("tflite", operator.name, operator.version)
        if found is None:
            raise UnsupportedError(self.common.registry.lacking("tflite", operator.name, operator.version))
        source = self._source(operator, has_variables=found.entry.expand is not None)
        found = self.common.registry.fitting(found, source, operator.version)
        if found.entry.expand is not None:
            self._expand(found, source, operator, where)
            return
        imported = found.build(source)
        activation_bounds(getattr(imported.op, "activation", "NONE"))  # refuses activations that no runtime fuses
        source.attributes.require_read()
        node = self._node(index, operator, imported, where)
        self._close(node, operator)
        call = self._call(node)
        check_results(node.op, call, [self.raw.tensors[i].label for i in operator.outputs])
        self._note_refusals(imported, self._declared(call, imported, operator), where)
        folded = node.op.fold(call)
        if folded is None:
            self.nodes.append(node)
            return
        for name, data in zip(node.outputs, folded, strict=True):
            old = self.tensors[name]
            self.tensors[name] = Tensor(name, old.type, data, old.label)

    def _close(self, node: Node, operator: fb.RawOperator) -> None:
        """Set the shapes of results that the file leaves open, as inferred from the operands."""
        if any(i in self.custom or -1 in self.raw.tensors[i].signature for i in operator.outputs):
            call = self._call(node)
            check_operands(type(node.op), call.inputs)
            for index, found in zip(operator.outputs, node.op.infer(*call.inputs), strict=False):
                self._settle(index, found.shape)

    def _settle(self, index: int, shape: Shape) -> None:
        """Set the shape of a tensor that the file leaves open."""
        if index in self.custom or leaves_open(self.raw.tensors[index].signature, shape):
            old = self.tensors[self.name(index)]
            what = f"tensor {index} {old.label!r}"
            self.tensors[self.name(index)] = replace(old, type=bounded(replace(old.type, shape=shape), what))

    def _expand(self, found: RegisteredImport, source: Source, operator: fb.RawOperator, where: str) -> None:
        """Append the nodes that the operator expands to. Its results become names for the results of these nodes."""
        variables = [self._variable(i) for i in operator.inputs]
        names = [None if i < 0 or v else self.held(i) for i, v in zip(operator.inputs, variables, strict=True)]
        label = self.raw.tensors[operator.outputs[0]].label if operator.outputs else ""
        first = len(self.nodes)
        expander = Expander(self.builder, names, where, label, variables)
        if source.halves:
            for runtime in REFERENCES[: 1 if found.entry.halves else None]:
                expander.refuse(runtime, "no kernel for f16")
        results = expander.run(found, source)
        source.attributes.require_read()
        require_runtime(expander.reasons, REFERENCES)
        for runtime, why in self.builder.refusals:
            self.common.refusals[runtime].append(why)
        self.builder.refusals.clear()
        if len(results) != len(operator.outputs):
            raise CorruptModelError(f"the operator has {len(operator.outputs)} results, needs {len(results)}")
        own: dict[str, str] = {}
        for index, name in zip(operator.outputs, results, strict=True):
            self._bind(index, own.get(name, name))
            if index in self.values:
                self._hold(index, self.values[index])
                if self.builder.rename(name, self.name(index), first):
                    own[name] = self.values[index] = self.name(index)

    def _bind(self, index: int, name: str) -> None:
        """Record which tensor holds a value of the file, or which variable it refers to."""
        stands, is_value = is_handle(self.raw.tensors[index]), name in self.tensors
        if stands == is_value:
            raise CorruptModelError(f"tensor {index} of type {self.raw.tensors[index].type} cannot hold {name!r}")
        (self.handles if stands else self.values)[index] = name

    def _variable(self, index: int) -> str | None:
        """The variable that an operand refers to; None for a value."""
        if index >= 0 and self.raw.tensors[index].is_variable:
            return f"{self._place}tensor {index}"
        return self.handles.get(index)

    def _hold(self, index: int, name: str) -> None:
        """Record which tensor holds a value of the file, with the type that the file declares."""
        self._settle(index, self.tensors[name].type.shape)
        made, declared = self.tensors[name], self.tensors[self.name(index)]
        check_result(declared.label, made.type, declared.type)
        if made.type.quant not in (None, declared.type.quant):
            raise QuantizationError(f"the file declares {declared.type}, but the import makes {made.type}")
        if made.type.quant is None and not made.is_constant:
            self.tensors[name] = replace(made, type=declared.type)
        self.values[index] = name

    def _note_refusals(self, imported: Imported, call: Call, where: str) -> None:
        """Record which runtimes have no kernel for a call. Raises UnsupportedError if no runtime has a kernel."""
        reasons = {r: imported.refused_by.get(r) or imported.op.refused_by(call, r) for r in REFERENCES}
        require_runtime(reasons, REFERENCES)
        for runtime, why in reasons.items():
            if why:
                self.common.refusals[runtime].append(f"{where}: {why}")

    def _source(self, operator: fb.RawOperator, *, has_variables: bool) -> Source:
        values = [i for i in (*operator.inputs, *operator.outputs) if i >= 0]
        handles = {i for i in values if has_variables and is_handle(self.raw.tensors[i])}
        for index in values:
            if index not in handles:
                self._check_readable(index, self.raw.tensors[index], may_vary=has_variables)
        operands = [None if i < 0 or i in handles else self.tensors[self.held(i)] for i in operator.inputs]
        results = (self.tensors[self.name(i)].type for i in operator.outputs if i not in handles)
        return Source(
            name=operator.name,
            attributes=operator.attributes,
            inputs=Operands(t.type if t else None for t in operands),
            constants=tuple(t.data if t else None for t in operands),
            outputs=Results(results),  # type: ignore[arg-type]
            inner=tuple(inner_quantization(self.raw.tensors, i) for i in operator.inner),
            halves=any(is_half(self.raw.tensors[i]) for i in values),
        )

    def _check_readable(self, index: int, raw: fb.RawTensor, *, may_vary: bool) -> None:
        if not is_readable(raw):
            raise UnsupportedError(unknown_type(index, raw))
        if raw.is_variable and not may_vary:
            raise UnsupportedError(f"variable tensor {raw.label!r} is not supported")
        if raw.sparsity is not None:
            self.common.refusals["tflm"].append(f"it reads the sparse tensor {raw.label!r} as a dense one")

    def _node(self, index: int, operator: fb.RawOperator, imported: Imported, where: str) -> Node:
        names = tuple(None if i < 0 else self.held(i) for i in operator.inputs)
        if imported.inputs is not None:
            if any(k >= len(names) for k in imported.inputs):
                raise CorruptModelError(f"the operator has {len(names)} operands, needs {max(imported.inputs) + 1}")
            names = tuple(names[k] for k in imported.inputs)
        return Node(f"{self.prefix}n{index}", imported.op, names, tuple(self.name(i) for i in operator.outputs), where)

    def _call(self, node: Node) -> Call:
        used = {name: self.tensors[name] for name in (*node.inputs, *node.outputs) if name is not None}
        return Graph("", used, (), (), ()).call(node, "tflm")

    def _declared(self, call: Call, imported: Imported, operator: fb.RawOperator) -> Call:
        """The call with the element types that the file declares: some float32 tensors are float16 in the file."""
        chosen = range(len(operator.inputs)) if imported.inputs is None else imported.inputs
        raws = [None if operator.inputs[k] < 0 else self.raw.tensors[operator.inputs[k]] for k in chosen]
        pairs = zip(call.inputs, raws, strict=True)
        given = [None if t is None or raw is None else as_declared(t, raw) for t, raw in pairs]
        made = [as_declared(t, self.raw.tensors[i]) for t, i in zip(call.outputs, operator.outputs, strict=True)]
        return replace(call, inputs=tuple(given), outputs=tuple(made))

    def require_supported(self) -> None:
        """Raise UnsupportedError for all that mcugen does not support, at once."""
        if not self.unsupported:
            return
        raise UnsupportedError(
            "the model uses what mcugen does not support:\n  " + "\n  ".join(self.unsupported),
            hint=self.common.registry.hint,
        )
