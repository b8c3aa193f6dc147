"""Every supported model of a collection given by `--models FOLDER`: exact under both references, layer by layer."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

import mcugen
from mcugen.reference.inputs import cases
from mcugen.verify import emulated, golden, run
from tests.support.collection import EMULATED, is_in_scope, models
from tests.support.cores import CORES

MEANINGS = ("host", "cortex-m4", "cortex-m55", "cortex-m0plus")
"""Targets whose kernels run on this machine under sanitizers; intrinsics run as their plain C equivalents."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    root = Path(metafunc.config.getoption("--models"))
    found = models(root)
    if "folder" in metafunc.fixturenames:
        metafunc.parametrize("folder", found, ids=[str(f.relative_to(root)) for f in found])
    if "small" in metafunc.fixturenames:
        chosen = [f for f in found if f.name in EMULATED]
        metafunc.parametrize("small", chosen, ids=[f.name for f in chosen])


def test_the_collection_is_there(request: pytest.FixtureRequest) -> None:
    root = Path(request.config.getoption("--models"))
    found = models(root)
    assert len(found) == sum(is_in_scope(json.loads(p.read_text())) for p in root.rglob("info.json"))
    assert len(found) == 70
    assert {f.name for f in found} >= set(EMULATED)


@pytest.mark.parametrize("reference", ["tflm", "litert"])
def test_model_equals_the_runtime(folder: Path, reference: str) -> None:
    board = MEANINGS[(zlib.crc32(folder.name.encode()) + 2 * (reference == "litert")) % len(MEANINGS)]
    artifact = mcugen.compile(folder / "model.tflite", board=board, reference=reference, name="model")
    trace = folder / "trace.json" if reference == "litert" else None
    result = run.verify(artifact, 1, folder / "golden.npz", trace, lambda text: None)
    assert result.c.first_difference is None
    assert result.recorded is not None and result.recorded.first_difference is None
    assert not result.trace_differs
    integer = all(not artifact.imported.type(n).is_float for node in artifact.imported.nodes for n in node.outputs)
    assert not integer or result.c.max_abs_diff == 0


@pytest.mark.parametrize("board", CORES)
def test_firmware_on_an_emulated_core(small: Path, board: str) -> None:
    goal = ("speed", "balanced")[(EMULATED.index(small.name) + CORES.index(board)) % 2]
    artifact = mcugen.compile(small / "model.tflite", board=board, optimize=goal, name="model")
    recorded = golden.cases(small / "golden.npz", artifact.imported)[:1]
    result = emulated.simulate(artifact, [*recorded, *cases(artifact.imported, 0)][:2])
    assert result.agrees, result.verdict.first_difference
    assert result.repeatable
    assert result.instructions > 0 and result.stack_bytes > 0
    assert result.stack_bytes <= result.stack_bound_bytes <= 1.25 * result.stack_bytes + 64
