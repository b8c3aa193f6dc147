"""The testimony of a witness: another program's results for the model file, compared with the oracle's, per tensor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.graph import Graph, Origin
from mcugen.oracle.interpreter import FLOAT_TOLERANCE
from mcugen.verify.comparison import Comparison, Verdict


@dataclass(frozen=True)
class Testimony:
    """Comparison of the oracle with one witness.

    witness: name and version. of: number of computed tensors that have a name in the file. faults: results with another
    shape. left_out: operators not compared, with reasons. stopped: inputs on which a runtime ended its process. halves:
    number of values next to a half, which single precision may round to either side. steps: number of values of
    operators with an integer form of mcugen's own (`own_forms`) that floats give a few steps further.
    """

    witness: str
    verdict: Verdict
    of: int = 0
    faults: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    halves: int = 0
    steps: int = 0

    @property
    def agrees(self) -> bool:
        return self.verdict.agrees and not self.faults


@dataclass
class Record:
    """Collects the results of a witness and the oracle's, and judges them at the end.

    tolerance: for floats, relative to the largest magnitude of a tensor; None: each operator's own. faults, left_out:
    texts, in order.
    """

    graph: Graph
    tolerance: float | None = FLOAT_TOLERANCE
    halves: int = 0
    steps: int = 0
    faults: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    comparison: Comparison = field(init=False)

    def __post_init__(self) -> None:
        tensors = {name: replace(t, origin=Origin(name)) for name, t in self.graph.tensors.items()}
        own = replace(self.graph, tensors=tensors)
        self.comparison = Comparison(own, self.graph, self.tolerance)

    def compare(
        self, place: str, name: str, ours: np.ndarray, theirs: np.ndarray, near: np.ndarray | None, apart: int = 0
    ) -> None:
        """Compare a tensor. near: mask of elements where precision excuses a difference of one step; None: nowhere.

        apart: the most steps by which elements may differ, see `own_forms`.
        """
        if ours.shape != theirs.shape:
            label = self.graph.tensors[name].label
            shapes = f"{list(ours.shape)}, that of the witness {list(theirs.shape)}"
            self.faults[f"{place}: tensor {name} {label!r} has the shape {shapes}"] = None
            return
        expected = theirs.astype(np.int64) if ours.dtype.kind in "iu" else theirs.astype(ours.dtype)
        if near is not None and near.any():
            self.halves += int(near.sum())
            expected = np.where(near, ours, expected)
        if apart:
            distance = np.abs(ours.astype(np.int64) - expected)
            self.steps += int(((distance > 0) & (distance <= apart)).sum())
            expected = np.where(distance <= apart, ours, expected)
        self.comparison.tensor(place, -1, name, ours, {name: expected})

    def testimony(self, witness: str, of: int, stopped: tuple[str, ...] = ()) -> Testimony:
        """The verdict on all that was compared."""
        verdict = self.comparison.verdict()
        return Testimony(
            witness, verdict, of, tuple(self.faults), tuple(self.left_out), stopped, self.halves, self.steps
        )
