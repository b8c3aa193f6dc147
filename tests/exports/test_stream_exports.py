# SPDX-License-Identifier: Apache-2.0
"""Exports of models that take a stream of samples: their programs push, and print what the oracle decides."""

from __future__ import annotations

import os
import subprocess
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

import mcugen
from mcugen.emit import sources_of
from mcugen.errors import UsageError
from mcugen.machines.toolchain.process import run_checked
from mcugen.pipeline import Artifact
from mcugen.verify import onboard
from mcugen.verify.cases import cases
from mcugen.verify.serial import SerialLine
from tests.exports.recorded import same
from tests.exports.test_avr import ARDUINO
from tests.formats.test_chain import write_layer

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
BOARD = """
#include <stdio.h>
#define MCUGEN_PROFILE_HERE
#define MCUGEN_CYCLES() 0
#include "net_profile.h"
#define MCUGEN_GET getchar
#define MCUGEN_PUT(byte) (putchar(byte), fflush(stdout))
#include "net_validate.h"
#include "net_drift.h"
static net_t model;
int main(void)
{
    static net_drift_t drift;
    net_drift_outputs(&drift, &model);
    mcugen_profile_begin();
    mcugen_profile_end();
    for (;;) {
        net_validate(&model);
    }
}
"""


def built(folder: Path, *export: str, **options: object) -> Artifact:
    """A build whose rows of 16 samples begin every 8; the network takes 3 of them, every second row."""
    front = write_layer(folder / "front.tflite", (1, 16), 4)
    net = str(write_layer(folder / "net.tflite", (1, 3, 4), 2))
    stream = {"input_mode": "samples", "hop": "8", "stride": "2"}
    made = mcugen.compile(front, chain=(net,), export=export, no_report=True, **stream, **options)
    made.write(folder / "out")
    return made


def objects(made: Artifact, folder: Path) -> list[Path]:
    sources = [folder / source for source in sources_of(made.emitted)]
    run_checked(["gcc", "-c", *WARNINGS, f"-I{folder}", *sources], cwd=folder)
    return [folder / source.with_suffix(".o").name for source in sources]


@pytest.mark.parametrize("selftest", [False, True])
def test_cpp_pushes(tmp_path: Path, selftest: bool) -> None:
    made, out = built(tmp_path, "cpp", selftest=selftest, queue="20"), tmp_path / "out"
    flags = ["-std=c++20", *WARNINGS, "-fno-exceptions", "-fno-rtti", f"-I{out}"]
    run_checked(["g++", *flags, out / "examples/main.cpp", *objects(made, out), "-o", out / "program"])
    text = run_checked([out / "program"]).stdout
    assert same(text, made) if selftest else b"net_output[1] = " in text
    header = made.files["net.hpp"].decode()
    assert "input()" not in header and "lost() const" in header and "bool take()" in header and "void reset()" in header


def test_arduino_and_avr_push(tmp_path: Path) -> None:
    made, out = built(tmp_path, "arduino", "avr", board="arduino-mega", fetch_weights=True), tmp_path / "out"
    core, flags = f"{ARDUINO}/hardware/arduino/avr", ["-mmcu=atmega2560", "-DF_CPU=16000000UL", f"-I{out}/src"]
    folders = [f"-I{core}/cores/arduino", f"-I{core}/variants/mega", "-DARDUINO=10819", "-include", "Arduino.h"]
    sketch = ["-x", "c++", out / "examples/net/net.ino"]
    run_checked(["avr-g++", *flags, *folders, "-fsyntax-only", *sketch])
    run_checked(["avr-gcc", *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", out / "avr/main.c"])
    for path in ("examples/net/net.ino", "avr/main.c"):
        assert "while (net_push(&model, samples, NET_HOP) == 0u)" in made.files[path].decode()


@contextmanager
def line(program: Path, longest: int) -> Iterator[SerialLine]:
    """A serial line to a program that answers on its standard output."""
    ours, theirs = os.openpty()
    tty.setraw(ours)
    with subprocess.Popen([program], stdin=ours, stdout=ours) as running:
        try:
            with SerialLine(os.ttyname(theirs), 115200, 10, longest) as opened:
                yield opened
        finally:
            running.kill()
            os.close(ours)
            os.close(theirs)


def test_a_board_is_validated_up_to_the_first_decision(tmp_path: Path) -> None:
    made, out = built(tmp_path, "profile", "validate", "drift", queue="20"), tmp_path / "out"
    assert made.view.samples is not None and made.view.request_bytes == made.view.samples.first == 32
    (out / "board.c").write_text(BOARD)
    flags = [*WARNINGS, "-Wno-unused-function", f"-I{out}"]
    run_checked(["gcc", *flags, out / "board.c", *objects(made, out), "-o", out / "board"])
    with line(out / "board", onboard.longest_request(made)) as opened:
        found = onboard.validate(made, opened, [*islice(cases(made.imported, 2), 4)], lambda text: None)
    assert found.agrees and found.outputs.cases == 4 and found.constants
    assert "push the 16 samples of one decision" in made.files["README-profile.md"].decode()


def test_rust_pushes_and_wasm_says_what_to_do(tmp_path: Path) -> None:
    text = built(tmp_path, "rust", queue="20").files["rust/lib.rs"].decode()
    assert "pub fn push(&mut self, samples: &[i8]) -> u32" in text and "pub unsafe fn put(" in text
    with pytest.raises(UsageError, match="whole inputs") as error:
        partial(built, tmp_path, "wasm")()
    assert "call net_push from code of your own" in error.value.explain()
