# SPDX-License-Identifier: Apache-2.0
"""Constants as bytes for the assembler: the object that the compiler makes of their C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.boards import target
from mcugen.emit.model_parts import ArrayView
from mcugen.machines.toolchain.elf import read_elf
from mcugen.machines.toolchain.objects import Compiler
from mcugen.pipeline import Artifact
from mcugen.verify import assembled
from tests.solve.test_budget import SMALL


def made(folder: Path, board: str, goal: str = "balanced") -> Artifact:
    (folder / "small.tflite").write_bytes(SMALL)
    artifact = mcugen.compile(folder / "small.tflite", board=board, optimize=goal, no_report=True)
    artifact.write(folder / "out")
    return artifact


@pytest.mark.parametrize(("board", "goal"), [("cortex-m4", "balanced"), ("cortex-m4", "ram"), ("rv32imc", "balanced")])
def test_the_object_is_the_one_of_the_c(tmp_path: Path, board: str, goal: str) -> None:
    artifact, chain, folder = made(tmp_path, board, goal), target.load(board).toolchain, tmp_path / "out"
    of_c = folder / f"{artifact.name}_weights.c"
    (of_bytes,) = assembled.in_place_of_c(artifact.view, [of_c], folder)
    assert of_bytes.suffix == ".s"
    jobs = [(source, [*chain.flags, "-fdata-sections"]) for source in (of_c, of_bytes)]
    built = [read_elf(o) for o in Compiler(chain.cc, folder).compile(jobs, [folder], tmp_path, 60)]
    sections = [{n: s.data for n, s in elf.sections.items() if ".rodata." in n or ".srodata." in n} for elf in built]
    arrays = artifact.view.arrays
    assert all(array.data.size for array in arrays) == (goal != "ram"), "an array without elements is one 0"
    data = {array.symbol: array.data.tobytes() or bytes(array.data.dtype.itemsize) for array in arrays}
    assert {name.rsplit(".", 1)[1]: found for name, found in sections[0].items()} == data
    assert sections[1] == {f".rodata.{symbol}": found for symbol, found in data.items()}
    sizes = [{name: elf.symbols[name] for name in data} for elf in built]
    assert sizes[0] == sizes[1] == {symbol: (0, len(found)) for symbol, found in data.items()}


def test_what_is_not_just_bytes_stays_c(tmp_path: Path) -> None:
    """Constants in another memory, and what is no number."""
    artifact = made(tmp_path, "cortex-m4")
    sources = [tmp_path / name for name in ("other.c", f"{artifact.name}_weights.c")]
    assert [s.suffix for s in assembled.in_place_of_c(artifact.view, sources, tmp_path)] == [".c", ".s"]
    odd = [
        replace(artifact.view.arrays[0], region="sram"),
        ArrayView("k", "float", 1, 4, "", np.array([np.nan], np.float32)),
    ]
    for array in odd:
        view = replace(artifact.view, arrays=[*artifact.view.arrays, array])
        assert assembled.in_place_of_c(view, sources, tmp_path) == sources
