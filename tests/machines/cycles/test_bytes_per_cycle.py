# SPDX-License-Identifier: Apache-2.0
"""Memories that give so many bytes a cycle: what reads of them hold up, and what no estimate goes below."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import mcugen
from mcugen.boards import target
from mcugen.boards.machine import Estimation
from mcugen.machines.toolchain import cross, qemu
from mcugen.system import resources
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from tests.machines.cycles.test_flash import LOOP, PASSES, WORDS, counted

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits.tflite"
IN_RAM = LOOP.replace("const unsigned table", "unsigned table").replace("{1u}", "{0u}")


@pytest.mark.parametrize(("rate", "waits"), [(8.0, 0), (1.6, 0), (4.0, 3)])
def test_a_line_takes_its_wait_states_and_comes_at_the_rate(rate: float, waits: int, tmp_path: Path) -> None:
    found = counted(tmp_path, 32, 0, 1024, wait_states=waits, bytes_per_cycle=rate, prefetch=False)
    assert abs(found.data_lines - PASSES * WORDS * 4 // 32) <= PASSES + 4
    assert found.waits == (waits + round(32 / rate) - 1) * (found.code_lines + found.data_lines)
    first = WORDS * 4 // 32  # each line once, however often the table is read
    assert abs(found.streamed - first * (waits + round(32 / rate))) <= 4 * (waits + 32 / rate)


def test_what_a_cache_may_keep_need_not_come(tmp_path: Path) -> None:
    """A chip runs more than one inference; the first may find the constants where the last left them."""
    found = counted(tmp_path, 32, 1024, 65536, wait_states=0, bytes_per_cycle=1.0, prefetch=False)
    assert found.streamed == 0 and found.waits == 31 * (found.code_lines + found.data_lines)


def test_data_in_slow_ram_waits_where_the_flash_is_fast(tmp_path: Path) -> None:
    board = target.load("nucleo-l4r5zi")
    flash, ram = board.flash_regions()[0], board.ram_regions()[0]
    slow = replace(ram, line_bytes=16, bytes_per_cycle=4.0, data_cache_bytes=256)
    board = replace(board, regions=(replace(flash, line_bytes=0), slow))
    (tmp_path / "main.c").write_text(IN_RAM, encoding="ascii")
    image = cross.build_image(board, [tmp_path / "main.c"], [], tmp_path)
    found = qemu.run_image(image, board, cwd=tmp_path).counts[0].fetches[0]
    assert abs(found.data_lines - PASSES * WORDS * 4 // 16) <= PASSES * WORDS // 4 * 0.02
    assert found.code_lines == found.streamed == 0
    assert found.waits == 3 * found.data_lines


def test_an_estimate_is_no_narrower_than_it_was_off() -> None:
    known = Estimation("a chip", 0.77, 1.05)
    assert known.ends(900, 1000) == (770, 1050)
    assert known.ends(500, 1000) == (500, 1050)
    assert Estimation().ends(900, 1000) == (900, 1000)


def board(folder: Path, keys: str) -> Path:
    """A copy of the template whose flash has these keys in place of its wait states."""
    made = folder / "board"
    shutil.copytree(resources.boards() / "_template", made)
    file = made / "board.toml"
    text = file.read_text("utf-8")
    assert "wait_states = 3 " in text
    file.write_text(text.replace("wait_states = 3 ", f"{keys}\n# "), "utf-8")
    return made


@pytest.mark.whole
def test_build_and_simulation_count_what_constants_take_to_come(tmp_path: Path) -> None:
    (tmp_path / "slow").mkdir()
    path = board(tmp_path / "slow", "line_bytes = 32\nbytes_per_cycle = 0.03125\ndata_cache_bytes = 64")
    slow, fast = (mcugen.compile(DIGITS, board=name, name="model") for name in (str(path), "cortex-m4"))
    assert slow.report.waits and not fast.report.waits
    assert slow.report.cycles is not None and fast.report.cycles is not None
    least = slow.report.weights_bytes / 0.03125
    assert slow.report.cycles.low > 0.8 * least > fast.report.cycles.high
    assert slow.report.cycles.high > fast.report.cycles.high + 0.8 * least
    ran = emulated.simulate(slow, list(cases(slow.imported, 1))[:1])
    assert ran.agrees and ran.cycles is not None and ran.wait_states is None
    assert 0.8 * least < ran.cycles.low < ran.cycles.high
    assert any("0.03125 bytes a cycle for each 32 bytes read from flash" in note for note in ran.notes)


def test_the_report_says_what_estimates_were_checked_against() -> None:
    found = mcugen.compile(DIGITS, board="nucleo-l4r5zi", name="model").report
    assert "L4R5ZI" in found.checked and found.cycles is not None
    assert found.cycles.low <= 0.9 * found.cycles.high
    assert "nRF5340" in target.load("nrf5340-dk").estimation.checked
    assert target.load("cortex-m0plus").estimation.checked == ""
