# SPDX-License-Identifier: Apache-2.0
"""Classical models against what ONNX Runtime recorded: trees bit for bit, linear within 1e-6, kernels within 1e-5."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T

import mcugen
from mcugen import solve
from mcugen.boards import target
from mcugen.emit.promise import Promise, promises_of
from mcugen.errors import InternalError, McugenError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.ops import tree_ensemble
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.verify import checks, golden, host
from mcugen.verify.cases import Case
from tests.classical import drawn
from tests.support import cases

FILE = Path(__file__).with_name("recorded.npz")


@cache
def recorded() -> dict[str, np.ndarray]:
    with np.load(FILE) as file:
        return {name: file[name] for name in file.files}


def names() -> list[str]:
    return [str(name) for name in recorded()["names"]]


@cache
def path_of(k: int, folder: Path) -> Path:
    path = folder / f"model{k}.onnx"
    path.write_bytes(recorded()[f"model{k}"].tobytes())
    return path


def graph_of(k: int, folder: Path) -> Graph:
    return read.load(path_of(k, folder), registry.load())


def tolerance(name: str) -> float:
    """Share of the largest score by which scores may differ: none for sums of leaves."""
    if name.startswith(("regressor", "classifier", "imputer", "binarizer", "extractor", "labels")):
        return 1e-6 if "LOGISTIC" in name or "SOFTMAX" in name else 0.0
    return 1e-5 if name.startswith("svm") else 1e-6


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", range(len(names())), ids=names())
def test_the_oracle_equals_the_runtime(k: int, tmp_path: Path) -> None:
    arrays, name = recorded(), names()[k]
    graph = graph_of(k, tmp_path)
    for case, x in enumerate(arrays[f"in{k}"]):
        values = interpreter.run(graph, [x], "ort")
        for j, output in enumerate(graph.outputs):
            wanted = golden.numbered(arrays[f"out{k}_{j}"][case], graph.texts.get(j, ()))
            got = values[output].reshape(wanted.shape)
            if got.dtype.kind == "f" and tolerance(name):
                most = float(np.abs(wanted).max(initial=1e-6))
                assert np.abs(wanted.astype(np.float64) - got).max() <= tolerance(name) * most, (case, j)
            else:
                assert np.array_equal(wanted, got, equal_nan=got.dtype.kind == "f"), (case, j, wanted, got)


@pytest.mark.parametrize("k", range(0, len(names()), 5), ids=names()[::5])
def test_only_outputs_that_equal_the_runtimes_are_promised_to(k: int, tmp_path: Path) -> None:
    graph, name = graph_of(k, tmp_path), names()[k]
    promised = dict(zip(graph.outputs, promises_of(graph, "ort"), strict=True))
    loose = {output for output in graph.outputs if graph.type(output).is_float and tolerance(name)}
    assert all(promised[output] is Promise.NEAR for output in loose)
    if name.startswith(("linear", "svm", "neighbours")):
        assert Promise.BITS not in promised.values()


IN_C = (
    ("regressor BRANCH_EQ", "host"),
    ("regressor BRANCH_NEQ", "cortex-m0plus"),
    ("regressor MIN", "host"),
    ("classifier three of which one is named, any sign", "host"),
    ("classifier three, any sign", "cortex-m0plus"),
    ("linear 3 SOFTMAX", "host"),
    ("svm RBF 4 shares", "host"),
    ("labels of numbers as strings", "host"),
    ("neighbours squares", "host"),
)
"""Models, and the core whose kernels compute them; on Cortex-M0+ trees compare keys of floats."""


def test_the_c_equals_the_oracle(tmp_path: Path) -> None:
    """Some models on the recorded inputs, which hold what is no number, both zeros and infinities."""
    arrays = recorded()
    for name, board in IN_C:
        k = names().index(name)
        path = path_of(k, tmp_path)
        found = {f"in{case}_0": x for case, x in enumerate(arrays[f"in{k}"])}
        for j in range(sum(name.startswith(f"out{k}_") for name in arrays)):
            found |= {f"out{case}_{j}": y for case, y in enumerate(arrays[f"out{k}_{j}"])}
        np.savez(tmp_path / "golden.npz", **found)
        artifact = mcugen.compile(path, name="model", board=board, optimize="speed")
        symbols = {step.choice.kernel.symbol for step in artifact.schedule.steps}
        assert board == "host" or "mg_tree_branches_keys" in symbols
        result = checks.verify(artifact, 1, tmp_path / "golden.npz", None, lambda text: None)
        assert result.c.agrees, (name, result.c.first_difference)
        if tolerance(name) == 0:
            assert result.c.max_abs_diff == 0, (name, result.c.max_abs_diff)
            assert result.recorded is not None and result.recorded.max_abs_diff == 0


def test_what_is_no_number_fails_comparisons_with_infinity(tmp_path: Path) -> None:
    """Trees whose thresholds are all infinite: only NaN reaches the leaves of failed comparisons."""
    a = drawn.trees(np.random.default_rng(3), 4, targets=[0], what="target")
    a["nodes_values"] = [np.inf] * len(a["nodes_values"])
    path = tmp_path / "model.onnx"
    onnx.save(drawn.model([drawn.node("TreeEnsembleRegressor", "x", "y", **a, n_targets=1)], {"y": T.FLOAT}), path)
    artifact = mcugen.compile(path, name="model", board="cortex-m0plus", optimize="speed")
    assert [step.choice.kernel.symbol for step in artifact.schedule.steps] == ["mg_tree_branches_keys"]
    x = [np.full((1, drawn.FEATURES), value, np.float32) for value in (np.nan, -np.nan, np.inf, 0.0)]
    assert host.verify(artifact, [Case("infinite thresholds", [one]) for one in x]).max_abs_diff == 0
    outputs = [interpreter.run(artifact.imported, [one], "ort")[artifact.imported.outputs[0]].item() for one in x]
    assert outputs[0] == outputs[1] != outputs[2] == outputs[3]


def test_a_large_forest_is_code_for_speed_and_tables_otherwise() -> None:
    """About 1,900 comparisons: code that takes the place of tables has no price where constants have none."""
    graph, board = cases.graph_of(tree_ensemble.example(0, trees=20, depth=9)), target.load("cortex-m4")
    options = [Options(name="net", board="cortex-m4", optimize=goal) for goal in ("speed", "balanced")]
    solved = [solve.solve(graph, board, given) for given in options]
    code, tables = (one.schedule.steps[0].choice.kernel.symbol for one in solved)
    assert code.startswith("mg_tree_branches") and tables == "mg_tree_ensemble"


@pytest.mark.parametrize("kind", ["squares", "magnitudes", "largest"])
def test_distances_from_rows_of_training_data_become_one_operator(kind: str, tmp_path: Path) -> None:
    artifact = mcugen.compile(path_of(names().index(f"neighbours {kind}"), tmp_path), name="net")
    ops = [type(node.op).__name__ for node in artifact.graph.nodes]
    assert ops.count("Distances") == 1 and "Sub" not in ops and "Pack" not in ops


def test_labels_become_an_enum_and_texts(tmp_path: Path) -> None:
    k = next(k for k, name in enumerate(names()) if name.startswith("classifier three, any"))
    header = mcugen.compile(path_of(k, tmp_path), name="net").files["net.h"].decode()
    assert "enum net_output_0_class {\n    NET_OUTPUT_0_PLAIN = 0,\n    NET_OUTPUT_0_QUOTE = 1,\n" in header
    assert '"quote \\042 \\134",' in header
    assert '"t\\303\\251l\\303\\251 *//* \\077\\077/",' in header
    assert "static inline const char *net_output_0_text(int64_t number)" in header
    assert re.findall(r"/\* Output '(\w+)'", header) == ["label", "scores"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes_truenodeids": [1, 1]}, "nodes_ attributes"),
        ({"nodes_featureids": [99]}, "feature 99, the input has features 0 to 4"),
        ({"nodes_featureids": [-3]}, "negative"),
        ({"nodes_truenodeids": [0]}, "has no root|two parents|cycle"),
        ({"nodes_truenodeids": [77]}, "does not exist"),
        ({"nodes_modes": [b"BRANCH_ODD"]}, "BRANCH_ODD"),
        ({"nodes_values": [float("nan")]}, "compare with nan"),
        ({"target_weights": [float("inf")]}, "infinities or NaN"),
        ({"target_ids": [2**40]}, "beyond 32 bits"),
        ({"target_nodeids": [0]}, "names a node that is no leaf"),
    ],
)
def test_damaged_trees_are_refused(change: dict[str, list[object]], message: str, tmp_path: Path) -> None:
    import onnx

    model = onnx.ModelProto.FromString(recorded()["model0"].tobytes())
    for attribute in model.graph.node[0].attribute:
        if attribute.name in change:
            values = list(onnx.helper.get_attribute_value(attribute))
            given = change[attribute.name]
            made = given if len(given) > 1 else [*given, *values[1:]]
            attribute.CopyFrom(onnx.helper.make_attribute(attribute.name, made))
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(McugenError, match=message) as caught:
        mcugen.compile(tmp_path / "net.onnx")
    assert not isinstance(caught.value, InternalError)
