# SPDX-License-Identifier: Apache-2.0
"""Amalgamations keep their kernels to themselves, those of templates that no step calls among them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen import target
from mcugen.toolchain.process import run_checked
from tests.emit.built import build_bytes
from tests.support.tflite_writer import ModelWriter


def convolution(operator: str, channels: int) -> bytes:
    """A convolution of floats with a window of three rows and a stride along them."""
    m = ModelWriter()
    x, y = m.tensor("x", (1, 6, 4, 4), "f32"), m.tensor("y", (1, 4, 2, channels), "f32")
    shape = (channels, 3, 1, 4) if operator == "CONV_2D" else (1, 3, 1, channels)
    w = m.tensor("w", shape, "f32", data=np.linspace(-1, 1, int(np.prod(shape))).reshape(shape))
    b = m.tensor("b", (channels,), "f32", data=np.ones(channels))
    m.op(operator, [x, w, b], [y], {"padding": "VALID", "stride_h": 1, "stride_w": 2} | _MULTIPLIER.get(operator, {}))
    return m.build([x], [y])


_MULTIPLIER = {"DEPTHWISE_CONV_2D": {"depth_multiplier": 1}}


@pytest.mark.parametrize("operator", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_functions_that_templates_name_are_private(operator: str, tmp_path: Path) -> None:
    built = build_bytes(convolution(operator, 4), tmp_path, board="cortex-m55", amalgamate=True, optimize="flash")
    flags = [*target.load("cortex-m55").toolchain.flags, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"]
    run_checked(["arm-none-eabi-gcc", *flags, "-I.", "-c", "model.c", "-o", "model.o"], cwd=built.folder)
    lines = run_checked(["arm-none-eabi-nm", "model.o"], cwd=built.folder).stdout.decode().splitlines()
    external = {line.split()[-1] for line in lines if line.split()[-2] in "TDBRVW"}
    assert external == {"model_run"}
