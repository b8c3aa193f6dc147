# SPDX-License-Identifier: Apache-2.0
"""An ATmega2560 computes recorded outputs, with constants in flash: a program of avr-gcc, and an Arduino sketch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mcugen
from mcugen.machines.toolchain.process import run, run_checked
from tests.exports.recorded import MODELS, build, same

SIMAVR = ["simavr", "-m", "atmega2560", "-f", "16000000"]
ARDUINO = "/usr/share/arduino"


def printed(elf: Path, *, until: str = "") -> str:
    """The program's output on its serial port; if it does not end, the output up to a given text."""
    command = ["timeout", "20", *SIMAVR, elf]
    shown = f"{' '.join(map(str, command))} 2>&1 | sed -u '/{until}/q'" if until else ""
    done = run(["sh", "-c", shown] if until else command, timeout_s=60)
    text = done.text if until else (done.stdout + done.stderr).decode(errors="replace")
    return re.sub(r"\x1b\[\d*m", "", text).replace("..\n", "\n").replace(".\n", "\n")


@pytest.mark.whole
def test_a_program_keeps_its_constants_in_flash(tmp_path: Path) -> None:
    made = build(tmp_path, "avr", board="arduino-mega", fetch_weights=True)
    run_checked(["make", "-j2", "-C", tmp_path / "avr", "CFLAGS=-Wall -Wextra -Werror"])
    sizes = run_checked(["avr-size", "-A", tmp_path / "avr" / "digits.elf"]).stdout.decode()
    data = int(re.findall(r"^\.data\s+(\d+)", sizes, re.MULTILINE)[0])
    assert data < 300 < made.report.weights_bytes
    assert same(printed(tmp_path / "avr" / "digits.elf"), made)


def test_constants_that_start_up_copies_must_fit_the_ram() -> None:
    with pytest.raises(mcugen.MemoryBudgetError, match="where start-up code copies constants") as refused:
        mcugen.compile(MODELS / "f32_fully_connected.tflite", board="arduino-mega")
    assert "--fetch-weights" in refused.value.hint


@pytest.mark.whole
def test_a_sketch_uses_two_libraries(tmp_path: Path) -> None:
    """Their common kernels stand in the program once."""
    made = build(tmp_path / "libraries" / "digits", "arduino", board="arduino-mega", fetch_weights=True)
    softmax = MODELS / "s8_softmax.tflite"
    other = build(tmp_path / "libraries" / "other", "arduino", model=softmax, board="arduino-mega", fetch_weights=True)
    assert {path for path in {*made.emitted} & {*other.emitted} if path.startswith("kernels/")}
    sketch = tmp_path / "two" / "two.ino"
    sketch.parent.mkdir()
    example = (
        made.files["examples/digits/digits.ino"].decode().replace("115200);", "115200);\n    s8_softmax_run(&other);")
    )
    sketch.write_text(f"#include <s8_softmax.h>\nstatic s8_softmax_t other;\n{example}")
    (tmp_path / "build").mkdir()
    run_checked(
        [
            *("arduino-builder", "-compile", "-hardware", f"{ARDUINO}/hardware", "-hardware", f"{ARDUINO}-builder"),
            *("-tools", f"{ARDUINO}-builder", "-tools", "/usr/bin", "-libraries", tmp_path / "libraries"),
            *("-fqbn", "arduino:avr:mega:cpu=atmega2560", "-build-path", tmp_path / "build"),
            "-prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__",
            sketch,
        ],
        timeout_s=120,
    )
    assert same(printed(tmp_path / "build" / "two.ino.elf", until=r"output\[9\]"), made)


def test_a_sketch_prints_floats(tmp_path: Path) -> None:
    """Serial.println has no overload for a float that may alias others, and prints two digits of any by default."""
    build(tmp_path, "arduino", model=MODELS / "f32_add.tflite", board="arduino-mega", fetch_weights=True)
    sketch = tmp_path / "examples" / "f32_add" / "f32_add.ino"
    core = f"{ARDUINO}/hardware/arduino/avr"
    folders = [f"-I{core}/cores/arduino", f"-I{core}/variants/mega", f"-I{tmp_path / 'src'}"]
    checked = ["avr-g++", "-mmcu=atmega2560", "-DF_CPU=16000000UL", "-DARDUINO=10819", *folders, "-fsyntax-only"]
    run_checked([*checked, "-include", "Arduino.h", "-x", "c++", sketch])
    assert ", 7)" in sketch.read_text()
