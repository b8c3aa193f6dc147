# SPDX-License-Identifier: Apache-2.0
"""Waits for the flash: lines read are counted, and only the slow end of the estimate has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mcugen import target
from mcugen.toolchain import cross, qemu
from mcugen.toolchain.count import Counts

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


def counted(folder: Path, line: int, code: int, data: int) -> Counts:
    """What the loop over a table in flash takes, on a board whose flash reads lines of that size into such caches."""
    board = target.load("nucleo-l4r5zi")
    flash = replace(board.flash_regions()[0], line_bytes=line, code_cache_bytes=code, data_cache_bytes=data)
    board = replace(board, regions=(flash, *board.ram_regions()))
    main = folder / "main.c"
    main.write_text(SOURCE.format(words=WORDS, passes=PASSES), encoding="ascii")
    image = cross.build_image(board, [main], [], folder)
    return qemu.run_image(image, board, cwd=folder).counts[0]


@pytest.mark.parametrize("line", [8, 16, 32])
def test_each_pass_reads_each_line_of_a_table_larger_than_the_cache(line: int, tmp_path: Path) -> None:
    code, data = counted(tmp_path, line, 1024, 256).fetches[0]
    assert abs(data - PASSES * WORDS * 4 // line) <= PASSES + 4
    assert 1 <= code <= 64 // line + 4


def test_a_cache_that_holds_the_table_reads_it_once(tmp_path: Path) -> None:
    _, data = counted(tmp_path, 16, 1024, 65536).fetches[0]
    assert abs(data - WORDS * 4 // 16) <= 4


def test_code_without_a_cache_is_read_each_time_around(tmp_path: Path) -> None:
    found = counted(tmp_path, 8, 0, 256)
    assert WORDS * PASSES <= found.fetches[0][0] <= 4 * WORDS * PASSES


def test_a_bare_core_has_no_waits(tmp_path: Path) -> None:
    board = target.load("cortex-m4")
    main = tmp_path / "main.c"
    main.write_text(SOURCE.format(words=WORDS, passes=PASSES), encoding="ascii")
    image = cross.build_image(board, [main], [], tmp_path)
    assert qemu.run_image(image, board, cwd=tmp_path).counts[0].fetches == {}
