# SPDX-License-Identifier: Apache-2.0
"""Whole models on an OpenCL device: build, what is refused, and outputs against the oracle."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mcugen import pipeline
from mcugen.errors import NoKernelError, UsageError
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.kernels import halves
from mcugen.opencl_bench import device_bench
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.verify import checks
from mcugen.verify.cases import cases

MODELS = Path(__file__).resolve().parents[1] / "models"
ON_DEVICE = ("f32_conv_2d", "s8_depthwise_conv_2d")


def built(name: str, **choices: object) -> pipeline.Artifact:
    return pipeline.build(MODELS / f"{name}.tflite", Options(backend="opencl", **choices))  # type: ignore[arg-type]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ON_DEVICE)
def test_every_layer_equals_the_oracle(name: str) -> None:
    artifact = built(name)
    result = checks.verify(artifact, 1, None, None, lambda text: None)
    assert result.agrees, result.c
    assert result.c.cases > 0
    assert artifact.view.device is not None
    assert any(step.kernel for step in artifact.view.device.steps)


@pytest.mark.whole
def test_halves_are_within_their_tolerance() -> None:
    """Halves take half of the memory; inputs and outputs stay float."""
    whole, artifact = built("f32_fully_connected"), built("f32_fully_connected", precision="f16")
    given = next(iter(cases(artifact.imported, 1))).inputs
    oracle = interpreter.run(artifact.imported, given, "tflm")[artifact.imported.outputs[0]]
    got = device_bench.bench(artifact, 1, given).outputs[0]
    assert 1e-5 < np.abs(got - oracle).max() / np.abs(oracle).max() < interpreter.HALF_TOLERANCE
    assert len(artifact.view.device.constants) < 0.8 * len(whole.view.device.constants)  # type: ignore[union-attr]
    assert {artifact.graph.type(name).dtype for name in (*artifact.graph.inputs, *artifact.graph.outputs)} == {"f32"}
    assert any("within 0.01" in note and "steps turn" in note for note in artifact.report.notes)


def test_steps_in_c_see_floats() -> None:
    artifact = built("f32_scatter_nd", precision="f16")
    in_c = [step.choice.call for step in artifact.schedule.steps if not step.on_device]
    assert in_c
    assert not any(halves.are_in(call) for call in in_c)


def test_halves_are_for_devices() -> None:
    with pytest.raises(UsageError, match="--precision f16 is for OpenCL devices"):
        pipeline.build(MODELS / "f32_relu.tflite", Options(precision="f16"))


def test_weights_as_half_keep_their_sums() -> None:
    """Over the taps of a channel, as neighbouring pixels are alike, and over all."""
    data = np.random.default_rng(0).standard_normal((9 * 8, 4)).astype(np.float32)
    types = (TensorType((1, 5, 5, 8), "f32"), TensorType((4, 3, 3, 8), "f32"))
    call = Call(None, types, (TensorType((1, 5, 5, 4), "f32"),), (None, data), "litert")
    found = halves.weights(call, data).astype(np.float32)
    step = np.abs(data).max() * 2.0**-11
    assert np.abs(found - data).max() <= 2 * step
    lost, nearest = ((w - data).reshape(9, 8, 4).sum(axis=0) for w in (found, halves.as_half(data)))
    assert np.abs(lost).max() <= 2 * step
    assert np.abs(lost).mean() < 0.7 * np.abs(nearest).mean()
    assert np.abs((found - data).sum(axis=0)).max() <= step


def test_a_step_without_a_kernel_runs_as_c_and_is_named() -> None:
    artifact = built("f32_scatter_nd")
    assert artifact.view.device is not None
    assert artifact.view.device.host_steps == len(artifact.schedule.steps)
    assert any("run as C" in note and "scatter" in note.lower() for note in artifact.report.notes)
    assert b"static void run_step" in artifact.files[f"{artifact.name}.c"]


def test_require_accelerated_refuses_steps_in_c() -> None:
    with pytest.raises(NoKernelError, match="ScatterNd"):
        built("f32_scatter_nd", require_accelerated=True)
    assert built("f32_relu", require_accelerated=True).schedule.steps[0].on_device


def test_what_has_no_meaning_on_devices_is_refused() -> None:
    for choices in ({"selftest": True}, {"amalgamate": True}, {"input_mode": "rows"}, {"board": "cortex-m4"}):
        with pytest.raises(UsageError):
            built("f32_relu", **choices)
    with pytest.raises(UsageError, match="opencl-generic"):
        pipeline.build(MODELS / "f32_relu.tflite", Options(backend="c", board="opencl-generic"))


def test_the_same_model_gives_the_same_bytes() -> None:
    first, second = built("s8_conv_2d"), built("s8_conv_2d")
    assert first.files == second.files


def test_c_is_the_same_as_without_the_backend() -> None:
    plain = pipeline.build(MODELS / "s8_conv_2d.tflite", Options())
    named = pipeline.build(MODELS / "s8_conv_2d.tflite", Options(backend="c"))
    assert plain.emitted == named.emitted
    assert not any(path.endswith(".cl") for path in plain.files)


def test_launches_fit_the_device() -> None:
    artifact = built("s8_conv_2d")
    device = artifact.target.device
    assert device is not None
    for step in artifact.schedule.steps:
        if step.on_device:
            grid = step.choice.kernel.launch(step.choice.call)
            assert grid.group_items <= device.max_group
            assert grid.local_bytes <= device.local_bytes
    small = dataclasses.replace(device, local_bytes=64)
    step = next(s for s in artifact.schedule.steps if s.on_device and s.choice.kernel.grid.tiles)
    from mcugen.solve import device_kernels as chosen

    assert not list(chosen.launches(step.choice.call, step.choice.kernel, small))
