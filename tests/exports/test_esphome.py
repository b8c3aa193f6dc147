# SPDX-License-Identifier: Apache-2.0
"""The script for ESPHome swaps the arrays of main.cpp that were built, and no other; the firmware then computes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

import mcugen
from mcugen.machines.toolchain.process import run_checked
from tests.exports.firmware_of_tflm import HOST
from tests.exports.recorded import DIGITS, MODELS

SCRIPT = Path(__file__).parents[2] / "examples" / "esphome" / "swap_models.py"
FIRMWARE = """
#define PROGMEM
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
%s
struct WakeWord {
    explicit WakeWord(const uint8_t *start) : model(tflite::GetModel(start)) {}
    const tflite::Model *model;
};
int main()
{
    static uint8_t arena[4000];
    WakeWord built(first_array), foreign(second_array);
    tflite::MicroMutableOpResolver<20> resolver;
    tflite::MicroInterpreter interpreter(built.model, resolver, arena, sizeof arena);
    const bool runs = interpreter.AllocateTensors() == kTfLiteOk && interpreter.Invoke() == kTfLiteOk;
    return runs && foreign.model->version() == 0u ? 0 : 1;
}
"""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("swap_models", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def array(name: str, data: bytes) -> str:
    """An array as ESPHome's generator writes it."""
    return f"static const uint8_t {name}[] PROGMEM = {{{', '.join(f'0x{byte:02X}' for byte in data)}}};"


def test_arrays_that_were_built_are_swapped(tmp_path: Path) -> None:
    made = mcugen.compile(DIGITS, export=("tflm",), symbol=("wake_model",))
    made.write(tmp_path / "digits")
    swap = script()
    symbols = swap.symbols_of([tmp_path / "digits"])
    foreign = array("second_array", (MODELS / "f32_softmax.tflite").read_bytes())
    changed = swap.swapped(array("first_array", DIGITS.read_bytes()) + "\n" + foreign, symbols)
    assert changed.endswith(foreign) and "first_array = wake_model;" in changed and len(changed) < len(foreign) + 200
    assert swap.swapped(changed, symbols) == changed
    one_bit = bytes([DIGITS.read_bytes()[0] ^ 1]) + DIGITS.read_bytes()[1:]
    assert swap.swapped(array("a", one_bit), symbols) == array("a", one_bit)
    (tmp_path / "main.cc").write_text(FIRMWARE % changed)
    folder = tmp_path / "digits"
    sources = [folder / path for path in made.emitted if path.endswith(".c") and not path.startswith("examples")]
    objects = HOST.compiled([*sources, folder / "digits_tflm.cc", tmp_path / "main.cc"], [folder], tmp_path / "objects")
    run_checked([HOST.linked(objects, tmp_path)])


def test_arena_of_the_manifest_stands_beside_that_of_the_build(tmp_path: Path) -> None:
    made = mcugen.compile(DIGITS, export=("tflm",))
    made.write(tmp_path / "digits")
    manifest = tmp_path / "digits.json"
    manifest.write_text(json.dumps({"type": "micro", "micro": {"tensor_arena_size": 22860}}))
    assert made.view.tflm is not None
    assert script().arenas(manifest, tmp_path / "digits") == (22860, made.view.tflm.arena_bytes)
    with pytest.raises(SystemExit, match="build the model with --symbol"):
        script().symbols_of([tmp_path / "digits"])
