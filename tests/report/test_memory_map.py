# SPDX-License-Identifier: Apache-2.0
"""The picture of the memory map: well formed, complete, small, the same every time, and safe from names in models."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import pipeline, solve
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.report import memory_map, svg
from mcugen.report.pages.memory_svg import FILE as MEMORY_MAP
from mcugen.solve import schedule
from mcugen.solve.plan import Buffer, MemoryPlan, lower_bound
from mcugen.solve.schedule import Event
from tests.formats.small_models import image_net
from tests.support.tflite_writer import ModelWriter

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"
SVG = "{http://www.w3.org/2000/svg}"
MAX_BYTES = 300_000


def built(folder: Path, data: bytes, **choices: Any) -> Artifact:
    (folder / "m.tflite").write_bytes(data)
    return mcugen.compile(folder / "m.tflite", **choices)


def tree(artifact: Artifact) -> ElementTree.Element:
    return ElementTree.fromstring(artifact.files[MEMORY_MAP])


def blocks(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [e for e in root.iter(f"{SVG}path") if e.get("class", "").startswith("block ")]


@pytest.mark.parametrize("choices", [{}, {"optimize": "ram"}, {"optimize": "ram", "input_mode": "rows"}])
def test_every_buffer_is_drawn_with_its_bytes_and_life(choices: dict[str, Any]) -> None:
    artifact = mcugen.compile(DIGITS, **choices)
    titles = [str(e.findtext(f"{SVG}title")) for e in blocks(tree(artifact))]
    buffers = artifact.schedule.buffers()
    assert len(titles) == len(buffers)
    for b in buffers:
        offset = artifact.plan.offset[b.name]
        life = f"{b.nbytes:,} bytes at {offset:,}..{offset + b.nbytes - 1:,}, events {b.first}..{b.last}"
        assert sum(b.name in title and life in title for title in titles) == 1


def test_kinds_and_names_are_shown() -> None:
    root = tree(mcugen.compile(DIGITS, no_simplify=True))
    kinds = {e.get("class", "").removeprefix("block ") for e in blocks(root)}
    assert kinds == {"input", "activation", "output", "scratch"}
    texts = [str(e.text) for e in root.iter(f"{SVG}text")]
    assert any("2,048 bytes of arena" in t for t in texts)
    assert any(t.startswith("peak at event 2: step 2 Conv2D") for t in texts)
    assert "lower bound 2,048" in texts
    assert "t3 conv" in texts


def test_blocks_lie_where_the_plan_says(tmp_path: Path) -> None:
    """Rectangles are inside the map, and no two of one moment cover each other."""
    artifact = built(tmp_path, image_net(), optimize="ram")
    shapes = []
    for e in blocks(tree(artifact)):
        for x, y, w, h in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", e.get("d", "")):
            shapes.append((float(x), float(y), float(x) + float(w), float(y) + float(h)))
    assert len(shapes) == sum(len(b.pieces) for b in artifact.schedule.buffers())
    top, bottom = memory_map.MAP_TOP, memory_map.MAP_TOP + memory_map.MAP_HEIGHT
    for k, (left, up, right, down) in enumerate(shapes):
        assert memory_map.LEFT <= left < right <= memory_map.WIDTH - memory_map.RIGHT + 0.2
        assert top - 0.2 <= up < down <= bottom + 0.5
        for other in shapes[:k]:
            wide = min(right, other[2]) - max(left, other[0])
            high = min(down, other[3]) - max(up, other[1])
            assert wide < 0.6 or high < 0.6


def test_same_bytes_every_time() -> None:
    assert mcugen.compile(DIGITS).files[MEMORY_MAP] == mcugen.compile(DIGITS).files[MEMORY_MAP]


def test_names_from_models_are_data(tmp_path: Path) -> None:
    names = ("<script>alert(1)</script>", 'a" onload="x', "]]>&amp;", "\x00\x1b\x7f", "ends in /", "q;", "日本\ufffe")
    artifact = built(tmp_path, image_net(names))
    root = tree(artifact)
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg", "desc", "style", "rect", "path", "text", "title",
    }  # fmt: skip
    known = {"class", "d", "x", "y", "width", "height", "text-anchor", "viewBox"}
    assert {name for e in root.iter() for name in e.attrib} <= known
    assert artifact.files[MEMORY_MAP].isascii()
    assert any("<script>" in str(e.text) for e in root.iter(f"{SVG}title"))


def test_long_models_stay_small(tmp_path: Path) -> None:
    """200 tensors of 32 rows each, run row by row: thousands of slots and of short lives of scratch."""
    m = ModelWriter()
    tensors = [m.tensor("x", (1, 32, 4, 2), "s8", scale=0.1)]
    w = m.tensor("w", (2, 3, 3, 2), "s8", scale=(0.1, 0.1), data=np.ones((2, 3, 3, 2)))
    for k in range(200):
        tensors.append(m.tensor(f"a rather long name of a tensor/{k}", (1, 32, 4, 2), "s8", scale=0.1))
        m.op("CONV_2D", [tensors[-2], w], tensors[-1:], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    (tmp_path / "m.tflite").write_bytes(m.build(tensors[:1], tensors[-1:]))
    model = pipeline.prepare(tmp_path / "m.tflite", Options())
    choices = [listed[0].choice for listed in solve.candidates_of(model.graph, model.board, model.options)]
    made = schedule.build(model.graph, choices, [range(200)], keep_input=False)
    drawn = memory_map.picture(made, stacked(made.buffers()), "long")
    assert sum(len(b.pieces) for b in made.buffers()) > 5000
    assert len(drawn) < MAX_BYTES
    assert len(blocks(ElementTree.fromstring(drawn))) == len(made.buffers())


def stacked(buffers: Sequence[Buffer]) -> MemoryPlan:
    """The plan in which nothing shares memory."""
    tops = list(accumulate(b.nbytes for b in buffers))
    offset = {b.name: top - b.nbytes for b, top in zip(buffers, tops, strict=True)}
    return MemoryPlan(offset, tops[-1], *lower_bound(buffers), proven=False, method="stacked")


def test_groups_cover_the_order_once() -> None:
    modes: tuple[dict[str, Any], ...] = ({}, {"optimize": "ram"}, {"optimize": "ram", "input_mode": "rows"})
    for choices in modes:
        made = mcugen.compile(DIGITS, **choices).schedule
        found = memory_map.groups(made)
        assert [e for first, last, _ in found for e in range(first, last + 1)] == list(range(len(made.trace)))
        assert [i for *_, steps in found for i in steps] == list(range(len(made.steps)))
        for first, last, steps in found:
            inside: tuple[Event, ...] = made.trace[first : last + 1]
            assert {e.step for e in inside if e.step >= 0} == set(steps)


@pytest.mark.parametrize(
    ("most", "count", "expected"),
    [(0, 5, [0]), (7, 8, list(range(8))), (2048, 8, list(range(0, 2001, 500))), (95, 5, [0, 20, 40, 60, 80])],
)
def test_ticks_are_round(most: int, count: int, expected: list[int]) -> None:
    assert svg.ticks(most, count) == expected


def test_labels_are_cut_in_the_middle() -> None:
    assert svg.fitted("short", 100) == "short"
    assert svg.fitted("a_rather_long_label", 70) == "a_rat…label"
    assert svg.fitted("a_rather_long_label", 20) == ""
