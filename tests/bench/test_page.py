# SPDX-License-Identifier: Apache-2.0
"""The page of benchmarks: what is measured, what is printed, and when a run is worse than the committed one."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from mcugen.boards import target
from tests.bench import bounds, chart, measure, page, published
from tests.bench.measure import Layer, Model, Result

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"
RESULT = Result("IC", "ic", "cortex-m4", 1000, 2000, 2400, 2600, 512, 96, 4096, 3000)
LAYER = Layer(
    "IC", "cortex-m4", 3, "Conv2D 8x8x4 to 8x8x4", "mg_conv", 10_000, 20_000, 24_000, 10_000, 0.5, "portable C"
)


def committed(*results: Result) -> dict[str, object]:
    return page.figures(page.data(results, {}))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("core", "preset"), [("cortex-m4", "ram"), ("nucleo-l4r5zi", "speed")])
def test_a_model_is_measured_exactly_and_by_layer(core: str, preset: str, tmp_path: Path) -> None:
    (tmp_path / "digits").mkdir()
    shutil.copy(DIGITS, tmp_path / "digits" / "model.tflite")
    result, layers = measure.measure(Model("digits", "digits"), core, tmp_path, preset)
    assert result.preset == preset and result.flash_bytes == result.constant_bytes + result.code_bytes
    assert 10_000 < result.instructions <= result.cycles_low <= result.cycles_high
    assert 1000 < result.code_bytes < 30_000 and result.constant_bytes > 3000
    every = ["Conv2D", "DepthwiseConv2D", "Conv2D", "FullyConnected"]
    assert [layer.what.split()[0] for layer in layers] == (every if preset == measure.GOAL else [])
    assert sum(layer.macs for layer in layers) <= result.macs
    assert all(layer.times > 1 and layer.reason for layer in layers)


def test_near_the_least_ram_is_no_more_than_that(tmp_path: Path) -> None:
    (tmp_path / "digits").mkdir()
    shutil.copy(DIGITS, tmp_path / "digits" / "model.tflite")
    least, near = (measure.measure(Model("digits", "digits"), "cortex-m4", tmp_path, p)[0] for p in ("ram", "near"))
    assert least.ram_bytes <= near.ram_bytes <= measure.NEAR_LEAST * least.ram_bytes
    assert near.instructions <= least.instructions


def test_growth_by_over_one_percent_is_worse() -> None:
    before = committed(RESULT)
    assert page.worse([RESULT], before) == []
    for key in page.CHECKED:
        value = getattr(RESULT, key)
        assert page.worse([dataclasses.replace(RESULT, **{key: value + value // 100})], before) == []
        found = page.worse([dataclasses.replace(RESULT, **{key: value + value // 100 + 5})], before)
        assert len(found) == 1 and key.replace("_", " ") in found[0] and f"{value:,} committed" in found[0]
    assert page.worse([dataclasses.replace(RESULT, model="new", instructions=10**9)], before) == []


def test_presets_are_compared_with_their_own_figures() -> None:
    flash, ram = (dataclasses.replace(RESULT, preset=preset) for preset in ("flash", "ram"))
    before = committed(RESULT, flash, ram)
    assert page.worse([RESULT, flash, ram], before) == []
    for one, change, count in (
        (ram, {"ram_bytes": 513}, 1),  # may not grow at all
        (flash, {"ram_bytes": 513}, 0),
        (flash, {"constant_bytes": 4096 + 80}, 1),  # over 1 % of constants and code
        (flash, {"constant_bytes": 4096 + 60}, 0),
        (RESULT, {"constant_bytes": 8192}, 0),
        (ram, {"instructions": 2030}, 1),
    ):
        found = page.worse([dataclasses.replace(one, **change)], before)
        assert len(found) == count and all(f"with {one.preset}" in line for line in found), change
    slower = dataclasses.replace(ram, instructions=9000)
    assert page.worse([slower], committed(RESULT, slower)) == []


def test_the_page_has_a_row_for_each_preset() -> None:
    small = dataclasses.replace(RESULT, preset="ram", ram_bytes=256, instructions=8000)
    text = page.text([RESULT, small], [LAYER], {"Another stack": {"ic": {"cortex-m4": 4000}}})
    assert "### Cortex-M4, by preset\n" in text and text.count("## Cortex-M4\n") == 1
    assert "| IC, `speed` | 2,000 | 50.0 % | 2,500 | 512 | 7,096 |" in text
    assert "| IC, `ram` | 8,000 | 200.0 % | 2,500 | 256 | 7,096 |" in text
    assert "## Presets" not in page.text([RESULT], [LAYER], {})


def test_the_page_has_the_committed_figures() -> None:
    """docs/benchmarks.md is made of them, and stays short: every preset of some models and cores alone."""
    before = page.figures(chart.FIGURES.read_text("utf-8"))
    results = page.results_of(before)
    made = (chart.ROOT / "docs/benchmarks.md").read_text("utf-8")
    assert made == page.text(page.shown(results), (), before["baselines"])
    assert len(results) == len(page.TITLES) * len(measure.MODELS) * len(measure.PRESETS) and len(made) <= 25_000
    assert page.figures(page.data(results, before["baselines"])) == before and page.worse(results, before) == []


def test_the_page_has_a_table_for_each_core_with_ratios() -> None:
    other = dataclasses.replace(RESULT, core="cortex-m55", instructions=500)
    text = page.text([RESULT, other], [LAYER], {"Another stack": {"ic": {"cortex-m4": 4000}}})
    assert "## Cortex-M4\n" in text and "## Cortex-M55\n" in text and "A: Another stack" in text
    row = next(line for line in text.splitlines() if line.startswith("| IC | 1,000 | 2,000"))
    assert row == "| IC | 1,000 | 2,000 | 50.0 % | 2,400 to 2,600 | 2.50 | 512 | 96 | 4,096 | 3,000 |"
    assert "| IC | 1,000 | 500 |  | 2,400" in text


def test_a_board_is_compared_with_the_best_published() -> None:
    """KWS on the L4R5: 43.187 ms at 120 MHz are 5.182 million cycles; half of them are 50 %."""
    board = dataclasses.replace(RESULT, model="KWS", folder="mlperf_kws_int8", core="nucleo-l4r5zi", copied_bytes=777)
    board = dataclasses.replace(board, cycles_high=5_182_440 // 2)
    frame = dataclasses.replace(board, model="SWW, a frame")
    text = page.text([RESULT, board, frame], [LAYER], {})
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| model |", "| KWS |", "| SWW, a"))]
    bare, header, compared, alone = rows
    at, copied = header.index("of best published"), header.index("copied")
    assert compared[at] == "50.0 %" and alone[at] == "" and compared[copied] == "777"
    assert "of best published" not in bare and "copied" not in bare
    assert "KWS 43.187 ms, 5.182 million cycles (STMicroelectronics, X-CUBE-AI 9.0.0, v1.2)" in text


def test_published_figures_are_of_boards_of_the_page_and_of_its_models() -> None:
    folders = {model.folder for model in measure.MODELS}
    for board, found in published.BEST.items():
        assert board in page.TITLES and not target.load(board).is_core and set(found) <= folders
        assert {best.mhz * 1_000_000 for best in found.values()} == {target.load(board).clock_hz}
        assert target.load(board).flash_regions()[0].has_waits


def test_the_ten_layers_furthest_from_their_bound_are_listed_once() -> None:
    many = [dataclasses.replace(LAYER, what=f"layer {k}", cycles_high=24_000 + 1000 * k) for k in range(15)]
    small = dataclasses.replace(LAYER, what="small", macs=100, cycles_high=10**9)
    rare = dataclasses.replace(LAYER, what="rare", share=0.001, cycles_high=10**9)
    text = page.text([RESULT], [*many, many[14], small, rare], {})
    rows = [line for line in text.splitlines() if line.startswith("| Cortex-M4 | IC, 3")]
    assert len(rows) == page.WORST and "layer 14" in rows[0] and "| 2.90 | 1.00 | 2.9 |" in rows[0]
    assert "small" not in text and "rare" not in text


def test_a_baseline_file_gives_title_and_instructions() -> None:
    data = {"source": "A stack 1.0; measured so", "models": {"ic": {"instructions": {"cortex-m4": 5}, "arena": 1}}}
    assert page.baseline_of(data) == ("A stack 1.0", {"ic": {"cortex-m4": 5}})


def test_every_core_on_the_page_has_bounds_and_a_model() -> None:
    for name in page.TITLES:
        board = target.load(name)
        assert set(bounds.BOUNDS[board.core]) == {bounds.DENSE, bounds.FULL, bounds.DEPTHWISE, bounds.FLOAT}
        assert board.emulators


def test_the_head_of_the_readme_has_the_figures() -> None:
    text = chart.README.read_text("utf-8")
    assert text == chart.readme(text), "python -m tests.bench.chart"
    assert chart.PICTURE.read_bytes() == chart.picture()
    assert len(chart.rows()) == 5 and all(0 < own < other for _, own, other, _ in chart.rows())
