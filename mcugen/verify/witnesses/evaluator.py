"""The reference evaluator of the onnx package, as a witness of what an ONNX file means.

Each operator of the file is run in double precision on the oracle's operands, if the oracle has them by name. A fault
then shows at its operator, and single-precision rounding does not count. Between named tensors the evaluator
continues with its own results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx

from mcugen.ir.graph import Graph
from mcugen.ir.op import evaluate
from mcugen.ops.dequantize import Dequantize
from mcugen.oracle import interpreter
from mcugen.oracle.interpreter import FLOAT_TOLERANCE
from mcugen.passes.layouts import in_file
from mcugen.verify.cases import Case
from mcugen.verify.probes import boundary_values
from mcugen.verify.witnesses.onnx_file import FileNode, LeftOutError, OnnxFile, adds, chooses, work_ns
from mcugen.verify.witnesses.own_forms import allowed
from mcugen.verify.witnesses.testimony import Record, Testimony

LIMIT_S = 6.0
"""Processor time in seconds, estimated, that the evaluator may take for all inputs, and for an operator on one
input.
"""
NEAR = 1e-5
"""Distance from a half, in steps, within which single precision may round differently. For large values the distance is
NEAR_SHARE of the value.
"""
NEAR_SHARE = 2.0**-22


@dataclass
class EvaluatorRun:
    """The evaluator beside the oracle, case by case.

    known: values of the case so far, by the file's names. fixed: names whose values operators do not replace. spent:
    estimated work so far, in ns.
    """

    file: OnnxFile
    graph: Graph
    record: Record
    spent: float = 0.0
    fixed: frozenset[str] = frozenset()
    known: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = self.graph.values.items()
        self.named = {value: name for value, name in values if name in self.graph.tensors}
        self.apart = allowed(self.graph, "ort")

    def case(self, name: str, inputs: Sequence[np.ndarray], values: Mapping[str, np.ndarray]) -> None:
        """Compare all operators of one case on the oracle's values."""
        given = in_file(self.graph, self.graph.inputs, inputs)
        self.known = {**self.file.constants, **dict(zip(self.file.inputs, given, strict=True))}
        self.record.comparison.begin_case(name, values)
        for node in self.file.nodes:
            self.node(f"{name} (the oracle against the file)", node, values)

    def boundaries(self, values: Mapping[str, np.ndarray], which: str) -> None:
        """Compare operators inside the model on their boundary values.

        Boundary values replace a tensor of the last case for its readers. The evaluator runs these readers, and what
        follows until the next tensor that the oracle has by name.
        """
        tried = dict(self._boundary_values(which))
        before = self.known
        for k in range(max(map(len, tried.values()), default=0)):
            if self.spent > LIMIT_S * 1e9:
                self.record.left_out["some boundary values: the evaluator takes too long"] = None
                return
            seen = {name: arrays[k % len(arrays)] for name, arrays in tried.items()}
            computed, changed = dict[str, np.ndarray](), {*seen}
            for node in self.graph.nodes:
                if changed & {*node.inputs}:
                    given = {**values, **computed, **seen}
                    operands = [None if n is None else given[n] for n in node.inputs]
                    computed |= zip(node.outputs, evaluate(self.graph.call(node, which), operands), strict=True)
                    changed |= {*node.outputs}
            self._read_boundaries(f"boundary values {k}", {**values, **computed}, seen, before)

    def _boundary_values(self, which: str) -> Iterator[tuple[str, Sequence[np.ndarray]]]:
        """(a tensor of the file that a node computes, boundary values for it).

        The result of a Dequantize has none if several nodes read its integers: in the file these nodes read the result,
        so that boundary values would reach nodes that the graph computes from unchanged integers.
        """
        reads = Counter(name for node in self.graph.nodes for name in {*node.inputs})
        computed = {
            name
            for node in self.graph.nodes
            if not isinstance(node.op, Dequantize) or reads[node.inputs[0]] == 1
            for name in node.outputs
        } & {*self.named.values()}
        for node in self.graph.nodes:
            if node.inputs and node.inputs[0] in computed:
                arrays = boundary_values(node.op, self.graph.call(node, which))
                if arrays:
                    yield str(node.inputs[0]), arrays

    def _read_boundaries(
        self,
        place: str,
        values: Mapping[str, np.ndarray],
        seen: Mapping[str, np.ndarray],
        before: dict[str, np.ndarray],
    ) -> None:
        """The part of `boundaries` in which the evaluator runs. before: the values of the last case."""
        names = {value: name for value, name in self.named.items() if name in seen and value in before}
        given = {**values, **seen}
        again = {value: given[n].astype(before[value].dtype) for value, n in self.named.items() if value in before}
        self.known = {**before, **again, **self.file.constants}
        self.fixed, changed = frozenset(names), {*names}
        for node in self.file.nodes:
            if changed & {*node.reads}:
                self.node(f"{place} (the oracle against the file)", node, values)
                changed |= {n for n in node.outputs if n not in names}
        self.fixed, self.known = frozenset(), before

    def node(self, place: str, node: FileNode, values: Mapping[str, np.ndarray]) -> None:
        """Run one operator, compare its results, and continue with the oracle's values if it has them."""
        ours = {n: values[self.named[n]] for n in node.outputs if self.named.get(n) in values}
        try:
            theirs = self._run(node, ours)
        except LeftOutError as error:
            self.record.left_out[f"{node}: {error}" if str(error) else ""] = None
            theirs = {}
        for name, result in theirs.items():
            if name in ours and result.dtype.kind in "fiub":
                near = self._near(node, ours[name], result)
                if name == node.proto.output[0] and chooses(node.proto):
                    near = _tied(ours[name], [*theirs.values()][-1])
                steps = self.apart.get(self.named[name], 0)
                self.record.compare(place, self.named[name], ours[name], result, near, steps)
        for name in {*theirs, *ours} - self.fixed:
            kind = theirs[name].dtype if name in theirs else ours[name].dtype
            mine = ours.get(name)
            usable = mine is not None and (name not in theirs or kind.kind in "fiub")
            self.known[name] = mine.astype(kind) if usable and mine is not None else theirs[name]

    def _run(self, node: FileNode, ours: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        if any(name not in self.known for name in node.reads):
            raise LeftOutError("")  # an operand was left out earlier, with a note
        size = next((a.size for a in ours.values()), max((self.known[n].size for n in node.reads), default=1))
        work = work_ns(node.proto, self.known, size)
        if work > LIMIT_S * 1e9:
            raise LeftOutError(f"it takes the evaluator about {work / 1e9:.0f} s, more than {LIMIT_S:g}")
        self.spent += work
        return self.file.run(node, self.known)

    def _near(self, node: FileNode, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray | None:
        """A mask of elements where the oracle is one step off because single precision rounds differently near a half.

        At an exact half, which double precision computes exactly, a difference is excused only if an evaluation in
        single precision has it too.
        """
        if ours.dtype.kind not in "iu" or ours.shape != theirs.shape:
            return None
        apart = np.abs(ours.astype(np.int64) - theirs.astype(np.int64)) == 1
        if not apart.any():
            return None
        try:
            steps = self.file.real(node, self.known)
        except LeftOutError:
            return None
        if steps is None:
            return np.asarray(apart & self._excused(node, ours))
        if steps.shape != ours.shape:
            return None
        distance = np.abs(steps - np.floor(steps) - 0.5)
        near = apart & (distance <= np.maximum(NEAR, np.abs(steps) * NEAR_SHARE))
        return np.asarray(near & ((distance > 0) | self._excused(node, ours))) if near.any() else near

    def _excused(self, node: FileNode, ours: np.ndarray) -> np.ndarray:
        """A mask of results near a half that single precision explains.

        Either the evaluator gives the oracle's result in single precision, or a sum whose order the runtime chooses is
        inexact.
        """
        known, chain, todo = dict(self.known), [node], {*node.reads}
        for before in reversed(self.file.nodes[: node.index]):
            if todo & {*before.outputs} and not any(n in self.named for n in before.outputs):
                chain.append(before)
                todo |= {*before.reads}
        exact, found = True, {}
        for part in reversed(chain):
            found = self.file.run(part, known, np.float32)
            exact &= part is node or all(np.array_equal(a, self.known[n], equal_nan=True) for n, a in found.items())
            known |= found
        if not exact and any(adds(part.proto) for part in chain):
            return np.ones(ours.shape, bool)
        return np.asarray(ours == next(iter(found.values())))


def _tied(chosen: np.ndarray, scores: np.ndarray) -> np.ndarray | None:
    """The rows whose two greatest scores differ by no more than single-precision errors."""
    if scores.ndim != 2 or scores.shape[0] != chosen.size or scores.shape[1] < 2:
        return None
    best = np.sort(scores, axis=1)
    tied = best[:, -1] - best[:, -2] <= FLOAT_TOLERANCE * np.abs(scores).max(axis=1)
    return np.asarray(tied.reshape(chosen.shape))


def check(data: bytes, folder: Path, graph: Graph, which: str, cases: Sequence[Case]) -> Testimony:
    """Compare the oracle with the evaluator, on as many cases as LIMIT_S allows, at least one."""
    run = EvaluatorRun(OnnxFile(data, folder), graph, Record(graph))
    done, values = 0, dict[str, np.ndarray]()
    for case in cases:
        if done and run.spent * (done + 1) / done > LIMIT_S * 1e9:
            break
        values = interpreter.run(graph, case.inputs, which)
        run.case(case.name, case.inputs, values)
        done += 1
    run.boundaries(values, which)
    if done < len(cases):
        run.record.left_out[f"{len(cases) - done} of {len(cases)} inputs: the evaluator takes too long"] = None
    run.record.left_out.pop("", None)
    of = len({run.named[n] for node in run.file.nodes for n in node.outputs if n in run.named})
    return run.record.testimony(f"onnx {onnx.__version__}, reference evaluator", of)
