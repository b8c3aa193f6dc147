"""The facts of a build, under the stable names of report.json and `--json`."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.ir.graph import Removed

SCHEMA = 1
"""Version of report.json; it grows where a key changes its meaning or goes."""


@dataclass(frozen=True)
class CycleFacts:
    """The least and the most cycles of an estimate, with waits for the memories whose speed the board's file states."""

    low: int
    high: int


@dataclass(frozen=True)
class StepFacts:
    """One step: its operator and sizes, the kernel chosen for it, the C function that it became, why that one, its
    multiply-accumulates and estimated cycles.

    name: the model's own of the layer; source: its place in the model file; operators: those of the file that it does,
    where it does several; inputs, outputs: names of tensors
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
    operators: tuple[str, ...] = ()


@dataclass(frozen=True)
class TensorFacts:
    """A tensor in RAM. label: its name in the model; buffer, start: where it lies; scale: None for several or none;
    made_by: the steps that write it, none of what is given; removed_channels: of the model's tensor, not stored.
    """

    name: str
    label: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    scale: float | None
    zero_point: int | None
    buffer: str
    start: int
    made_by: tuple[int, ...] = ()
    removed_channels: int = 0


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
class NoiseFacts:
    """Loss by integers in a layer of a model that the build quantized, measured on its samples.

    stored: the type of its result, and of its weights; own, total: signal over noise in dB of the result, with float
    values rounded once and with the integers that arrive; saturated: share of values beyond the integers
    """

    name: str
    stored: str
    own: float
    total: float
    saturated: float


@dataclass(frozen=True)
class VerifiedFacts:
    """Result of `mcugen verify` for this build, on the machine that it ran on.

    agrees: integers equal, floats within the tolerance, and nothing else is wrong; exact: there are no floats besides
    cases, tensors: inputs, and tensors compared for each; max_abs_diff: the largest difference, None for one that is
    not a number; recorded_cases: inputs whose outputs were compared with recorded ones
    constants: multipliers, bounds and tables derived twice; witnesses: the programs that computed the file itself
    faults: what was wrong, differences of tensors first; version: of the mcugen that checked
    """

    agrees: bool
    exact: bool
    cases: int
    tensors: int
    max_abs_diff: float | None
    recorded_cases: int
    constants: int
    witnesses: tuple[str, ...]
    faults: tuple[str, ...]
    version: str


@dataclass(frozen=True)
class CountFacts:
    """The instructions that a step executed in the first inference, and its cycles where the core has a model.

    code_bytes: of its kernel's functions in the image and of all that they call; what several steps run is in each
    waits: cycles, part of the most, that reads of slow memories take with 0, 1, 2 and so on wait states of the flash;
    none where the board's file does not describe any
    core: the cycles of the instructions alone, without waits and as narrow as the model of the core has them
    """

    instructions: int
    cycles: CycleFacts | None
    code_bytes: int
    waits: tuple[int, ...] = ()
    core: CycleFacts | None = None


@dataclass(frozen=True)
class SimulatedFacts:
    """Measurements of `mcugen simulate` on this build's firmware on an emulated core.

    machine: that QEMU emulated; optimize: option of the cross compiler; agrees, repeatable: as the reference, and the
    same with other garbage in memory; cases: inputs; instructions, cycles: of the first
    wait_states: of the flash, in the most cycles; None where the board's file does not describe its reads
    text_bytes, rodata_bytes: of the image; stack_bytes: painted; stack_bound_bytes: the most on any path, stack_path
    steps: one for each step of the build; notes: what the user should know of the cycles; version: of the mcugen
    """

    machine: str
    optimize: str
    agrees: bool
    repeatable: bool
    cases: int
    instructions: int
    cycles: CycleFacts | None
    text_bytes: int
    rodata_bytes: int
    stack_bytes: int
    stack_bound_bytes: int
    stack_path: tuple[str, ...]
    steps: tuple[CountFacts, ...]
    notes: tuple[str, ...]
    version: str
    wait_states: int | None = None


@dataclass(frozen=True)
class PointFacts:
    """A schedule of the model that no other beats in RAM, constants and cost, as `mcugen pareto` found it.

    cost: counted instructions, or calls of kernels where is_counted is not so; by_rows: the steps that run row by row
    is_knee: whether saving RAM beyond it costs most; command: what builds it, of the knee alone
    cycles: as a build estimates them; presets: the goals of --optimize whose builds this is
    """

    ram_bytes: int
    weights_bytes: int
    cost: int
    is_counted: bool
    by_rows: str
    is_knee: bool
    command: str
    cycles: CycleFacts | None
    presets: tuple[str, ...]


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
    sums           of the files but pages: the first 16 digits of SHA-256, two spaces, the path
    title          the whole name of the model, of its file or folder; name is that of its C, which may be a short form
    ram_limit_bytes, flash_limit_bytes   of the board, None for a bare core
    trace          the step of each event, -1 for a row of the input; 7x3 stands for 7 7 7
    quantization   layer by layer, where the build quantized the model
    waits          whether the estimated cycles include waits for slow memories, of which the board's file says how slow
    checked        what estimates of cycles for this board were checked against, "" where they were not
    verified, simulated, pareto   what these commands found, noted by their option --into; None and empty before
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
    trace: str = ""
    quantization: tuple[NoiseFacts, ...] = ()
    verified: VerifiedFacts | None = None
    simulated: SimulatedFacts | None = None
    pareto: tuple[PointFacts, ...] = ()
    title: str = ""
    sums: tuple[str, ...] = ()
    waits: bool = False
    checked: str = ""
