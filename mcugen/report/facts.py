"""The facts of a build, under the stable names of report.json and `--json`."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.boards.machine import Energy
from mcugen.ir.graph import Removed

SCHEMA = 1
"""Version of report.json. It increases if a key changes its meaning or is removed."""


@dataclass(frozen=True)
class CycleFacts:
    """The least and the most cycles of an estimate. They include waits for memories whose speed the board's file
    states.
    """

    low: int
    high: int


@dataclass(frozen=True)
class StepFacts:
    """One step of the build.

    op, sizes, kernel: its operator with sizes, and the kernel chosen. function: the C function of the kernel for this
    step. why: why this kernel was chosen. macs, cycles: multiply-accumulates, and estimated cycles. name: the model's
    name of the layer. source: position in the model file. operators: operators of the file that the step computes, if
    there are several. inputs, outputs: names of tensors. constants_bytes: bytes of its parameters, before equal arrays
    are merged. scratch_bytes: bytes besides its tensors. first_event, last_event: when it runs. by_rows: whether it
    runs row by row.
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
    """A tensor in RAM.

    label: its name in the model. buffer, start: its buffer, and the byte offset in it. scale: None if there is no
    single scale. made_by: steps that write it; none for inputs and states. removed_channels: channels of the model's
    tensor that are not stored.
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
    """A buffer: bytes of a region that are in use from one event to another.

    rows, rows_kept: for a tensor with rows, how many it has, and how many the buffer holds at a time; otherwise 0.
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
    """The part of a model in one memory, and why it is there.

    used_bytes   size of the arena, or of the constants, in this region
    size_bytes   how much of the region the model may use; None if there is no limit
    accesses     estimated element reads and writes per inference
    tensors      names of the tensors, scratch buffers or constants in it
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
    """The constants in one memory, and why they are there. The name "" stands for the flash of the code.

    accesses     estimated element reads per inference
    arrays       C symbols of the constants
    """

    name: str
    used_bytes: int
    accesses: int
    arrays: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class StateFacts:
    """A state: a value that the model object keeps from run to run.

    tensor: its name in the model. in_place: whether a run overwrites it with the next value, without a copy at the end.
    """

    tensor: str
    type: str
    nbytes: int
    in_place: bool


@dataclass(frozen=True)
class PartFacts:
    """Steps of a stream of samples that run equally often: the front end, the network or the decision.

    first_step, steps: index of its first step, and how many there are. per_second: runs per second. cycles: of one run;
    None if they are not known. share_low, share_high: percent of the clock; None if cycles or clock are not known.
    """

    name: str
    first_step: int
    steps: int
    per_second: float
    cycles: CycleFacts | None
    share_low: float | None
    share_high: float | None


@dataclass(frozen=True)
class StreamFacts:
    """A stream of samples: sizes in samples. stride: windows from decision to decision. first: samples up to the first
    decision. rate: samples per second. queue: samples that may wait between an interrupt and the task. push: cycles of
    a push that completes one window, from a window without a decision to the worst case; None if they are not known.
    """

    window: int
    hop: int
    stride: int
    first: int
    rate: int
    queue: int
    parts: tuple[PartFacts, ...]
    push: CycleFacts | None


@dataclass(frozen=True)
class NoiseFacts:
    """Quantization noise of a layer, measured on the samples with which the build quantized the model.

    stored: element type of its result, and of its weights. own, total: signal-to-noise ratio of the result in dB; own:
    only this layer's rounding; total: with quantized inputs. saturated: share of values outside the integer range.
    """

    name: str
    stored: str
    own: float
    total: float
    saturated: float


@dataclass(frozen=True)
class VerifiedFacts:
    """Result of `mcugen verify` for this build, on the computer that it ran on.

    agrees: integers are equal, floats are within the tolerance, and nothing else is wrong. exact: agrees, without
    floats. cases, tensors: inputs, and tensors compared per input. max_abs_diff: largest difference; None if it is not
    a number. recorded_cases: inputs whose outputs were compared with recorded ones. constants: multipliers, bounds and
    tables derived a second time. witnesses: other programs that computed the model file. faults: what was wrong,
    differences of tensors first. version: of the mcugen that checked.
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
    """The instructions that a step executed in the first inference, and its cycles if the core has a cycle model.

    code_bytes: code of its kernel and of all functions that it calls. Shared code counts for each step that uses it.
    waits: cycles of reads from slow memories with 0, 1, 2, ... wait states of the flash, as part of the most cycles;
    empty if the board's file describes no such memory. core: cycles of the instructions alone, without waits.
    """

    instructions: int
    cycles: CycleFacts | None
    code_bytes: int
    waits: tuple[int, ...] = ()
    core: CycleFacts | None = None


@dataclass(frozen=True)
class SimulatedFacts:
    """Measurements of `mcugen simulate`: this build's firmware on an emulated core.

    machine: the machine that QEMU emulated. optimize: option of the cross compiler. agrees: results equal the
    reference. repeatable: results are the same with different initial memory. cases: inputs. instructions, cycles: of
    the first input. wait_states: wait states of the flash in the most cycles; None if the board's file does not
    describe its reads. text_bytes, rodata_bytes: sections of the image. stack_bytes: stack used, measured.
    stack_bound_bytes, stack_path: bound of the stack, and the deepest call path. steps: one entry per step of the
    build. notes: remarks on the cycles. version: of mcugen.
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
    """A Pareto-optimal schedule in RAM, constants and cost, from `mcugen pareto`.

    cost: counted instructions if is_counted, otherwise kernel calls. by_rows: steps that run row by row. is_knee:
    whether saving more RAM than here costs most. command: how to build it, for the knee only. cycles: the build's
    estimate. presets: goals of --optimize that give this schedule.
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
    """Cost of a build. Units: bytes, and multiply-accumulates per inference.

    ram_bytes      all RAM of the model: inputs, outputs, tensors and scratch; with one region, sizeof the model object
    arena_bytes    size of the memory plan before rounding up to the object's alignment
    lower_bound    the most bytes live at any step, scratch included: no plan of whole tensors can be smaller
    gap_bytes      how many bytes smaller another plan for this order might be; 0 if the plan is proven to be the
                   smallest
    scratch_bytes  the largest scratch of any step
    weights_bytes  constants in flash: weights, biases, multipliers, tables
    macs           multiply-accumulates of the model as imported
    live_macs      multiply-accumulates that the build executes
    cycles         estimate per inference, frame or decision; None if a kernel's costs are not known for the core
    clock_hz       clock of the board's core; None for a bare core
    removed        what the build removed, and why the results do not change
    states         values kept from run to run, part of the RAM
    schema         version of this document; docs/report.schema.json describes it
    version        version of mcugen
    command        command that repeats the build; sha256: hash of the model file
    promise        how results relate to those of the runtime
    events         number of events: a step, or one row of a step
    inputs         names of input tensors; outputs: of output tensors; tensors, buffers: what RAM holds during which
                   event
    sums           per file except pages: the first 16 digits of its SHA-256, two spaces, its path
    title          name of the model for texts, from its file or folder; name: its C name, which may be shortened
    ram_limit_bytes, flash_limit_bytes   memory of the board; None for a bare core
    trace          the step of each event, -1 for a row of the input; 7x3 stands for 7 7 7
    quantization   noise per layer, if the build quantized the model
    stream         sizes and times, for a model that takes a stream of samples
    waits          whether estimated cycles include waits for slow memories; the board's file gives their speed
    checked        hardware that cycle estimates for this board were checked against; "" if none
    energy         energy of the chip; None if the board's file does not state it
    verified, simulated, pareto   results that these commands add with --into; None or empty before
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
    stream: StreamFacts | None = None
    energy: Energy | None = None
