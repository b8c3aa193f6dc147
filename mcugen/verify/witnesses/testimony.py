"""The testimony of a witness: another program's results for the model file, compared with the oracle's tensor by
tensor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.graph import Graph, Origin
from mcugen.oracle.interpreter import FLOAT_TOLERANCE
from mcugen.verify.comparison import Comparison, Verdict


@dataclass(frozen=True)
class Testimony:
    """The oracle against one witness.

    witness: its name and version. of: how many tensors the model computes that have a name in the file.
    faults: results of another shape. left_out: operators not compared, with reasons. stopped: inputs on which a
    runtime ended its process. halves: values next to a half, which single precision may round to either side.
    """

    witness: str
    verdict: Verdict
    of: int = 0
    faults: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    halves: int = 0

    @property
    def agrees(self) -> bool:
        return self.verdict.agrees and not self.faults


@dataclass
class Record:
    """Collects the results of a witness beside the oracle's, and judges them at the end.

    tolerance: of floats, as a share of the largest magnitude of a tensor; None: that of each operator. faults,
    left_out: the reasons, in order.
    """

    graph: Graph
    tolerance: float | None = FLOAT_TOLERANCE
    halves: int = 0
    faults: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    comparison: Comparison = field(init=False)

    def __post_init__(self) -> None:
        tensors = {name: replace(t, origin=Origin(name)) for name, t in self.graph.tensors.items()}
        own = replace(self.graph, tensors=tensors)
        self.comparison = Comparison(own, self.graph, self.tolerance)

    def compare(self, place: str, name: str, ours: np.ndarray, theirs: np.ndarray, near: np.ndarray | None) -> None:
        """Compare a tensor. near: a mask where a difference of one step is excused by precision; None: nowhere."""
        if ours.shape != theirs.shape:
            label = self.graph.tensors[name].label
            shapes = f"{list(ours.shape)}, that of the witness {list(theirs.shape)}"
            self.faults[f"{place}: tensor {name} {label!r} has the shape {shapes}"] = None
            return
        expected = theirs.astype(np.int64) if ours.dtype.kind in "iu" else theirs.astype(ours.dtype)
        if near is not None and near.any():
            self.halves += int(near.sum())
            expected = np.where(near, ours, expected)
        self.comparison.tensor(place, -1, name, ours, {name: expected})

    def testimony(self, witness: str, of: int, stopped: tuple[str, ...] = ()) -> Testimony:
        """The verdict on all that was compared."""
        verdict = self.comparison.verdict()
        return Testimony(witness, verdict, of, tuple(self.faults), tuple(self.left_out), stopped, self.halves)
