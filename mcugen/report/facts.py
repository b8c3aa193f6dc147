"""The facts of a build, under the names that report.json and `--json` keep stable."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.graph import Removed

SCHEMA = 1
"""Version of report.json; it grows where a key changes its meaning or goes."""


@dataclass(frozen=True)
class CycleFacts:
    """The least and the most cycles of an estimate, memory without wait states."""

    low: int
    high: int


@dataclass(frozen=True)
class StepFacts:
    """One step: its operator and sizes, the kernel chosen for it, the C function that it became, why that one, its
    multiply-accumulates and estimated cycles.

    name: the model's own of the layer; source: its place in the model file; inputs, outputs: names of tensors
    constants_bytes: of its parameters, before equal arrays are stored once; scratch_bytes: beside its tensors
    first_event, last_event: when it runs; by_rows: whether it does so row by row
    """

    index: int
    op: str
    sizes: str
    kernel: str
    function: str
    why: str
    macs: int
    cycles: CycleFacts | None
    name: str
    source: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants_bytes: int
    scratch_bytes: int
    first_event: int
    last_event: int
    by_rows: bool


@dataclass(frozen=True)
class TensorFacts:
    """A tensor in RAM. label: its name in the model; buffer, start: where it lies; scale: None for several or none."""

    name: str
    label: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    scale: float | None
    zero_point: int | None
    buffer: str
    start: int


@dataclass(frozen=True)
class BufferFacts:
    """Bytes of a region that belong together, from one event to another.

    rows, rows_kept: of a tensor with rows, how many there are and how many the buffer holds at a time; else 0
    """

    name: str
    region: str
    offset: int
    nbytes: int
    first_event: int
    last_event: int
    rows: int
    rows_kept: int
    tensors: tuple[str, ...]


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
    schema         version of this document; docs/report.schema.json describes it
    version        of mcugen. command, sha256: what makes the build again, and the hash of the model file
    promise        how results relate to those of the runtime
    events         how many there are; inputs and outputs are names of tensors;
                   tensors and buffers say what RAM holds during which event
    ram_limit_bytes, flash_limit_bytes   of the board, None for a bare core
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
    schema: int = SCHEMA
    version: str = ""
    command: str = ""
    sha256: str = ""
    promise: str = ""
    events: int = 0
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    tensors: tuple[TensorFacts, ...] = ()
    buffers: tuple[BufferFacts, ...] = ()
    ram_limit_bytes: int | None = None
    flash_limit_bytes: int | None = None
