"""The facts of a build, under the names that report.json and `--json` keep stable."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.graph import Removed


@dataclass(frozen=True)
class CycleFacts:
    """The least and the most cycles of an estimate, memory without wait states."""

    low: int
    high: int


@dataclass(frozen=True)
class StepFacts:
    """One step: its operator and sizes, the kernel chosen for it, the C function that it became, why that one, its
    multiply-accumulates and estimated cycles.
    """

    index: int
    op: str
    sizes: str
    kernel: str
    function: str
    why: str
    macs: int
    cycles: CycleFacts | None


@dataclass(frozen=True)
class RegionFacts:
    """A model's contents of one memory, and why they are there.

    used_bytes   the arena, or the constants, in this region
    size_bytes   how much of the region the model may take, None where that is not limited
    accesses     estimated element reads and writes of it in an inference
    tensors      what it holds: tensors and scratch, or constants
    """

    name: str
    used_bytes: int
    size_bytes: int | None
    lower_bound: int
    accesses: int
    tensors: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class WeightFacts:
    """The constants in one memory, and why there. name is "" for the flash of the code.

    accesses     estimated element reads of them in an inference
    arrays       their C symbols
    """

    name: str
    used_bytes: int
    accesses: int
    arrays: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class StateFacts:
    """A value that the model object keeps from run to run.

    tensor: its name in the model; in_place: whether a run writes the next value where it lies, and copies nothing.
    """

    tensor: str
    type: str
    nbytes: int
    in_place: bool


@dataclass(frozen=True)
class Report:
    """Cost of a build. Units: bytes and multiply-accumulates per inference.

    ram_bytes      all RAM of the model: inputs, outputs, tensors and scratch; in one region, sizeof the model object
    arena_bytes    the memory plan before rounding up to the object's alignment
    lower_bound    the most bytes live at any step, its scratch included: no plan of whole tensors can be smaller
    gap_bytes      by how much a smaller plan of this order of steps is not ruled out; 0 where the plan is proven
    scratch_bytes  the largest scratch of any step
    weights_bytes  constants in flash: weights, biases, multipliers, tables
    macs           of the model as it was imported
    live_macs      those that are executed
    cycles         estimated, of an inference or a frame; None where a kernel's costs are not known for the core
    clock_hz       of the board's core, None for a bare core
    removed        what the build took out, and why no bit of the results changes
    states         what is kept from run to run, within the RAM
    """

    name: str
    board: str
    reference: str
    ram_bytes: int
    arena_bytes: int
    lower_bound: int
    proven: bool
    gap_bytes: int
    scratch_bytes: int
    weights_bytes: int
    macs: int
    live_macs: int
    cycles: CycleFacts | None
    clock_hz: int | None
    steps: tuple[StepFacts, ...]
    regions: tuple[RegionFacts, ...] = ()
    weights: tuple[WeightFacts, ...] = ()
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()
    states: tuple[StateFacts, ...] = ()
