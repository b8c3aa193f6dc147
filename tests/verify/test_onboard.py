# SPDX-License-Identifier: Apache-2.0
"""`mcugen profile` and `mcugen validate` with firmware on emulated boards, over their emulated UART and a pty."""

from __future__ import annotations

import json
import os
import re
import select
import struct
import subprocess
import threading
import time
import tty
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.boards import isa
from mcugen.cli import main
from mcugen.emit import sources_of
from mcugen.machines.toolchain import count, qemu
from mcugen.machines.toolchain.cross import Image, build_image
from mcugen.pipeline import Artifact
from mcugen.system import resources
from mcugen.verify import emulated, serial
from mcugen.verify.cases import Case

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"
MAIN = Path(__file__).with_name("board_main.c")
MARKED = Path(__file__).with_name("marked_twice.h")
SIM_STEP = resources.boards() / "_common" / "sim_step.h"
NS_PER_INSTRUCTION = 1024
# UART, and the clock of SysTick in Hz; 0 where the counter counts instructions.
CORES = {
    "cortex-m4": ("0x40004000u", 25e6),
    "rv32imc": ("0x10000000u", 0),
    "cortex-m7": ("0x40004000u", 25e6),
    "cortex-m33": ("0x50200000u", 20e6),
}
OFTEN = ("cortex-m4", "rv32imc")


def firmware(core: str, folder: Path, *, flip: bool = False) -> tuple[Artifact, Image]:
    """The digits classifier that measures and answers, linked for an emulated core; flip: with one weight changed."""
    made = mcugen.compile(DIGITS, board=core, export=("profile", "validate"), no_report=True)
    made.write(folder)
    if flip:
        weights = folder / "digits_weights.c"
        before, symbol, values = weights.read_text().partition("digits_k0[")
        flipped = re.sub(r"(= \{\s*)(-?\d+)", lambda m: m[1] + str(int(m[2]) ^ 4), values, count=1)
        weights.write_text(before + symbol + flipped)
    sources = [MAIN, *(folder / path for path in sources_of(made.emitted))]
    flags = ["-I", str(MARKED.parent), "-I", str(SIM_STEP.parent), "-include", MARKED.name, "-Wno-unused-function"]
    defines = [] if core.startswith("rv") else [f"UART={CORES[core][0]}"]
    return made, build_image(
        made.target, sources, [folder], folder / "image", flags=flags, defines=defines, simulated=False
    )


@contextmanager
def board(made: Artifact, image: Image) -> Iterator[str]:
    """The path of the emulated board's serial line; time passes with the instructions, which the plugin counts.

    Its counts are written into `counts.txt` beside the image, when the emulator ends.
    """
    machine, shift = image.emulator, 10 if CORES[made.target.core][1] else 0
    cpu = ["-cpu", machine.cpu] if machine.cpu else []
    command = [machine.system, "-machine", machine.machine, *cpu, *isa.load(made.target.isa).machine_flags]
    command += ["-display", "none", "-monitor", "none", "-icount", f"shift={shift},sleep=off", "-serial", "pty"]
    command += qemu.plugin_options(image, made.target, image.elf.parent)
    emulator = subprocess.Popen([*command, "-kernel", str(image.elf)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        assert emulator.stdout is not None
        yield re.findall(r"/dev/pts/\d+", emulator.stdout.readline().decode())[0]
    finally:
        emulator.terminate()
        emulator.wait()


def logged(port: str) -> str:
    """The log that the board prints on request."""
    file, text, end = os.open(port, os.O_RDWR | os.O_NOCTTY), "", time.monotonic() + 20
    try:
        while not re.search(r"mcugen-profile end \d+\s", text) and time.monotonic() < end:
            if not text:
                os.write(file, b"L")
            ready, _, _ = select.select([file], [], [], 0.3)
            text += os.read(file, 4096).decode(errors="replace") if ready else ""
        return text
    finally:
        os.close(file)


def disturb(port: str) -> None:
    """Noise that looks like a request of 4 GB, which no board may wait for, and a request that Ctrl-C cut off."""
    file = os.open(port, os.O_RDWR | os.O_NOCTTY)
    os.write(file, b"\xa5W\xff\xff\xff\xff" + b"\xa5R" + struct.pack("<I", 64) + b"\xa5" * 20)
    time.sleep(0.2)
    os.close(file)


def command(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0), capsys.readouterr().out


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "core" in metafunc.fixturenames:
        metafunc.parametrize("core", CORES if metafunc.config.getoption("--whole") else OFTEN)


@pytest.mark.sampled(2)
def test_a_board_is_measured_and_validated(core: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, image = firmware(core, tmp_path / "out")
    with board(made, image) as port:
        (tmp_path / "log").write_text("something else\n" + logged(port))
        code, text = command(capsys, "validate", DIGITS, "--board", core, "--port", port, "--cases", "3")
    assert code == 0 and "OK" in text and "constants as in the build" in text
    code, text = command(capsys, "profile", tmp_path / "log", "--build", tmp_path / "out", "--json")
    measured = [layer["measured"] for layer in json.loads(text)["layers"]]
    hz = CORES[core][1]
    logs = [cycles * (1e9 / hz / NS_PER_INSTRUCTION if hz else 1) for cycles in measured]
    runs = [counts.instructions for counts in count.read_counts(image.elf.parent / "counts.txt")]
    assert len(runs) == 2
    counted = [sum(run[k] for run in runs) / 2 for k in range(len(logs))]
    # Both count equal instructions in equal runs; SysTick's ticks are fractions of one.
    assert all(abs(a - b) < 0.5 for a, b in zip(logs, counted, strict=True)), (logs, counted)
    simulated = emulated.simulate(made, [Case("zeros", [np.zeros((1, 8, 8, 1), np.int8)])])
    marks = [int(n) / 2 for n in re.findall(r"(?m)^step \d+ \d+ (\d+) ", (tmp_path / "log").read_text())]
    # Without marks, the compiler keeps other values in registers where the layers begin.
    for log, step, n in zip(logs, simulated.steps, marks, strict=True):
        assert abs(log - step.instructions) <= 3 * n, (step, log)


def test_a_changed_weight_on_the_board_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, image = firmware("cortex-m4", tmp_path / "out", flip=True)
    with board(made, image) as port:
        logged(port)
        disturb(port)
        code, text = command(capsys, "validate", DIGITS, "--board", "cortex-m4", "--port", port, "--timeout", "3")
    assert code == 1 and "DIFFERENT" in text and "constant changed: digits_k0" in text


def test_a_file_is_no_port(tmp_path: Path) -> None:
    """A file given as a port keeps its contents."""
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")
    with pytest.raises(mcugen.UsageError, match="is a file"):
        serial.SerialLine(str(mine), 115200, 1.0)
    assert mine.read_text() == "mine"


def answer_of(letter: bytes, payload: bytes, asked: bytes = b"") -> bytes:
    """The firmware's answer. asked: the request without its first byte and its checksum, by default without bytes."""
    crc = struct.pack("<I", zlib.crc32(asked or letter + bytes(4)))
    body = letter + struct.pack("<I", len(payload) + 4) + crc + payload
    return b"\x5a" + body + struct.pack("<I", zlib.crc32(body))


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_what_the_line_loses_is_asked_for_again(lost: int) -> None:
    """A request without an answer, an answer with another bit: twice, and then the last fault is named."""
    host, device = os.openpty()
    tty.setraw(device)
    right = answer_of(b"I", b"kws 1")
    faults = [b"", right[:-1] + bytes([right[-1] ^ 1]), right[:8]][:lost]
    asked: list[bytes] = []

    def firmware() -> None:
        for answer in [*faults, right][:3]:
            asked.append(os.read(host, 64))
            os.write(host, answer)

    thread = threading.Thread(target=firmware)
    thread.start()
    with serial.SerialLine(os.ttyname(device), 115200, 0.2) as line:
        if lost < 3:
            assert line.ask("I") == b"kws 1"
        else:
            with pytest.raises(mcugen.ToolError, match=r"no answer within 0\.2 s"):
                line.ask("I")
    thread.join()
    os.close(host)
    os.close(device)
    assert len(asked) == min(lost + 1, 3) and len(set(asked)) == 1


def test_a_late_answer_is_not_taken_for_that_of_the_next_request() -> None:
    """A board that takes longer than the timeout, and answers what was asked twice twice."""
    host, device = os.openpty()
    tty.setraw(device)
    first, second = (b"R" + struct.pack("<I", 1) + bytes([k]) for k in (1, 2))

    def firmware() -> None:
        heard = b""
        while len(heard) < 2 * (1 + len(first) + 4):
            heard += os.read(host, 64)
        os.write(host, answer_of(b"R", b"one", first) * 2)
        os.read(host, 64)
        os.write(host, answer_of(b"R", b"two", second))

    thread = threading.Thread(target=firmware)
    thread.start()
    with serial.SerialLine(os.ttyname(device), 115200, 0.2) as line:
        assert [line.ask("R", b"\1"), line.ask("R", b"\2")] == [b"one", b"two"]
    thread.join()
    os.close(host)
    os.close(device)


def test_a_board_that_is_gone_is_no_defect() -> None:
    host, device = os.openpty()
    tty.setraw(device)
    with serial.SerialLine(os.ttyname(device), 115200, 5.0) as line:
        os.close(device)
        os.close(host)
        with pytest.raises(mcugen.ToolError, match="the serial line failed"):
            line.ask("I")


def test_a_board_that_takes_nothing_holds_nobody_up() -> None:
    host, device = os.openpty()
    tty.setraw(device)
    with (
        serial.SerialLine(os.ttyname(device), 115200, 0.1) as line,
        pytest.raises(mcugen.ToolError, match="the board accepted no byte"),
    ):
        line.ask("R", bytes(1 << 20))
    os.close(host)
    os.close(device)
