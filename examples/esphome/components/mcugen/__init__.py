# SPDX-License-Identifier: Apache-2.0
"""External component of ESPHome: the models of micro_wake_word are builds, and TensorFlow Lite Micro is not compiled.

mcugen:
  builds: [okay_nabu]  # folders of `mcugen build MODEL.tflite --export tflm --export esp-idf --symbol NAME`

ESPHome writes each model as a static array into main.cpp, so the linker cannot replace it. This component writes the
variable of the build with the model's SHA-256 instead. A model without a build is an error. docs/tflm.md has the rest.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import esphome.codegen as cg
import esphome.config_validation as cv
from esphome.components import esp32
from esphome.core import CORE, EsphomeError, coroutine_with_priority

DEPENDENCIES = ["micro_wake_word"]
CONF_BUILDS = "builds"
FIRST, LAST = 1000.0, -1000.0
"""Priorities before and after the code of micro_wake_word is generated."""
SYMBOL = re.compile(r"^MCUGEN_TFLM_NAME\((\w+), mcugen_tflm_\w+\)", re.MULTILINE)
ARENA = re.compile(r"the tensor arena of \w+ needs (\d+) bytes")
COMMAND = "mcugen build MODEL.tflite --export tflm --export esp-idf --optimize ram --symbol NAME"
_LOGGER = logging.getLogger(__name__)


def build(folder: Path) -> dict[str, Any]:
    """The build in a folder: its path, the SHA-256 of its flatbuffer, its variable, and the arena that it needs.

    Raises cv.Invalid for any other folder.
    """
    folder = Path(folder)
    try:
        source = sorted(folder.glob("*_tflm.cc"))[0].read_text(encoding="utf-8")
        (folder / "idf_component.yml").read_bytes()
        sha256 = json.loads((folder / "report.json").read_text(encoding="utf-8"))["sha256"]
        arena = ARENA.search((folder / "README-tflm.md").read_text(encoding="utf-8"))
        symbol = SYMBOL.search(source)
    except (OSError, ValueError, LookupError) as error:
        raise cv.Invalid(f"{folder} is no build; make it with: {COMMAND} -o {folder}") from error
    if symbol is None or arena is None:
        raise cv.Invalid(f"{folder} has no variable for the firmware; make it with: {COMMAND} -o {folder}")
    return {"path": str(folder.resolve()), "sha256": sha256, "symbol": symbol[1], "arena": int(arena[1])}


def distinct(builds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Builds with variables of their own. Raises cv.Invalid if two have the same one."""
    symbols = [each["symbol"] for each in builds]
    if twice := sorted({symbol for symbol in symbols if symbols.count(symbol) > 1}):
        raise cv.Invalid(f"two builds have the variable {twice[0]}; give each a --symbol of its own")
    return builds


CONFIG_SCHEMA = cv.Schema({cv.Required(CONF_BUILDS): cv.All(cv.ensure_list(cv.All(cv.directory, build)), distinct)})


def swapping(original: Callable[..., Any], builds: Mapping[str, Mapping[str, Any]]) -> Callable[..., Any]:
    """ESPHome's progmem_array, which now writes the variable of a build for each model. builds: by SHA-256."""

    def progmem_array(id_: Any, rhs: Iterable[Any]) -> Any:
        rhs = list(rhs)
        try:
            data = bytes(rhs)
        except (TypeError, ValueError):  # elements wider than a byte, or expressions
            return original(id_, rhs)
        if data[4:7] != b"TFL":
            return original(id_, rhs)
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 not in builds:
            raise EsphomeError(f"mcugen: the model {id_} of {len(data):,} bytes has no build; make it with: {COMMAND}")
        each = builds[sha256]
        _LOGGER.info("%s needs a tensor arena of %d bytes: %s", each["symbol"], each["arena"], each["path"])
        CORE.add(cg.RawStatement(f"extern const uint8_t {each['symbol']}[];"))
        CORE.add(cg.RawStatement(f"static const uint8_t *const {id_} = {each['symbol']};"))
        variable = cg.MockObj(id_, ".")
        CORE.register_variable(id_, variable)
        return variable

    return progmem_array


@coroutine_with_priority(LAST)
async def take_library_out() -> None:
    """Drop the interpreter and its kernels, whose headers the builds replace."""
    components = CORE.data["esp32"]["components"]
    for name in [name for name in components if name.rpartition("/")[2] in ("esp-tflite-micro", "esp-nn")]:
        del components[name]


@coroutine_with_priority(FIRST)
async def to_code(config: Mapping[str, Any]) -> None:
    builds = {each["sha256"]: each for each in config[CONF_BUILDS]}
    cg.progmem_array = swapping(cg.progmem_array, builds)
    for each in builds.values():
        esp32.add_idf_component(name=f"mcugen_{each['symbol']}", path=each["path"])
    CORE.add_job(take_library_out)
