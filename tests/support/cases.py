"""Conformance cases: each example of an operator, on each kernel that takes it, as emitted C and expected outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen import kernels, passes
from mcugen.emit import emit, view
from mcugen.emit.view import ModelView
from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Example, Op
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.solve import schedule
from mcugen.solve.plan import MemoryPlan, check
from mcugen.solve.schedule import Choice, Schedule
from tests.support import draw
from tests.support.references import REFERENCES

RED_ZONE = 32
"""Bytes between two buffers of a case, and around them, which no kernel may touch."""

Arrays = list[np.ndarray]
BROKEN = (McugenError, NotImplementedError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that a defective operator may raise: reported with its example, so that the others still run."""


@dataclass(frozen=True, eq=False)
class Case:
    """One emitted model: `name` prefixes its C symbols, `label` describes it.

    expected: for each reference whose C this is, the outputs of each input set. zones: (first, end) bytes no one owns.
    """

    name: str
    label: str
    view: ModelView
    files: dict[str, bytes]
    zones: tuple[tuple[int, int], ...]
    set_names: tuple[str, ...]
    inputs: tuple[Arrays, ...]
    expected: dict[str, tuple[Arrays, ...]]
    cancels: bool = True
    """Whether large inputs may cancel in a small result, as in drawn data; recorded data is compared strictly."""
    exact: bool = False
    """Whether float results must be equal in every bit."""

    def magnitude(self, k: int) -> float:
        """The largest magnitude among the float inputs of set k that may cancel."""
        floats = [a for a in self.inputs[k] if a.dtype.kind == "f"] if self.cancels else []
        return max((float(np.abs(a).max(initial=0.0)) for a in floats), default=0.0)


@dataclass(frozen=True)
class Refused:
    """An example that cannot be made into C, and why."""

    label: str
    why: str


@dataclass(frozen=True)
class Sample:
    """A sample of an operator's cases.

    first: whether each kernel runs only the first example that it accepts, under each reference. runs: whether to
    include a kernel; None for all.
    """

    first: bool = False
    runs: Callable[[Kernel], bool] | None = None
    _taken: set[tuple[Kernel, str]] = field(default_factory=set)

    def wants(self, kernel: Kernel, reference: str) -> bool:
        """Whether the next example is in the sample, if the kernel accepts it."""
        return (self.runs is None or self.runs(kernel)) and (kernel, reference) not in self._taken

    def wants_any(self, op: Op, features: frozenset[str]) -> bool:
        """Whether any kernel that a core with these features can run is still without its example of this operator."""
        able = [kernel for kernel in kernels.of(op) if kernel.needs <= features]
        return any(self.wants(kernel, which) for kernel in able for which in REFERENCES)

    def accepted(self, kernel: Kernel, reference: str) -> None:
        """The kernel accepts what was wanted."""
        if self.first:
            self._taken.add((kernel, reference))


def cases_of(
    op: type[Op],
    features: frozenset[str] = frozenset(),
    sets: int | None = None,
    prefix: str = "c",
    variants: bool = True,
    sample: Sample | None = None,
) -> tuple[list[Case], list[Refused]]:
    """All cases of an operator, and what could not become one; what is folded when the model is read has no case.

    features: of the core; sets: input sets per case; prefix: of the C names.
    variants: also in place, and with the inputs kept. sample: which of them to make; None for all.
    """
    sample = sample or Sample()
    found: list[Case] = []
    refused: list[Refused] = []
    for k, example in enumerate(op.examples()):
        if not sample.wants_any(example.op, features) or folded(example) is not None:
            continue
        made = _Maker(f"{prefix}{k}", f"{op.__name__} example {k}", example, features, sets, variants, sample)
        try:
            found += made.cases()
        except BROKEN as error:
            refused.append(Refused(made.label, f"{type(error).__name__}: {error}"))
    return found, refused


def graph_of(example: Example, kept: Sequence[int] = ()) -> Graph:
    """One node on named tensors; the `kept` inputs are outputs of the graph too, so that they must survive."""
    tensors: list[Tensor] = []
    names: list[str | None] = []
    for k, t in enumerate(example.inputs):
        names.append(None if t is None else f"x{k}")
        if t is not None:
            data = draw.constant(t, example.constants[k], example.seed, k) if k in example.constants else None
            tensors.append(Tensor(f"x{k}", t, data, f"operand {k}"))
    tensors += [Tensor(f"y{k}", t, None, f"result {k}") for k, t in enumerate(example.outputs)]
    outputs = tuple(f"y{k}" for k in range(len(example.outputs)))
    node = Node("node", example.op, tuple(names), outputs, "node 0")
    inputs = tuple(t.name for t in tensors if not t.is_constant and t.name.startswith("x"))
    ends = (*outputs, *(f"x{k}" for k in kept))
    return verify(Graph("case", {t.name: t for t in tensors}, (node,), inputs, ends, format="tflite"), "example")


def prepared(example: Example) -> tuple[Graph, Graph]:
    """The graph as imported, and as kernels are chosen for it: uint8 only has kernels after the passes."""
    imported = graph_of(example)
    types = [t for t in (*example.inputs, *example.outputs) if t is not None]
    return imported, passes.run(imported, REFERENCES[0]) if any(
        t.dtype == "u8" and t.quant for t in types
    ) else imported


def under_test(example: Example, graph: Graph) -> list[Node]:
    """The nodes of a prepared graph that are the example's operator."""
    return [n for n in graph.nodes if type(n.op) is type(example.op) and n.source == "node 0"]


def folded(example: Example) -> tuple[np.ndarray, ...] | None:
    """The results of an example that is known at build time and never becomes C; None for all others."""
    graph = graph_of(example)
    return example.op.fold(graph.call(graph.nodes[0], REFERENCES[0]))


@dataclass(frozen=True, eq=False)
class _Draft:
    """A case before its C is printed: many are the same under both references."""

    name: str
    label: str
    imported: Graph
    schedule: Schedule
    plan: MemoryPlan
    zones: tuple[tuple[int, int], ...]
    options: Options
    view: ModelView

    @property
    def code_key(self) -> str:
        """A key that is equal for two cases with the same C, whatever their names."""
        v = self.view
        text = repr((v.steps, v.arrays, v.ends, v.arena_size, v.keep_input))
        found = hashlib.sha256(text.replace(self.name, "*").replace(self.name.upper(), "*").encode())
        for array in v.arrays:  # of long ones, the text has only the ends
            found.update(array.data.tobytes())
        return found.hexdigest()

    def files(self) -> dict[str, bytes]:
        return emit(self.schedule, self.plan, self.imported, self.options, self.name)[1]


@dataclass(frozen=True)
class _Maker:
    """The cases of one example."""

    prefix: str
    label: str
    example: Example
    features: frozenset[str]
    sets: int | None
    variants: bool
    sample: Sample

    def cases(self) -> list[Case]:
        alike: dict[str, list[_Draft]] = {}
        for draft in self._drafts():
            alike.setdefault(draft.code_key, []).append(draft)
        known: dict[tuple[tuple[str, ...], str], tuple[Arrays, ...]] = {}
        return [self._finished(drafts, known) for drafts in alike.values()]

    def _finished(self, drafts: list[_Draft], known: dict[tuple[tuple[str, ...], str], tuple[Arrays, ...]]) -> Case:
        """One case for drafts of the same C; `known` are outputs computed before, by graph outputs and reference."""
        first = drafts[0]
        graph = first.imported
        sets = list(draw.input_sets([graph.type(n) for n in graph.inputs], self.example.seed, self.sets))
        for which in (d.options.reference for d in drafts):
            if (graph.outputs, which) not in known:
                known[graph.outputs, which] = tuple(_outputs(graph, arrays, which) for _, arrays in sets)
        return Case(
            first.name, first.label, first.view, first.files(), first.zones,
            set_names=tuple(name for name, _ in sets),
            inputs=tuple(arrays for _, arrays in sets),
            expected={d.options.reference: known[graph.outputs, d.options.reference] for d in drafts},
            exact=self.example.op.exact_floats,
        )  # fmt: skip

    def _drafts(self) -> Iterator[_Draft]:
        imported, graph = prepared(self.example)
        made = 0
        for which in REFERENCES:
            for k, kernel in enumerate(self._accepting(graph, which)):
                made += 1
                yield from self._variants(imported, graph, kernel, which, f"{self.prefix}_{k}{which[0]}")
        if not made and self.sample.runs is None and not any(self._fitting(self._tested(graph, REFERENCES[0]))):
            raise McugenError("no kernel takes it: " + "; ".join(self._refusals(graph)))

    def _accepting(self, graph: Graph, which: str) -> Iterator[Kernel]:
        """The kernels of the sample that take the example."""
        call = self._tested(graph, which)
        wanted = [kernel for kernel in kernels.of(call.op) if self.sample.wants(kernel, which)]
        for kernel in self._fitting(call, wanted):
            self.sample.accepted(kernel, which)
            yield kernel

    def _tested(self, graph: Graph, which: str) -> Call:
        return self._call(graph, under_test(self.example, graph)[0], which)

    def _call(self, graph: Graph, node: Node, which: str) -> Call:
        return replace(graph.call(node, which), features=self.features)

    def _fitting(self, call: Call, asked: Sequence[Kernel] | None = None) -> Iterator[Kernel]:
        """The kernels that take a call, of all for its operator or of those asked."""
        known = kernels.of(call.op) if asked is None else asked
        return (k for k in known if k.needs <= self.features and not k.refusals(call, self.features))

    def _refusals(self, graph: Graph) -> Iterator[str]:
        for node in under_test(self.example, graph):
            call = self._call(graph, node, REFERENCES[0])
            for kernel in kernels.of(node.op):
                yield f"{kernel.symbol or kernel.form.name} needs {' and '.join(kernel.refusals(call, self.features))}"

    def _variants(self, imported: Graph, graph: Graph, kernel: Kernel, which: str, name: str) -> Iterator[_Draft]:
        """The plain case; with the inputs kept; and with the output in place of each operand that allows it."""
        how = f"{self.label} {kernel.symbol or kernel.form.name}"
        yield self._draft(imported, graph, kernel, which, name, how)
        if not self.variants:
            return
        if kernel.in_place or not kernel.has_code:
            yield self._draft(imported, graph, kernel, which, f"{name}_k", f"{how} inputs kept", keep=True)
        inputs = self.example.inputs
        over = [k for k in kernel.in_place if k < len(inputs) and inputs[k] is not None]
        dynamic = [k for k in over if k not in self.example.constants]
        if len(dynamic) > 1 and graph is imported:
            for k in dynamic:
                kept = graph_of(self.example, [other for other in dynamic if other != k])
                yield self._draft(kept, kept, kernel, which, f"{name}_i{k}", f"{how} in place of operand {k}")

    def _draft(
        self, imported: Graph, graph: Graph, kernel: Kernel, which: str, name: str, label: str, keep: bool = False
    ) -> _Draft:
        nodes = under_test(self.example, graph)
        choices = []
        for node in graph.nodes:
            call = self._call(graph, node, which)
            taken = kernel if node in nodes else next(self._fitting(call))
            choices.append(Choice(node, call, taken, "under test"))
        made = schedule.build(graph, choices, keep_input=keep)
        plan, zones = _spaced(made, self.example.seed % 2 == 1)
        options = Options(reference=which, keep_input=keep)
        return _Draft(
            name, label, imported, made, plan, zones, options, view.build(made, plan, options, name, imported=imported)
        )


def _outputs(graph: Graph, inputs: Arrays, which: str) -> Arrays:
    values = interpreter.run(graph, inputs, which)
    return [values[name] for name in graph.outputs]


def _spaced(made: Schedule, strict: bool) -> tuple[MemoryPlan, tuple[tuple[int, int], ...]]:
    """Every buffer in bytes of its own between red zones.

    strict: aligned as they must be and no better; else to 16 bytes, where poison before them is exact.
    """
    buffers = made.buffers()
    at = RED_ZONE
    offset: dict[str, int] = {}
    zones = [(0, at)]
    for b in buffers:
        offset[b.name] = at + (b.align if strict and at % (2 * b.align) == 0 else 0)
        zones[-1] = (zones[-1][0], offset[b.name])
        end = offset[b.name] + b.nbytes
        at = -(-(end + RED_ZONE) // 16) * 16
        zones.append((end, at))
    live = [sum(b.nbytes for b in buffers if b.first <= t <= b.last) for t in range(len(made.trace) or 1)]
    plan = MemoryPlan(offset, at, max(live), live.index(max(live)), False, "red zones")
    check(buffers, plan)
    return plan, tuple(zones)
