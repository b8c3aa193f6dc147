"""Template values of a model."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.emit.blob import BlobView
from mcugen.emit.constant_placement import ConstantsView, places_of
from mcugen.emit.literals import packed
from mcugen.emit.memory import MapView, RegionView
from mcugen.emit.model_parts import ArrayView, DeviceView, EndView, PushView, SamplesView, StepView
from mcugen.emit.promise import Promise
from mcugen.emit.states import StateView
from mcugen.emit.tflm import TflmView
from mcugen.emit.window_rows import HelperView


@dataclass(frozen=True)
class ModelView:
    """All values that the templates print.

    bands: the most bands of a step, 1 if one thread computes everything. waiting: bytes that say which bands wait.
    """

    version: str
    name: str
    macro: str
    command: str
    sha256: str
    reference: str
    reference_title: str
    promises: list[Promise]
    promise: str
    arena_size: int
    lower_bound: int
    peak_step: int
    proven: bool
    streams: bool
    keep_input: bool
    macs: int
    weights_size: int
    inputs: list[EndView]
    outputs: list[EndView]
    arrays: list[ArrayView]
    steps: list[StepView]
    order: list[tuple[int, int]]
    order_type: str
    push: PushView | None
    samples: SamplesView | None
    states: list[StateView]
    counters: tuple[str, ...]
    kept_bytes: int
    bands: int
    waiting: int
    regions: list[RegionView]
    reads: dict[str, int]
    interface: str
    runtime: str
    headers: list[str]
    declarations: list[str]
    runtime_files: dict[str, bytes]
    device: DeviceView | None = None
    blob: BlobView | None = None
    tflm: TflmView | None = None

    @property
    def ends(self) -> list[EndView]:
        return self.inputs + self.outputs

    @property
    def memory_map(self) -> list[MapView]:
        return [row for region in self.regions for row in region.memory_map]

    @property
    def spread(self) -> bool:
        """Whether arenas are separate arrays of the caller, in several regions, instead of the model object itself."""
        return len(self.regions) > 1

    @property
    def order_lines(self) -> list[str]:
        """The order of events as C text."""
        return packed(f"{{{step}, {row}}}," for step, row in self.order)

    @property
    def helpers(self) -> list[HelperView]:
        """The functions that look up rows. Each appears once."""
        found = {h for s in self.steps if s.window for h in s.window.helpers}
        return sorted(found, key=lambda h: (h.dtype, h.kind))

    @property
    def newest_row(self) -> bool:
        """Whether a step by rows computes only its newest row, as earlier rows stay in memory from frame to frame."""
        return self.streams and not (self.push and self.push.rolls)

    @property
    def uses_row(self) -> bool:
        """Whether the code of any step depends on the row to compute."""
        return any(s.by_rows and (s.form != "run" or s.batch > 1 or s.mentions("row")) for s in self.steps)

    @property
    def request_bytes(self) -> int:
        """Bytes that lead to the first outputs: the inputs or, of a stream, the samples up to the first decision."""
        return self.samples.first * self.samples.nbytes if self.samples else sum(end.nbytes for end in self.inputs)

    @property
    def weight_places(self) -> list[ConstantsView]:
        """Memories that hold constants, apart from the flash of the code."""
        return places_of(self.arrays, self.macro)

    @property
    def arenas(self) -> str:
        """Name of the member of the model object that is the arena, or that points to the arenas."""
        return "region" if self.spread else "arena"
