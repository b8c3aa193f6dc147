# SPDX-License-Identifier: Apache-2.0
"""Memories that a model may use: the board's by default, those of --region where given; misfits are reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mcugen
from mcugen.boards import target
from mcugen.emit import EXAMPLE
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve.memories import STACK_RESERVE_BYTES, regions_of, regions_text
from mcugen.solve.plan import Region
from tests.solve.test_budget import SMALL, built, chain


def regions(board: str, **choices: Any) -> tuple[Region, ...]:
    options = Options(board=board, **choices)
    return regions_of(options, target.with_regions(target.load(board), options.regions))


def test_a_board_has_its_regions_the_fastest_first_less_the_stack() -> None:
    assert regions("nucleo-h743zi") == (
        Region("dtcm", 131072 - STACK_RESERVE_BYTES),
        Region("axi_sram", 524288),
        Region("sram1", 131072),
        Region("sram2", 131072),
        Region("sram3", 32768),
        Region("sram4", 65536),
    )
    assert regions("nrf52840-dk") == (Region("sram", 262144),)
    assert regions("stm32f746-disco") == (Region("sram", 327680),)
    assert regions("cortex-m7") == (Region("ram", None),)


def test_regions_given_take_their_place() -> None:
    assert regions("nucleo-h743zi", region="axi_sram,dtcm=64K") == (Region("axi_sram", 524288), Region("dtcm", 65536))
    assert regions("cortex-m7", region="dtcm=64K,sram=256KiB") == (Region("dtcm", 65536), Region("sram", 262144))
    assert regions("stm32f746-disco", region="sram=300K,sdram") == (Region("sram", 307200), Region("sdram", 8388608))
    assert regions("nucleo-h743zi", ram="300K") == (Region("axi_sram", 307200),)
    assert regions("nucleo-h743zi", ram="64K") == (Region("dtcm", 65536),)
    assert regions("nucleo-h743zi", ram="600K") == (Region("axi_sram", 614400),)  # refused later, by its size


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"region": "dtcm=1K,dtcm=2K"}, "'dtcm' cannot name a region here"),
        ({"region": "DTCM=1K"}, "'DTCM' cannot name a region here"),
        ({"region": "input=1K"}, "'input' cannot name a region here"),
        ({"region": "a b=1K"}, "'a b' cannot name a region here"),
        ({"region": "dtcm=0"}, "--region '0' is not a size"),
        ({"region": "dtcm=1K", "ram": "1K"}, "--ram 1K contradicts --region dtcm=1K"),
    ],
)
def test_wrong_lists_are_refused(choices: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Options(**choices)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("board", "region", "message"),
    [
        ("cortex-m7", "dtcm", "--region dtcm: a size is missing"),
        ("nucleo-h743zi", "itcm", "nucleo-h743zi has no RAM region 'itcm' for a model"),
        ("nucleo-h743zi", "dtcm=1M", "dtcm of nucleo-h743zi is smaller than 1,048,576 bytes"),
        ("nucleo-h743zi", "flash", "no RAM region 'flash'"),
    ],
)
def test_regions_that_a_board_lacks_are_refused(board: str, region: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        regions(board, region=region)
    assert message in str(caught.value)


def used(artifact: Artifact) -> dict[str, int]:
    return {region.name: region.used_bytes for region in artifact.report.regions}


LARGE = chain((160, 160, 160, 80), (1, 4, 3, 2))
"""Whole it takes 179,200 bytes and a little scratch: more than the fastest region of a NUCLEO-H743ZI."""


def test_a_model_too_large_for_the_fastest_region_is_spread(tmp_path: Path) -> None:
    artifact = built(tmp_path, LARGE, board="nucleo-h743zi", optimize="speed")
    assert not artifact.schedule.interleaved
    assert set(used(artifact)) == {"dtcm", "axi_sram"}
    assert used(artifact)["dtcm"] <= 131072 - STACK_RESERVE_BYTES
    small = built(tmp_path, SMALL, board="nucleo-h743zi")
    assert set(used(small)) == {"dtcm"}
    assert f"static {small.name}_t model;" in small.files[EXAMPLE].decode()


def test_one_region_asked_for_holds_all(tmp_path: Path) -> None:
    for choices in ({"region": "axi_sram"}, {"ram": "400K"}):
        artifact = built(tmp_path, LARGE, board="nucleo-h743zi", **choices)
        assert list(used(artifact)) == ["axi_sram"]
        assert not artifact.view.spread


def test_rows_where_whole_tensors_cannot_be_spread(tmp_path: Path) -> None:
    whole = built(tmp_path, SMALL).report.ram_bytes
    artifact = built(tmp_path, SMALL, region="a=1K,b=700")
    assert whole > 1724
    assert artifact.schedule.interleaved
    assert used(artifact)["a"] <= 1024
    assert used(artifact).get("b", 0) <= 700
    (note,) = artifact.report.notes
    assert f"with whole tensors the model needs {whole:,} bytes, there are a 1,024, b 700" in note
    assert "--region a=1K,b=700" in artifact.view.command


def test_too_small_regions_say_which_and_what_would_fit(tmp_path: Path) -> None:
    least = built(tmp_path, SMALL, optimize="ram").report.ram_bytes
    with pytest.raises(MemoryBudgetError) as caught:
        built(tmp_path, SMALL, region="a=180,b=200")
    text = caught.value.explain()
    assert f"--region b: the smallest RAM found for the model is {least:,} bytes, 200 are there" in text
    assert "nor could it be spread over a 180, b 200: " in text
    assert "largest region has 200" in text or "all regions have 380" in text


def test_the_front_of_a_board_may_be_spread(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(SMALL)
    artifact = mcugen.compile(tmp_path / "m.tflite", region="a=1200,b=1600")
    assert set(used(artifact)) == {"a", "b"}
    assert not artifact.schedule.interleaved


def test_regions_in_words() -> None:
    assert regions_text([Region("dtcm", 122880), Region("axi_sram", None)]) == "dtcm 122,880, axi_sram"
