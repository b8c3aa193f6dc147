"""Compares the tensors of a run with the oracle's, and keeps the first difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcugen.graph import Graph

FLOAT_TOLERANCE = 1e-5
"""Of a float tensor's largest magnitude over the inputs tried: C sums in float, the oracle in double."""


@dataclass(frozen=True)
class Difference:
    """The first element that differs: where it is, and both values."""

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
    """What a comparison found over all cases. max_abs_diff is 0 for integers that are equal.

    max_relative_diff: of float tensors, the largest difference as a share of the tensor's largest magnitude.
    """

    exact: bool
    cases: int
    tensors: int
    max_abs_diff: float
    max_relative_diff: float
    first_difference: Difference | None
    not_compared: tuple[str, ...] = ()


class Comparison:
    """Collects comparisons of stored tensors of `graph` with oracle values of the graph it was made from.

    Integers must be equal. A float tensor is judged at the end, when its largest magnitude over all cases is known.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._tensors: set[str] = set()
        self._cases = 0
        self._largest = 0.0
        self._first: Difference | None = None
        self._magnitude: dict[str, float] = {}
        self._furthest: dict[str, tuple[float, Difference]] = {}

    def begin_case(self) -> None:
        self._cases += 1

    def tensor(self, case: str, step: int, name: str, got: np.ndarray, oracle: dict[str, np.ndarray]) -> None:
        """Compare one tensor, or its last rows, as stored by the C code."""
        tensor = self._graph.tensors[name]
        origin, offset = (tensor.origin.tensor, tensor.origin.offset) if tensor.origin else (name, 0)
        expected = oracle[origin]
        if got.size < expected.size:  # the newest rows of a tensor that streams
            expected = expected[:, -got.shape[1] :]
        shown = (got.astype(np.int64) + offset if offset else got).reshape(expected.shape)
        self._tensors.add(origin)
        distance = _distance(expected, shown)
        furthest = float(distance.max(initial=0.0))
        self._largest = max(self._largest, furthest)
        if expected.dtype.kind == "f":
            finite = np.abs(expected[np.isfinite(expected)])
            self._magnitude[origin] = max(self._magnitude.get(origin, 0.0), float(finite.max(initial=0.0)))
        if furthest > 0:
            wrong = distance == furthest if expected.dtype.kind == "f" else distance > 0
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            found = Difference(case, step, origin, tensor.label, index, float(expected[index]), float(shown[index]))
            self._note(expected.dtype.kind == "f", furthest, found)

    def _note(self, is_float: bool, distance: float, found: Difference) -> None:
        if not is_float:
            self._first = self._first or found
        elif distance > self._furthest.get(found.tensor, (0.0, found))[0]:
            self._furthest[found.tensor] = (distance, found)

    def verdict(self) -> Verdict:
        computed = {name for node in self._graph.nodes for name in node.outputs}
        missed = sorted(f"{n} {self._graph.tensors[n].label!r}" for n in computed if self._name(n) not in self._tensors)
        shares = [self._share(tensor, distance) for tensor, (distance, _) in self._furthest.items()]
        far = [
            found
            for distance, found in self._furthest.values()
            if self._share(found.tensor, distance) > FLOAT_TOLERANCE
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
        )

    def _share(self, tensor: str, distance: float) -> float:
        """A distance as a share of the tensor's largest magnitude; infinite where all of it should be zero."""
        magnitude = self._magnitude[tensor]
        return distance / magnitude if magnitude else math.inf

    def _name(self, name: str) -> str:
        origin = self._graph.tensors[name].origin
        return origin.tensor if origin else name


def _distance(expected: np.ndarray, got: np.ndarray) -> np.ndarray:
    """How far each element is off: 0 where equal or both not a number, infinite where only one is."""
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(expected.astype(np.float64) - got.astype(np.float64))
    same = (expected == got) | (np.isnan(expected.astype(np.float64)) & np.isnan(got.astype(np.float64)))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))
