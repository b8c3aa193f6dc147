# SPDX-License-Identifier: Apache-2.0
"""The component for ESPHome gives main.cpp variables of builds in place of arrays, and the firmware then computes.

ESPHome itself is not needed: a stub has the few names of it that the component uses.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import mcugen
from mcugen.machines.toolchain.process import run_checked
from tests.exports.firmware_of_tflm import HOST
from tests.exports.recorded import DIGITS, MODELS

COMPONENT = Path(__file__).parents[2] / "examples" / "esphome" / "components" / "mcugen" / "__init__.py"
FIRMWARE = """
#define PROGMEM
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
struct WakeWord {
    explicit WakeWord(const uint8_t *start) : model(tflite::GetModel(start)) {}
    const tflite::Model *model;
};
int main()
{
    %s
    static uint8_t arena[4000];
    WakeWord word(first_array);
    tflite::MicroMutableOpResolver<20> resolver;
    tflite::MicroInterpreter interpreter(word.model, resolver, arena, sizeof arena);
    return interpreter.AllocateTensors() == kTfLiteOk && interpreter.Invoke() == kTfLiteOk ? 0 : 1;
}
"""


class InvalidError(Exception):
    """ESPHome's error for a configuration."""


class Core:
    """The firmware that ESPHome generates: its statements, components and code that is still to be generated."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        components = {"espressif/esp-tflite-micro": {}, "espressif/esp-nn": {}, "esphome/esp-micro-speech-features": {}}
        self.data: dict[str, Any] = {"esp32": {"components": components}}
        self.jobs: list[Callable[[], Any]] = []

    def add(self, statement: str) -> None:
        self.statements.append(statement)

    def add_job(self, job: Callable[[], Any]) -> None:
        self.jobs.append(job)

    def register_variable(self, name: str, variable: object) -> None:
        assert variable is not None and name

    def add_idf_component(self, *, name: str, path: str) -> None:
        self.data["esp32"]["components"][name] = {"path": path}


@pytest.fixture
def esphome(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, Core, Any]:
    """The component, the firmware that it adds to, and the stub of the module that generates code."""
    core = Core()

    def progmem_array(id_: str, rhs: list[int]) -> str:
        core.add(f"static constexpr uint8_t {id_}[] PROGMEM = {{{', '.join(map(hex, rhs))}}};")
        return id_

    def named(id_: str, _: str) -> str:
        return id_

    codegen = SimpleNamespace(progmem_array=progmem_array, RawStatement=str, MockObj=named)
    validation = SimpleNamespace(
        Schema=dict, Required=str, ensure_list=list, All=lambda *steps: steps, directory=Path, Invalid=InvalidError
    )
    parts = {
        "esphome": SimpleNamespace(codegen=codegen, config_validation=validation),
        "esphome.codegen": codegen,
        "esphome.config_validation": validation,
        "esphome.components": SimpleNamespace(esp32=core),
        "esphome.core": SimpleNamespace(
            CORE=core, EsphomeError=RuntimeError, coroutine_with_priority=lambda _: lambda job: job
        ),
    }
    for name, part in parts.items():
        monkeypatch.setitem(sys.modules, name, part)
    spec = importlib.util.spec_from_file_location("mcugen_of_esphome", COMPONENT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, core, codegen


def test_a_model_that_was_built_becomes_its_variable(esphome: tuple[ModuleType, Core, Any], tmp_path: Path) -> None:
    component, core, codegen = esphome
    made = mcugen.compile(DIGITS, export=("tflm", "esp-idf"), symbol=("wake_model",))
    folder = tmp_path / "digits"
    made.write(folder)
    facts = component.build(folder)
    assert made.view.tflm is not None and facts["arena"] == made.view.tflm.arena_bytes
    asyncio.run(component.to_code({"builds": [facts]}))
    codegen.progmem_array("first_array", list(DIGITS.read_bytes()))
    codegen.progmem_array("picture", [1, 2, 300])
    statements = "\n".join(core.statements)
    assert "first_array = wake_model;" in statements and "picture[] PROGMEM = {0x1, 0x2, 0x12c}" in statements
    foreign = (MODELS / "f32_softmax.tflite").read_bytes()
    with pytest.raises(RuntimeError, match=rf"the model other of {len(foreign):,} bytes has no build"):
        codegen.progmem_array("other", list(foreign))
    for job in core.jobs:
        asyncio.run(job())
    assert set(core.data["esp32"]["components"]) == {"esphome/esp-micro-speech-features", "mcugen_wake_model"}
    (tmp_path / "main.cc").write_text(FIRMWARE % "\n".join(core.statements[:2]))
    sources = [folder / path for path in made.emitted if path.endswith(".c") and not path.startswith("examples")]
    objects = HOST.compiled([*sources, folder / "digits_tflm.cc", tmp_path / "main.cc"], [folder], tmp_path / "objects")
    run_checked([HOST.linked(objects, tmp_path)])


def test_folders_that_are_no_builds_are_named(esphome: tuple[ModuleType, Core, Any], tmp_path: Path) -> None:
    component = esphome[0]
    for name, options in {"empty": None, "c": {"export": ()}, "found": {"export": ("tflm", "esp-idf")}}.items():
        (tmp_path / name).mkdir()
        if options is not None:
            mcugen.compile(DIGITS, **options).write(tmp_path / name)
        with pytest.raises(InvalidError, match=rf"{re.escape(name)} (is no build|has no variable).*--symbol NAME -o"):
            component.build(tmp_path / name)


def test_two_builds_of_one_variable_are_refused(esphome: tuple[ModuleType, Core, Any]) -> None:
    builds = [{"symbol": "a"}, {"symbol": "b"}]
    assert esphome[0].distinct(builds) == builds
    with pytest.raises(InvalidError, match="two builds have the variable a"):
        esphome[0].distinct([*builds, {"symbol": "a"}])
