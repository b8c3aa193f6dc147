# SPDX-License-Identifier: Apache-2.0
"""Waits for the flash: lines read are counted, and the most that the core waits for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcugen.boards import target
from mcugen.machines.toolchain import cross, qemu
from mcugen.machines.toolchain.count import Fetches

WORDS = 4096
PASSES = 6
SOURCE = """
#include "semihost.h"
#include "sim_step.h"
const unsigned table[{words}] = {{1u}};
volatile unsigned total;
int main(void)
{{
    SIM_BEGIN();
    MCUGEN_STEP(0);
    for (unsigned pass = 0u; pass < {passes}u; pass += 1u) {{
        for (unsigned k = 0u; k < {words}u; k += 1u) {{
            total += *(const volatile unsigned *)&table[k];
        }}
    }}
    SIM_END();
    return 0;
}}
"""


STRAIGHT = """
#include "semihost.h"
#include "sim_step.h"
const unsigned table[512] = {{1u}};
int main(void)
{{
    const unsigned *at = table;
    SIM_BEGIN();
    MCUGEN_STEP(0);
    __asm__ volatile(".balign 32\\n.rept {times}\\n{body}\\n.endr" : "+r"(at) : : "r4", "memory");
    SIM_END();
    return 0;
}}
"""
LOOP = SOURCE.format(words=WORDS, passes=PASSES)
SLACK = 12
"""Lines and instructions that a step has beside what is measured."""


def counted(folder: Path, line: int, code: int, data: int, *, text: str = LOOP, **more: Any) -> Fetches:
    """Lines that a program reads on a board with flash lines and caches of these sizes."""
    board = target.load("nucleo-l4r5zi")
    flash = replace(board.flash_regions()[0], line_bytes=line, code_cache_bytes=code, data_cache_bytes=data, **more)
    board = replace(board, regions=(flash, *board.ram_regions()))
    main = folder / "main.c"
    main.write_text(text, encoding="ascii")
    image = cross.build_image(board, [main], [], folder)
    return qemu.run_image(image, board, cwd=folder).counts[0].fetches[0]


def straight(folder: Path, times: int, body: str, line: int, waits: int, *, prefetch: bool) -> Fetches:
    """Lines that code without a branch reads where no cache keeps any."""
    text = STRAIGHT.format(times=times, body=body)
    return counted(folder, line, 0, 0, text=text, wait_states=waits, prefetch=prefetch)


@pytest.mark.parametrize("line", [8, 16, 32])
def test_each_pass_reads_each_line_of_a_table_larger_than_the_cache(line: int, tmp_path: Path) -> None:
    found = counted(tmp_path, line, 1024, 256)
    assert abs(found.data_lines - PASSES * WORDS * 4 // line) <= PASSES + 4
    assert 1 <= found.code_lines <= 64 // line + 4


def test_a_cache_that_holds_the_table_reads_it_once(tmp_path: Path) -> None:
    assert abs(counted(tmp_path, 16, 1024, 65536).data_lines - WORDS * 4 // 16) <= 4


def test_code_without_a_cache_is_read_each_time_around(tmp_path: Path) -> None:
    assert WORDS * PASSES <= counted(tmp_path, 8, 0, 256).code_lines <= 4 * WORDS * PASSES


@pytest.mark.parametrize("waits", [1, 5])
def test_every_line_waits_in_full_where_nothing_is_read_ahead(waits: int, tmp_path: Path) -> None:
    found = counted(tmp_path, 8, 0, 256, wait_states=waits, prefetch=False)
    assert found.waits == waits * (found.code_lines + found.data_lines)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("line", "waits", "body", "each"),
    [
        (16, 3, "nop.w", 0),  # RM0090, figure 5: four instructions of 32 bits hide three wait states
        (16, 5, "nop.w", 2),
        (16, 5, "nop", 0),
        (8, 5, "nop.w", 4),
        (8, 5, "nop", 2),
        (8, 1, "nop.w", 0),
    ],
)
def test_a_line_read_ahead_waits_for_what_its_predecessor_does_not_hide(
    line: int, waits: int, body: str, each: int, tmp_path: Path
) -> None:
    lines = 200
    times = lines * line // (4 if body == "nop.w" else 2)
    hidden = times // lines
    found = straight(tmp_path, times, body, line, waits, prefetch=True)
    assert lines <= found.code_lines <= lines + SLACK
    assert 0 <= found.waits - each * lines <= SLACK * waits
    for states, held_up in enumerate(found.by_states):
        assert 0 <= held_up - max(0, states + 1 - hidden) * lines <= SLACK * max(states, 1), states
    assert len(found.by_states) == 16 and found.by_states[waits] == found.waits
    without = straight(tmp_path, times, body, line, waits, prefetch=False)
    assert without.waits == waits * (without.code_lines + without.data_lines) > found.waits


def test_data_waits_for_code_that_is_being_read_ahead(tmp_path: Path) -> None:
    """The flash reads one line at a time, whoever asks: 8 bytes of code and 8 of data for each pair of instructions."""
    times, waits = 200, 5
    found = straight(tmp_path, times, "ldr.w r4, [%0], #8; nop.w", 8, waits, prefetch=True)
    assert times <= found.data_lines <= times + SLACK
    busy = (waits + 1) * (found.code_lines + found.data_lines)
    assert busy - 2 * (times + SLACK) <= found.waits <= busy
    assert found.waits > waits * found.data_lines + (waits - 2) * found.code_lines


def test_a_jump_waits_in_full_for_what_was_not_read_ahead(tmp_path: Path) -> None:
    """The wait includes the useless prefetch, as no document states that one is aborted."""
    times, waits = 100, 5
    found = straight(tmp_path, times, "b.w 1f; .space 36; 1:", 8, waits, prefetch=True)
    assert times <= found.code_lines <= times + SLACK
    assert waits * times < found.waits <= (2 * waits + 1) * (times + SLACK)


def test_a_bare_core_has_no_waits(tmp_path: Path) -> None:
    board = target.load("cortex-m4")
    main = tmp_path / "main.c"
    main.write_text(LOOP, encoding="ascii")
    image = cross.build_image(board, [main], [], tmp_path)
    assert qemu.run_image(image, board, cwd=tmp_path).counts[0].fetches == {}
