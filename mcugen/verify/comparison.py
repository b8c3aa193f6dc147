"""Compares the tensors of a run with the oracle's, and reports the first difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.axis_order import Order
from mcugen.ir.graph import UNREAD_NODE, Graph, Node, Origin
from mcugen.ir.ranges import channels_of
from mcugen.ops._activation import unclamped
from mcugen.oracle.interpreter import FLOAT_TOLERANCE
from mcugen.passes.follow_orders import carried

TERM_TOLERANCE = 2.0**-26
"""Relative error that each product may add to an operator's sum.

n equal floats of one sign, added one after the other, are off by half of n * 2**-25 of their sum if every addition is
rounded the same way.
"""

ROUNDINGS = 2.0**-22
"""Relative error of a few float roundings. If terms of a sum cancel, this fraction of the terms may remain."""


@dataclass(frozen=True)
class Difference:
    """The first element that differs: its position, and both values."""

    case: str
    step: int
    tensor: str
    label: str
    index: tuple[int, ...]
    expected: float
    got: float

    def __str__(self) -> str:
        place = f"step {self.step}" if self.step >= 0 else "the outputs"
        return (
            f"{self.case}: {place}, tensor {self.tensor} {self.label!r}, element {list(self.index)}: "
            f"expected {self.expected:g}, got {self.got:g}"
        )


@dataclass(frozen=True)
class Verdict:
    """The result of a comparison over all cases.

    agrees: integers are equal, and floats lie within at least `tolerance`. max_abs_diff: 0 for equal integers.
    max_relative_diff: largest difference of float tensors, relative to the largest magnitude of their sums. values,
    differing: number of values compared, and how many differ in any bit. floats: number of float tensors. exact_values:
    number of float values that must be equal in every bit, such as results of layers with int8 weights. by_operator:
    each operator was compared on its actual operands, since float errors add up over layers. not_compared: tensors
    without bytes of their own. fused: imported tensors that exist only inside a step. other_halves: values next to a
    half; rounded the other way, they give the recorded outputs. constant_channels: channels not computed, whose
    constant value was compared with the oracle. unread_channels: channels not computed, since nothing depends on them.
    """

    agrees: bool
    cases: int
    tensors: int
    max_abs_diff: float
    max_relative_diff: float
    first_difference: Difference | None
    not_compared: tuple[str, ...] = ()
    fused: tuple[str, ...] = ()
    constant_channels: int = 0
    unread_channels: int = 0
    floats: int = 0
    exact_values: int = 0
    by_operator: bool = False
    values: int = 0
    differing: int = 0
    other_halves: tuple[str, ...] = ()
    flips: tuple[str, ...] = ()
    tolerance: float = FLOAT_TOLERANCE

    @property
    def exact(self) -> bool:
        """Whether all values agree and none of them is a float."""
        return self.agrees and not self.floats


class Comparison:
    """Compares stored tensors of `graph` with oracle values of the imported graph, from which `graph` was made.

    Integers must be equal. Float tensors are judged at the end, when the largest magnitude of their sums is known.
    Channels that are not computed because they are constant are compared by their constant value.
    """

    def __init__(self, graph: Graph, imported: Graph, whole: float | None = None, *, by_operator: bool = False) -> None:
        """whole: one tolerance for all floats, if a whole model is compared; None for a tolerance per operator.

        by_operator: whether operators are compared on their actual operands; each product may then add a rounding
        error.
        """
        self._whole = whole
        self._flips: list[str] = []
        self._graph = graph
        self._terms = _terms(graph) if by_operator else {}
        self._imported = imported
        self._makers = {name: node for node in imported.nodes for name in node.outputs}
        self._tensors: set[str] = set()
        self._cases = 0
        self._largest = 0.0
        self._exact_values = self._compared = self._differing = 0
        self._first: Difference | None = None
        self._magnitude: dict[str, float] = {}
        self._furthest: dict[str, tuple[float, Difference]] = {}

    def begin_case(self, case: str, oracle: Mapping[str, np.ndarray]) -> None:
        """Start a case. Results that were folded to constants are compared with the oracle's values."""
        self._cases += 1
        for origin in self._origins():
            values = origin.ordered(oracle[origin.tensor])
            for channel, value in origin.constant:
                self._values(case, -1, origin.tensor, values[..., channel : channel + 1], value, (channel,))

    def tensor(self, case: str, step: int, name: str, got: np.ndarray, oracle: Mapping[str, np.ndarray]) -> None:
        """Compare one tensor, or its last rows, as stored by the C code."""
        origin = self._graph.tensors[name].origin or Origin(name)
        expected = origin.stored_part(oracle[origin.tensor])
        if got.size < expected.size:  # a streaming tensor has only its newest rows
            expected = expected[:, -got.shape[1] :]
        shown = (got.astype(np.int64) + origin.offset if origin.offset else got).reshape(expected.shape)
        self._tensors.add(origin.tensor)
        if expected.dtype.kind == "f":
            self._exact_values += expected.size if self._whole is None and self._is_exact(origin.tensor) else 0
            known = self._magnitude.get(origin.tensor, 0.0)
            magnitude = max(known, self._sums(origin.tensor, expected, oracle))
            if self._terms.get(origin.tensor) and float(_distance(expected, shown).max()) > FLOAT_TOLERANCE * magnitude:
                magnitude = max(magnitude, self._added(origin.tensor, oracle) * ROUNDINGS / FLOAT_TOLERANCE)
            self._magnitude[origin.tensor] = magnitude
        self._values(case, step, origin.tensor, expected, shown, origin.kept)

    def _sums(self, tensor: str, values: np.ndarray, oracle: Mapping[str, np.ndarray]) -> float:
        """The largest finite magnitude of a float tensor, before its operator's clamp if the operands are known. A
        recording contains only outputs.
        """
        node = self._makers.get(tensor)
        sums = [values]
        known = node is not None and all(n is None or n in oracle for n in node.inputs)
        if node is not None and known and (inner := unclamped(node.op)) is not node.op:
            operands = [None if n is None else oracle[n].astype(np.float64) for n in node.inputs]
            found = inner.reference(*operands)
            sums += found if isinstance(found, tuple) else (found,)
        return max(float(np.abs(v[np.isfinite(v)]).max(initial=0.0)) for v in sums)

    def _added(self, tensor: str, oracle: Mapping[str, np.ndarray]) -> float:
        """The largest sum of the magnitudes of added terms. 0 if operands are unknown, or are not all floats."""
        node = self._makers.get(tensor)
        if node is None or not all(n is None or (n in oracle and oracle[n].dtype.kind == "f") for n in node.inputs):
            return 0.0
        operands = [None if n is None else np.abs(oracle[n].astype(np.float64)) for n in node.inputs]
        found = unclamped(node.op).reference(*operands)
        return max(float(v[np.isfinite(v)].max(initial=0.0)) for v in (found if isinstance(found, tuple) else (found,)))

    def _values(
        self,
        case: str,
        step: int,
        tensor: str,
        expected: np.ndarray,
        got: np.ndarray | int,
        channels: tuple[int, ...] | None,
    ) -> None:
        """Compare values of an imported tensor. channels: indices of these values on the last axis; None for all."""
        shown = np.broadcast_to(got, expected.shape)
        distance = _distance(expected, shown)
        furthest = float(distance.max(initial=0.0))
        self._largest = max(self._largest, furthest)
        self._compared += distance.size
        self._differing += int(np.count_nonzero(distance))
        if furthest > 0:
            wrong = distance == furthest if expected.dtype.kind == "f" else distance > 0
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            index = (*at[:-1], channels[at[-1]]) if channels is not None else at
            label = self._imported.tensors[tensor].label
            found = Difference(case, step, tensor, label, index, float(expected[at]), float(shown[at]))
            self._note(expected.dtype.kind == "f", furthest, found)

    def _origins(self) -> Iterator[Origin]:
        """The origins of computed tensors, one for each imported tensor."""
        found = (t.origin for t in self._graph.tensors.values() if t.origin is not None and not t.is_constant)
        yield from {origin.tensor: origin for origin in found}.values()

    def _note(self, is_float: bool, distance: float, found: Difference) -> None:
        if not is_float:
            self._first = self._first or found
        elif distance > self._furthest.get(found.tensor, (0.0, found))[0]:
            self._furthest[found.tensor] = (distance, found)

    def note_flips(self, case: str, flips: Sequence[str]) -> None:
        """Record flips. They explain why a case is compared with other integers; see `mcugen.verify.flips`."""
        self._flips += [f"{case}: {flip}" for flip in flips]

    def decisions(self, case: str, expected: int, got: int) -> None:
        """Compare the number of new decisions of a stream of samples."""
        if expected != got:
            found = Difference(case, -1, "decisions", "number of new decisions", (0,), float(expected), float(got))
            self._first = self._first or found

    def verdict(self) -> Verdict:
        computed = {name for node in self._graph.nodes for name in node.outputs}
        missed = sorted(f"{n} {self._graph.tensors[n].label!r}" for n in computed if self._name(n) not in self._tensors)
        shares = [self._share(tensor, distance) for tensor, (distance, _) in self._furthest.items()]
        far = [
            found
            for distance, found in self._furthest.values()
            if self._share(found.tensor, distance) > self._tolerance(found.tensor)
        ]
        first = self._first or (far[0] if far else None)
        return Verdict(
            first is None,
            self._cases,
            len(self._tensors),
            self._largest,
            max(shares, default=0.0),
            first,
            tuple(missed),
            tuple(self._fused()),
            *self._missing_channels(),
            sum(self._imported.type(name).is_float for name in self._tensors),
            self._exact_values,
            values=self._compared,
            differing=self._differing,
            flips=tuple(self._flips),
            tolerance=FLOAT_TOLERANCE if self._whole is None else self._whole,
        )

    def _fused(self) -> Iterator[str]:
        """Imported tensors that no stored tensor represents, except those that nothing needs."""
        standing = {origin.tensor for origin in self._origins()}
        standing |= {r.tensor for r in self._graph.removed if r.what == UNREAD_NODE}
        for node in self._imported.nodes:
            yield from (f"{n} {self._imported.tensors[n].label!r}" for n in node.outputs if n not in standing)

    def _missing_channels(self) -> tuple[int, int]:
        """Numbers of channels that are not computed: because they are constant, and because nothing reads them."""
        constant = unread = 0
        for origin in self._origins():
            if origin.kept is not None:
                constant += len(origin.constant)
                total = channels_of(self._imported.type(origin.tensor))
                unread += total - len(origin.kept) - len(origin.constant)
        return constant, unread

    def _share(self, tensor: str, distance: float) -> float:
        """A distance relative to the largest magnitude of the sums; infinite if all sums should be zero."""
        magnitude = self._magnitude[tensor]
        return distance / magnitude if magnitude else math.inf

    def _tolerance(self, tensor: str) -> float:
        if self._whole is not None:
            return self._whole
        if self._is_exact(tensor):
            return 0.0
        return max(FLOAT_TOLERANCE, self._terms.get(tensor, 0) * TERM_TOLERANCE)

    def _is_exact(self, tensor: str) -> bool:
        """Whether a float tensor is the result of an operator with exact bits. Copies and reshapes in between are
        followed.
        """
        maker = self._makers.get(tensor)
        while maker is not None and (before := self._carried(maker)) is not None:
            maker = self._makers.get(before)
        return maker is not None and maker.op.exact_floats

    def _carried(self, node: Node) -> str | None:
        """The operand whose values a node only copies, in any order; None for other nodes."""
        given = node.inputs[0]
        if given is None or not self._imported.type(given).shape:
            return None
        plain = Order.plain(self._imported.type(given).shape)
        return None if carried(node.op, self._imported.call(node, "litert"), plain) is None else given

    def _name(self, name: str) -> str:
        origin = self._graph.tensors[name].origin
        return origin.tensor if origin else name


def _distance(expected: np.ndarray, got: np.ndarray) -> np.ndarray:
    """The error of each element: 0 if equal or both are NaN, infinite if only one is NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(expected.astype(np.float64) - got.astype(np.float64))
    same = (expected == got) | (np.isnan(expected.astype(np.float64)) & np.isnan(got.astype(np.float64)))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def _terms(graph: Graph) -> dict[str, int]:
    """Imported tensor -> number of products in the sum of each element."""
    found: dict[str, int] = {}
    for node in graph.nodes:
        origin = graph.tensors[node.outputs[0]].origin
        if origin is not None:
            found[origin.tensor] = node.op.macs(graph.call(node, "")) // max(graph.type(node.outputs[0]).size, 1)
    return found
