# SPDX-License-Identifier: Apache-2.0
"""Faults planted one at a time where emitted constants are made: `mcugen verify` finds each by itself."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import pipeline
from mcugen.errors import ToolError
from mcugen.ir import fixed_point
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.ops import _bytes, _filter, _reduce_sum, leaky_relu
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.verify import check_report, checks
from mcugen.verify.checks import Verification
from tests.support.tflite_writer import ModelWriter

Patch = pytest.MonkeyPatch


def model(*operators: str, dtype: str = "s8", length: int = 12) -> bytes:
    """A chain of operators on one vector, each with its own scale."""
    m, rng, zero = ModelWriter(), np.random.default_rng(0), {"s8": -3, "u8": 125, "s16": 0}[dtype]
    x = first = m.tensor("x", (1, length), dtype, scale=0.0371, zero_point=zero)
    for k, name in enumerate(operators):
        operands, width, options = [x], length, {}
        if name == "FULLY_CONNECTED":
            width, options = 5, {"fused_activation_function": "RELU6"}
            data = np.full((5, length), 127) if dtype == "s16" else rng.integers(-127, 128, (5, length))
            operands.append(m.tensor("w", (5, length), "s8", scale=0.013, data=data))
        if name == "MEAN":
            width, options = 1, {"keep_dims": True}
            operands.append(m.tensor("axis", (1,), "s32", data=np.array([1])))
        if name == "LEAKY_RELU":
            options = {"alpha": 0.3}
        y = m.tensor(f"y{k}", (1, width), dtype, scale=0.0481 + 0.01 * k, zero_point=zero)
        m.op(name, operands, [y], options)
        x, length = y, width
    return m.build([first], [x])


def built(data: bytes, folder: Path) -> Artifact:
    path = folder / "planted.tflite"
    path.write_bytes(data)
    return mcugen.compile(path, board="cortex-m0plus")


def verified(artifact: Artifact) -> Verification:
    return checks.verify(artifact, 2, None, None, lambda text: None)


def one_bit_short(patch: Patch) -> None:
    def short(real: float) -> tuple[int, int]:
        mult, shift = fixed_point.quantize_multiplier(real)
        return (mult - 1) & ~1, shift

    for module in (_filter, _reduce_sum):
        patch.setattr(module, "quantize_multiplier", short)


def in_single_precision(patch: Patch) -> None:
    exact = leaky_relu.multipliers
    patch.setattr(leaky_relu, "multipliers", lambda call: exact(dataclasses.replace(call, reference="litert")))


def floored(patch: Patch) -> None:
    def bounds(activation: str, y: TensorType) -> tuple[int, int]:
        return 0 + y.zero_point, min(127, math.floor(6 / y.scale) + y.zero_point)

    patch.setattr(_filter, "activation_range", bounds)


def an_entry_off(patch: Patch) -> None:
    exact = _bytes.table

    def table(call: Call) -> np.ndarray:
        entries = exact(call).copy()
        entries[200] += 1
        return entries

    patch.setattr(_bytes, "table", table)


def long_sums(patch: Patch) -> None:
    patch.setattr(_filter, "INT32_END", 2**33)


def no_fallback(patch: Patch) -> None:
    def ignored(imported: Any, options: Options) -> tuple[Options, tuple[str, ...]]:
        return dataclasses.replace(options, reference="tflm"), ()

    patch.setattr(pipeline, "_settle_reference", ignored)


PLANTS: dict[str, tuple[Callable[[Patch], None], bytes, str]] = {
    "a multiplier of a mean one bit short": (one_bit_short, model("MEAN"), "MEAN"),
    "a multiplier of a filter one bit short": (one_bit_short, model("FULLY_CONNECTED"), "mult[0]"),
    "a multiplier in single precision": (in_single_precision, model("LEAKY_RELU", dtype="s16"), "negative"),
    "an activation bound floored": (floored, model("FULLY_CONNECTED"), "bounds[1]"),
    "a table entry off by one": (an_entry_off, model("LEAKY_RELU"), "table[200]"),
    "a composed table's entry off by one": (an_entry_off, model("LEAKY_RELU", "HARD_SWISH"), "table[200]"),
    "sums allowed to 2^33": (long_sums, model("FULLY_CONNECTED", dtype="s16", length=1024), "signed integer overflow"),
    "a fallback that is ignored": (no_fallback, model("LOGISTIC", dtype="u8"), "refuses operator 0 LOGISTIC"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_fault_is_found(name: str, monkeypatch: Patch, tmp_path: Path) -> None:
    plant, data, message = PLANTS[name]
    sound = verified(built(data, tmp_path))
    assert sound.exact and not sound.faults
    plant(monkeypatch)
    try:
        result = verified(built(data, tmp_path))
    except ToolError as error:
        assert message in error.output
        return
    assert not result.exact and not check_report.verify_dict(result)["exact"]
    assert message in check_report.verify_text(result)


TEXTS = {
    "a helper that truncates": (".h", b"whole + away + ", b"whole + 0 * away + ", "_quantize("),
    "mutable data at file scope": (".c", b"\nvoid ", b"\nint calls;\nvoid ", "no_mutable_statics"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_changed_text_is_found(name: str, tmp_path: Path) -> None:
    ending, old, new, message = TEXTS[name]
    artifact = built(model("FULLY_CONNECTED"), tmp_path)
    path = artifact.name + ending
    assert old in artifact.files[path]
    files = {**artifact.files, path: artifact.files[path].replace(old, new, 1)}
    result = verified(dataclasses.replace(artifact, files=files))
    assert not result.exact
    assert message in check_report.verify_text(result)


def test_every_function_of_the_header_is_tried(tmp_path: Path) -> None:
    artifact = built(model("FULLY_CONNECTED"), tmp_path)
    path = f"{artifact.name}.h"
    wrong = artifact.files[path].replace(b"steps = q - ", b"steps = q + ", 1)
    result = verified(dataclasses.replace(artifact, files={**artifact.files, path: wrong}))
    assert [fault.split("(")[0] for fault in result.helpers] == [f"{artifact.view.outputs[0].function}_dequantize"]
