# SPDX-License-Identifier: Apache-2.0
"""Families are found and ranked; one from outside, with a core that has a feature of its own, needs no edit."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.errors import UsageError
from mcugen.ops.conv2d import Conv2D
from tests.support.plugin import install, run

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.tflite"
FAMILY = '''
"""Kernels for cores with the turbo feature."""
from dataclasses import replace
from mcugen.ext import Family
from mcugen.ops.max_pool_2d import MaxPool2D

portable = next(k for k in MaxPool2D.kernels if k.symbol == "mg_max_pool_2d_s8")
turbo = replace(portable, symbol="mg_turbo_max_s8", needs=frozenset({"turbo"}))
FAMILY = Family(rank=5, needs=frozenset({"turbo"}), serves={MaxPool2D: (turbo,)})
'''
HEADER = """
#ifndef TURBO_MAX_S8_H
#define TURBO_MAX_S8_H
#include "mcugen/max_pool_2d_s8.h"
typedef mg_max_pool_2d_s8_params mg_turbo_max_s8_params;
void mg_turbo_max_s8(const mg_turbo_max_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);
#endif
"""
SOURCE = """
#include "mcugen/turbo_max_s8.h"

static int32_t largest(const mg_turbo_max_s8_params *p, const int8_t *const *rows,
                       int32_t top, int32_t left, uint32_t c)
{
    int32_t found = -128;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int32_t row = top + (int32_t)i, column = left + (int32_t)j;
            if (row >= 0 && row < (int32_t)p->in_h && column >= 0 && column < (int32_t)p->in_w) {
                const int32_t x = rows[i][(uint32_t)column * p->channels + c];
                found = x > found ? x : found;
            }
        }
    }
    return found;
}

void mg_turbo_max_s8(const mg_turbo_max_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const int32_t top = (int32_t)(y * p->stride_h) - (int32_t)p->pad_h;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const int32_t left = (int32_t)(x * p->stride_w) - (int32_t)p->pad_w;
        for (uint32_t c = 0u; c < p->channels; c += 1u) {
            const int32_t found = largest(p, rows, top, left, c);
            out[x * p->channels + c] = (int8_t)mg_clamp(found, p->out_min, p->out_max);
        }
    }
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the family installed, and boards/turbo: a Cortex-M4 with its feature."""
    folder = tmp_path_factory.mktemp("site")
    files = {"__init__.py": FAMILY, "turbo_max_s8.h": HEADER, "turbo_max_s8.c": SOURCE}
    install(folder, "turbo_kernels", kernels.GROUP, "turbo", **files)
    board = folder / "boards/turbo/board.toml"
    board.parent.mkdir(parents=True)
    text = (ROOT / "boards/cortex-m4/board.toml").read_text(encoding="utf-8")
    board.write_text(text.replace('"fpu", "multiple_loads"]', '"fpu", "multiple_loads", "turbo"]'))
    return folder


def shown(done: subprocess.CompletedProcess[str]) -> dict[str, list[dict[str, object]]]:
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return found


@pytest.mark.whole
def test_a_family_from_outside_is_chosen_run_and_exact(site: Path, tmp_path: Path) -> None:
    board = site / "boards/turbo/board.toml"
    built = shown(run(site, "build", DIGITS, "-o", tmp_path / "out", "--board", board, "--json"))
    assert "mg_turbo_max_s8" in {step["kernel"] for step in built["steps"]}
    (source,) = (tmp_path / "out/kernels").glob("turbo_max_s8_*.c")
    assert re.sub("_[0-9a-f]{6}", "", source.read_text()) == SOURCE
    assert "mg_turbo_max_s8" in {step["kernel"] for step in simulated(site, board)}
    assert run(site, "verify", DIGITS, "--board", board).returncode == 0


def simulated(site: Path, board: Path) -> list[dict[str, object]]:
    """The steps of a run on the emulated core, which must have the right bits."""
    found = shown(run(site, "simulate", DIGITS, "--board", board, "--json"))
    assert found["exact"] is True
    return found["steps"]


@pytest.mark.whole
def test_a_family_from_outside_serves_no_core_without_its_feature(site: Path, tmp_path: Path) -> None:
    for board in (["cortex-m4"], [site / "boards/turbo", "--features=-turbo"]):
        built = shown(run(site, "build", DIGITS, "-o", tmp_path / "out", "--json", "--board", *board))
        assert "mg_max_pool_2d_s8" in {step["kernel"] for step in built["steps"]}


def test_a_family_from_outside_is_listed(site: Path) -> None:
    assert "mg_turbo_max_s8" in run(site, "ops").stdout


def test_a_feature_that_no_family_needs_is_refused(site: Path) -> None:
    with pytest.raises(UsageError, match="turbo"):
        target.load(str(site / "boards/turbo"))


def test_a_package_that_is_no_family_is_refused(tmp_path: Path) -> None:
    install(tmp_path, "empty_kernels", kernels.GROUP, "empty")
    done = run(tmp_path, "ops")
    assert done.returncode == 2
    assert "empty_kernels" in done.stderr and "FAMILY" in done.stderr


def test_a_kernel_that_needs_more_than_its_family_states_is_refused(tmp_path: Path) -> None:
    text = FAMILY.replace('Family(rank=5, needs=frozenset({"turbo"})', "Family(rank=5, needs=frozenset()")
    install(tmp_path, "vague_kernels", kernels.GROUP, "vague", **{"__init__.py": text})
    done = run(tmp_path, "ops")
    assert done.returncode == 2
    assert "mg_turbo_max_s8" in done.stderr and "turbo" in done.stderr


def test_kernels_stand_by_rank_and_portable_ones_last() -> None:
    ranks = [family.rank for family in kernels.families().values()]
    assert ranks == sorted(ranks) and len(set(ranks)) == len(ranks)
    found = kernels.of(Conv2D)
    assert found[-len(Conv2D.kernels) :] == Conv2D.kernels
    assert [k for family in kernels.families().values() for k in family.serves.get(Conv2D, ())] == list(
        found[: -len(Conv2D.kernels)]
    )
