# SPDX-License-Identifier: Apache-2.0
"""Builds benchmark models for cores, runs them, and keeps what a page of benchmarks tells."""

from __future__ import annotations

import dataclasses
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcugen
from mcugen.boards import target
from mcugen.machines.toolchain import cross
from mcugen.pipeline import Artifact
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from mcugen.verify.emulated import Simulation
from tests.bench import bounds

GOAL = "speed"
"""The preset of the tables by core, of the layers and of the chart."""
NEAR = "near"
"""The default goal in next to no more RAM than the least."""
NEAR_LEAST = 1.02
PRESETS = (GOAL, "balanced", NEAR, "ram", "flash")


@dataclass(frozen=True)
class Model:
    """A benchmark: `title` on the page, the collection's folder, and how the input comes."""

    title: str
    folder: str
    input_mode: str = "whole"


MODELS = (
    Model("IC", "mlperf_ic_int8"),
    Model("KWS", "mlperf_kws_int8"),
    Model("VWW", "mlperf_vww_int8"),
    Model("IC by rows", "mlperf_ic_int8", "rows"),
    Model("KWS by rows", "mlperf_kws_int8", "rows"),
    Model("VWW by rows", "mlperf_vww_int8", "rows"),
    Model("AD", "mlperf_ad_int8"),
    Model("SWW", "mlperf_strww_int8"),
    Model("SWW, a frame", "mlperf_strww_int8", "frames"),
    Model("micro_speech", "micro_speech_int8"),
    Model("hello_world", "hello_world_int8"),
    Model("person_detect", "person_detect_int8"),
    Model("IC, float", "mlperf_ic_float"),
    Model("KWS, int8 weights on float data", "mlperf_kws_float"),
    Model("digits by LSTM, float", "mnist_lstm_float"),
    Model("wake word with variables, a call", "mww_okay_nabu_v2"),
    Model("KWS by SVDF, a call", "kws_svdf_8bit"),
)


@dataclass(frozen=True)
class Layer:
    """A step that multiplies. bound: the least cycles of its multiply-accumulates; see bounds."""

    model: str
    core: str
    step: int
    what: str
    kernel: str
    macs: int
    cycles_low: int
    cycles_high: int
    bound: int
    share: float
    reason: str

    @property
    def times(self) -> float:
        """Cycles over the bound, in the middle of the estimate."""
        return (self.cycles_low + self.cycles_high) / 2 / self.bound


@dataclass(frozen=True)
class Result:
    """One model on one core with one preset. Units: bytes; per inference, or per frame.

    code_bytes: start-up code left out. copied_bytes: of the constants, those copied to RAM at start-up.
    """

    model: str
    folder: str
    core: str
    macs: int
    instructions: int
    cycles_low: int
    cycles_high: int
    ram_bytes: int
    stack_bytes: int
    constant_bytes: int
    code_bytes: int
    copied_bytes: int = 0
    preset: str = GOAL

    @property
    def flash_bytes(self) -> int:
        """Constants and code."""
        return self.constant_bytes + self.code_bytes

    def as_dict(self) -> dict[str, Any]:
        values = dataclasses.asdict(self)
        for key in ("model", "core", "folder", "preset"):
            del values[key]
        return values


def measure(model: Model, core: str, root: Path, preset: str = GOAL) -> tuple[Result, list[Layer]]:
    """Build, run and count one model on a bare core or a board; its layers with the preset GOAL alone.

    Raises SystemExit where its bits are wrong.
    """
    artifact = _built(model, core, root / model.folder / "model.tflite", preset)
    ran = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    if not (ran.agrees and ran.repeatable):
        raise SystemExit(
            f"ci/bench: {model.title} is not exact on {core} with {preset}: {ran.verdict.first_difference}"
        )
    assert ran.cycles is not None
    flash = ran.text_bytes + ran.rodata_bytes
    result = Result(
        model.title,
        model.folder,
        core,
        ran.macs,
        ran.instructions,
        ran.cycles.low,
        ran.cycles.high,
        ran.ram_bytes,
        ran.stack_bytes,
        ran.weights_bytes,
        flash - ran.weights_bytes - start_up_bytes(core),
        _copied_bytes(artifact),
        preset,
    )
    return result, _layers(model, core, artifact, ran) if preset == GOAL else []


def _built(model: Model, core: str, path: Path, preset: str) -> Artifact:
    how = {"name": "model", "board": core, "input_mode": model.input_mode}
    if preset != NEAR:
        return mcugen.compile(path, optimize=preset, **how)
    least = mcugen.compile(path, optimize="ram", no_report=True, **how).report.ram_bytes
    return mcugen.compile(path, ram=str(int(NEAR_LEAST * least)), **how)


def _copied_bytes(artifact: Artifact) -> int:
    ram = {region.name for region in artifact.target.ram_regions()}
    return sum(w.used_bytes for w in artifact.report.weights if w.name in ram)


def start_up_bytes(core: str) -> int:
    """Flash of a firmware that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        main = Path(folder) / "main.c"
        main.write_text("int main(void)\n{\n    return 0;\n}\n", encoding="ascii")
        return cross.build_image(target.load(core), [main], [], Path(folder), simulated=False).flash_bytes


def _layers(model: Model, core: str, artifact: Artifact, ran: Simulation) -> list[Layer]:
    bare = artifact.target.core
    total = sum(s.cycles.low + s.cycles.high for s in ran.steps if s.cycles)
    found = []
    for step, took in zip(artifact.schedule.steps, ran.steps, strict=True):
        if not took.macs or took.cycles is None:
            continue
        kernel, call = step.choice.kernel, step.choice.call
        shapes = "x".join(map(str, call.input(0).shape[1:])), "x".join(map(str, call.output.shape[1:]))
        share = (took.cycles.low + took.cycles.high) / total
        least = round(bounds.bound(bare, kernel, call) * took.macs / max(call.op.macs(call), 1))
        why = bounds.reason(bare, kernel, call, step.by_rows)
        what = f"{took.op} {shapes[0]} to {shapes[1]}"
        cycles = took.cycles.low, took.cycles.high
        found.append(Layer(model.title, core, took.index, what, took.kernel, took.macs, *cycles, least, share, why))
    return found
