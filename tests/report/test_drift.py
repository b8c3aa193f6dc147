# SPDX-License-Identifier: Apache-2.0
"""Counters of classes and saturated inputs, counted by emitted C and read from its log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.emit import sources_of
from mcugen.errors import UsageError
from mcugen.machines.toolchain.process import run_checked
from mcugen.report import drift_counters
from mcugen.system.tabular import text_of

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"
COUNT = """
#include <stdio.h>
#include "digits_drift.h"
static digits_t model;
static digits_drift_t drift;
static void put(char c) { putchar(c); }
int main(void)
{
    while (fread(digits_input(&model), DIGITS_INPUT_SIZE, 1, stdin) == 1) {
        digits_drift_inputs(&drift, &model);
        digits_run(&model);
        digits_drift_outputs(&drift, &model);
    }
    digits_drift_log(&drift, put);
    return 0;
}
"""


def test_the_counters_count(tmp_path: Path) -> None:
    made = mcugen.compile(DIGITS, export=("drift",), no_report=True)
    made.write(tmp_path)
    (tmp_path / "count.c").write_text(COUNT)
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I."]
    run_checked(["gcc", *flags, "count.c", *sources_of(made.emitted), "-lm", "-o", "count"], cwd=tmp_path)
    x = np.random.default_rng(1).integers(-128, 128, (50, 8, 8, 1)).astype(np.int8)
    found = drift_counters.parse(run_checked([tmp_path / "count"], stdin=x.tobytes()).stdout.decode(), "log")
    best = made.run(x, real=False).reshape(50, 10).argmax(axis=1)
    assert found.runs == 50 and found.classes == tuple(np.bincount(best, minlength=10) / 50)
    assert found.saturated == np.mean((x == -128) | (x == 127))


def test_two_logs_beside_each_other() -> None:
    first = drift_counters.parse("boot\nmcugen-drift 1 kws 10 4 2 5,5,0\n", "a")
    later = drift_counters.parse("mcugen-drift 1 kws 1 4 0 1,0,0\nmcugen-drift 1 kws 20 4 40 5,5,10\n", "b")
    assert drift_counters.distance(first, later) == 0.5 and later.saturated == 0.5
    assert "50.0% of the runs" in text_of(drift_counters.as_parts([first, later]))
    assert drift_counters.as_dict([first, later])["distance"] == 0.5 and "distance" not in drift_counters.as_dict(
        [first]
    )
    with pytest.raises(UsageError, match="are of kws and of"):
        drift_counters.distance(first, drift_counters.parse("mcugen-drift 1 other 1 1 1 1,0,0", "c"))
    with pytest.raises(UsageError, match="no counters"):
        drift_counters.parse("mcugen-drift 1 kws 0 4 0 0,0,0", "d")
