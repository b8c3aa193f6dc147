# SPDX-License-Identifier: Apache-2.0
"""Constants in fast RAM and in further flash: the right ones go there, and the firmware computes the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.emit.check_c import CHECK_FLAGS, INTEGER_HEADERS, check_files
from mcugen.emit.constant_placement import placed
from mcugen.emit.model_parts import ArrayView
from mcugen.emit.stub_headers import stubs
from mcugen.machines.toolchain.process import run_checked
from mcugen.pipeline import Artifact
from mcugen.solve.plan import Region
from mcugen.solve.weights import ALL_WITH_CODE, WeightRegions
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from tests.emit.built import ROOT, WARNINGS, Built

DIGITS = ROOT / "examples/digits/digits.tflite"


def arrays(*sizes: int) -> list[ArrayView]:
    return [ArrayView(f"k{i}", "int8_t", size, size, "", np.zeros(size, np.int8)) for i, size in enumerate(sizes)]


READS = {"k0": 1000, "k1": 100, "k2": 4000, "k3": 40}
"""Reads of constants with sizes 100, 100, 100, 20: 10, 1, 40 and 2 reads per byte."""


def regions(weight_regions: WeightRegions) -> list[str]:
    return [a.region for a in placed(arrays(100, 100, 100, 20), READS, weight_regions)]


def test_all_stay_with_the_code_by_default() -> None:
    assert regions(ALL_WITH_CODE) == ["", "", "", ""]
    assert mcugen.compile(DIGITS).view.weight_places == []


def test_most_reads_per_byte_go_to_ram() -> None:
    assert regions(WeightRegions(fast=(Region("dtcm", 100),))) == ["", "", "dtcm", ""]
    assert regions(WeightRegions(fast=(Region("dtcm", 130),))) == ["", "", "dtcm", "dtcm"]
    assert regions(WeightRegions(fast=(Region("dtcm", 100), Region("sram", 120)))) == ["sram", "", "dtcm", "sram"]


def test_fewest_reads_per_byte_leave_a_full_flash() -> None:
    qspi = (Region("qspi", 1000),)
    assert regions(WeightRegions(slow=qspi, code_bytes=320)) == ["", "", "", ""]
    assert regions(WeightRegions(slow=qspi, code_bytes=319)) == ["", "qspi", "", ""]
    assert regions(WeightRegions(slow=qspi, code_bytes=210)) == ["", "qspi", "", "qspi"]
    assert regions(WeightRegions(slow=(Region("qspi", 50),), code_bytes=0)) == ["", "", "", "qspi"]


def test_the_images_of_those_in_ram_take_flash_too() -> None:
    weight_regions = WeightRegions(fast=(Region("dtcm", 100),), slow=(Region("qspi", 1000),), code_bytes=220)
    assert regions(weight_regions) == ["", "qspi", "dtcm", ""]


def held(artifact: Artifact) -> dict[str, int]:
    return {facts.name: facts.used_bytes for facts in artifact.report.weights}


def test_the_report_says_what_is_where_and_why() -> None:
    artifact = mcugen.compile(DIGITS, board="stm32f746-disco", weights_in="flash=2K,qspi,sram=1K")
    assert set(held(artifact)) == {"", "qspi", "sram"}
    assert sum(held(artifact).values()) == artifact.report.weights_bytes
    by_name = {facts.name: facts for facts in artifact.report.weights}
    ram, cold = by_name["sram"], by_name["qspi"]
    assert ram.accesses / ram.used_bytes > cold.accesses / cold.used_bytes
    text = mcugen.report.as_text(artifact.report)
    assert "most reads per byte; copied at start-up" in text
    assert "constants in 3 memories" in text
    assert "--weights-in flash=2K,qspi,sram=1K" in artifact.view.command


@pytest.mark.parametrize("amalgamate", [False, True])
def test_c_is_clean_and_the_user_may_place_them(tmp_path: Path, amalgamate: bool) -> None:
    artifact = mcugen.compile(DIGITS, board="cortex-m7", weights_in="dtcm=600", amalgamate=amalgamate)
    artifact.write(tmp_path / "out")
    built = Built(tmp_path / "out", artifact)
    source = "digits.c" if amalgamate else "digits_weights.c"
    built.gcc("-std=c99", "-O2", *WARNINGS, "-c", source, "-o", tmp_path / "o.o")
    listed = run_checked(["objdump", "-h", tmp_path / "o.o"]).stdout.decode()
    assert ".mcugen.dtcm" in listed
    built.gcc("-std=c99", "-DDIGITS_IN_DTCM=", "-c", source, "-o", tmp_path / "plain.o")
    assert ".mcugen" not in run_checked(["objdump", "-h", tmp_path / "plain.o"]).stdout.decode()
    if amalgamate:
        unit = run_checked(["gcc", *CHECK_FLAGS, f"-I{stubs()}", f"-I{built.folder}", built.folder / source])
        found = check_files({source: unit.stdout.decode()}, allowed_headers=INTEGER_HEADERS | {"digits.h"})
        assert found == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "choices",
    [
        {"board": "nucleo-h743zi", "weights_in": "dtcm=1K,axi_sram=600"},
        {"board": "stm32f746-disco", "weights_in": "flash=2K,qspi,sram=1K"},
        {"board": "rv32imc", "region": "near=1200,far=1700", "weights_in": "near=1K,fast=600"},
    ],
    ids=lambda c: c["board"],
)
def test_firmware_finds_its_constants(choices: dict[str, Any]) -> None:
    artifact = mcugen.compile(DIGITS, **choices)
    assert len(artifact.view.weight_places) >= 1
    result = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    assert result.agrees
    assert result.repeatable
    assert result.rodata_bytes >= artifact.report.weights_bytes
