"""The models of a collection given by `--models FOLDER`.

Plain .tflite models are exact under both references, layer by layer, a fifth of the pairs by rule, without large ones,
and all of them with --whole; a sample of the others keeps its promise. `ci/soak` verifies all of them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import mcugen
from mcugen import pipeline
from mcugen.ir.graph import Graph, Node
from mcugen.ops.transpose import Transpose
from mcugen.options import Options
from mcugen.verify import checks, emulated, golden
from mcugen.verify.cases import cases
from tests.support import model_rows
from tests.support.collection import EMULATED, SAMPLE, Model, collection, is_in_scope, models
from tests.support.cores import CORES, cores
from tests.support.references import REFERENCES

LARGE = 2_000_000
"""Bytes of a model file from which on only --whole runs it."""
PAGE = Path(__file__).resolve().parents[1] / "docs" / "models.md"
MEANINGS = ("host", "cortex-m4", "cortex-m55", "cortex-m0plus")
"""Targets whose kernels run on this machine under sanitizers; intrinsics run as their plain C equivalents."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    root = Path(metafunc.config.getoption("--models"))
    found = models(root)
    whole = metafunc.config.getoption("--whole")
    if "folder" in metafunc.fixturenames:
        small = [f for f in found if whole or (f / "model.tflite").stat().st_size < LARGE]
        pairs = [(f, which) for f in small for which in REFERENCES if whole or _is_sampled(f.name, which, 5)]
        names = [f"{f.relative_to(root)}-{which}" for f, which in pairs]
        metafunc.parametrize(("folder", "reference"), pairs, ids=names)
    if "small" in metafunc.fixturenames:
        chosen = {f.name: f for f in found if f.name in EMULATED}
        places = [(name, core) for name in chosen for core in cores(whole) if whole or _is_sampled(name, core, 8)]
        metafunc.parametrize(
            ("small", "board"), [(chosen[n], core) for n, core in places], ids=["-".join(p) for p in places]
        )
    if "sampled" in metafunc.fixturenames:
        sample = [model for model in collection(root) if model.name in SAMPLE]
        metafunc.parametrize("sampled", sample, ids=[model.name for model in sample])


def _is_sampled(name: str, other: str, of: int) -> bool:
    """Whether this pair is one of the sample; which ones follows from the names."""
    return zlib.crc32(f"{name} {other}".encode()) % of == 0


def test_the_collection_is_there(request: pytest.FixtureRequest) -> None:
    root = Path(request.config.getoption("--models"))
    found = models(root)
    assert len(found) == sum(is_in_scope(json.loads(p.read_text())) for p in root.rglob("info.json"))
    assert len(found) == 70
    assert {f.name for f in found} >= set(EMULATED)
    everything = collection(root)
    assert len(everything) == 99
    assert {model.name for model in everything} >= set(SAMPLE)
    assert {model.promise for model in everything if model.name in SAMPLE} == {model.promise for model in everything}


def test_the_page_has_a_row_for_each_model(request: pytest.FixtureRequest) -> None:
    everything = collection(Path(request.config.getoption("--models")))
    assert set(model_rows.read(PAGE)) == {model.name for model in everything}


@pytest.mark.sampled(6)
def test_a_model_of_each_promise_keeps_it(sampled: Model) -> None:
    row = model_rows.row(sampled, random=1)
    known = model_rows.read(PAGE).get(sampled.name, "")
    assert model_rows.is_pass(row) or (model_rows.is_refused(row) and model_rows.is_refused(known)), row


@pytest.mark.whole
def test_channels_first_models_move_only_what_interfaces_need(request: pytest.FixtureRequest) -> None:
    """No transpose inside any .onnx network of images; at most four at interfaces with their channels first."""
    root = Path(request.config.getoption("--models"))
    images = [m for m in collection(root) if m.path.suffix == ".onnx" and "Conv" in " ".join(m.info["ops"])]
    known = model_rows.read(PAGE)
    found = [model for model in images if not model_rows.is_refused(known.get(model.name, ""))]
    assert len(images) == 14
    own = {model.name: moved(model, "") for model in found}
    inside = {name: sorted(names) for name, names in own.items() if any(not at_end for _, at_end in names)}
    assert not inside
    assert sum(map(len, own.values())) <= 4
    assert not {model.name: left for model in found if (left := moved(model, "nhwc"))}


def moved(model: Model, layout: str) -> list[tuple[str, bool]]:
    """The transposes that are left, and whether each lies before or behind all operators on images."""
    options = Options(name="model", input_layout=layout, output_layout=layout)
    graph: Graph = pipeline.prepare(model.path, options).graph
    behind = reached(graph.nodes)
    before = reached([replace(n, inputs=n.outputs, outputs=n.inputs) for n in reversed(graph.nodes)])
    found = [node for node in graph.nodes if isinstance(node.op, Transpose)]
    return [(node.name, node.inputs[0] not in behind or node.outputs[0] not in before) for node in found]


def reached(nodes: Sequence[Node]) -> set[str | None]:
    """The tensors that depend on results of operators on images."""
    found: set[str | None] = set()
    for node in nodes:
        if node.op.takes_images or found.intersection(node.inputs):
            found.update(node.outputs)
    return found


@pytest.mark.long
@pytest.mark.sampled(4)
def test_model_equals_the_runtime(folder: Path, reference: str) -> None:
    board = MEANINGS[(zlib.crc32(folder.name.encode()) + 2 * (reference == "litert")) % len(MEANINGS)]
    artifact = mcugen.compile(folder / "model.tflite", board=board, reference=reference, name="model")
    trace = folder / "trace.json" if reference == "litert" else None
    result = checks.verify(artifact, 1, folder / "golden.npz", trace, lambda text: None)
    assert result.c.first_difference is None
    assert result.recorded is not None and result.recorded.first_difference is None
    assert not result.trace_differs
    integer = all(not artifact.imported.type(n).is_float for node in artifact.imported.nodes for n in node.outputs)
    assert not integer or result.c.max_abs_diff == 0


def test_firmware_on_an_emulated_core(small: Path, board: str) -> None:
    goal = ("speed", "balanced")[(EMULATED.index(small.name) + CORES.index(board)) % 2]
    artifact = mcugen.compile(small / "model.tflite", board=board, optimize=goal, name="model")
    recorded = golden.cases(small / "golden.npz", artifact.imported)[:1]
    result = emulated.simulate(artifact, [*recorded, *cases(artifact.imported, 0)][:2])
    assert result.agrees, result.verdict.first_difference
    assert result.repeatable
    assert result.instructions > 0 and result.stack_bytes > 0
    assert result.stack_bytes <= result.stack_bound_bytes <= 1.25 * result.stack_bytes + 64
