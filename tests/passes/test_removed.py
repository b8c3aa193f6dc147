# SPDX-License-Identifier: Apache-2.0
"""Removed nodes are reported with the reason, and checked against the oracle like computed ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mcugen
from mcugen import report
from mcugen.cli import cli
from mcugen.ir.graph import Graph, Origin
from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import draw
from mcugen.pipeline import Artifact
from mcugen.verify.cases import cases
from mcugen.verify.comparison import Comparison
from tests.passes.net import Net, differences


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four channels, of which one never changes and one is not read, and a clamp; a result that nothing reads."""
    net = Net()
    a = net.conv(net.x, [7, 55, -9, 8], fixed={1})
    b = net.conv(a, [1, 2], unread={2}, size=2)
    y = net.result(net.shape[b], 0)
    net.m.op("RELU", [b], [y])
    net.conv(net.x, [4])
    path = tmp_path_factory.mktemp("model") / "small.tflite"
    path.write_bytes(net.build(y))
    return path


@pytest.fixture(scope="module")
def artifact(model: Path) -> Artifact:
    return mcugen.compile(model)


def narrowed(graph: Graph) -> str:
    return next(name for name, t in graph.tensors.items() if t.origin and t.origin.kept is not None)


def compared(artifact: Artifact, graph: Graph, change: int = 0) -> Comparison:
    """The oracle's own values for every tensor, the last one of the narrowed tensor changed."""
    comparison = Comparison(graph, artifact.imported)
    inputs = draw(artifact.imported, 1)
    oracle = interpreter.run(artifact.imported, inputs, "tflm")
    values = interpreter.run(artifact.graph, inputs, "tflm")
    comparison.begin_case("drawn", oracle)
    for step, node in enumerate(artifact.graph.nodes):
        got = values[node.outputs[0]].copy()
        if node.outputs[0] == narrowed(graph):
            got[..., -1] += np.int8(change)
        comparison.tensor("drawn", step, node.outputs[0], got, oracle)
    return comparison


def test_stored_channels_and_constants_are_compared(artifact: Artifact) -> None:
    verdict = compared(artifact, artifact.graph).verdict()
    assert verdict.agrees
    assert (verdict.constant_channels, verdict.unread_channels) == (1, 1)
    assert len(verdict.fused) == 1 and verdict.not_compared == ()


def test_a_difference_is_named_by_the_imported_channel(artifact: Artifact) -> None:
    verdict = compared(artifact, artifact.graph, change=1).verdict()
    first = verdict.first_difference
    assert first is not None and not verdict.agrees
    assert (first.step, first.tensor, first.index) == (0, narrowed(artifact.graph), (0, 0, 0, 3))
    assert first.got == first.expected + 1


def test_a_wrong_constant_is_a_difference(artifact: Artifact) -> None:
    name = narrowed(artifact.graph)
    tensor = artifact.graph.tensors[name]
    assert isinstance(tensor.origin, Origin)
    channel, value = tensor.origin.constant[0]
    wrong = replace(tensor, origin=replace(tensor.origin, constant=((channel, value + 1),)))
    verdict = compared(artifact, artifact.graph.updated(tensors=[wrong])).verdict()
    first = verdict.first_difference
    assert first is not None
    assert (first.step, first.tensor, first.index[-1]) == (-1, name, channel)
    assert (first.expected, first.got) == (value, value + 1)


def test_the_report_counts_what_is_gone(artifact: Artifact) -> None:
    facts = artifact.report
    counts = {item.what: item.channels for item in facts.removed}
    assert counts == {"unread results": 0, "fused clamps": 0, "constant channels": 1, "unread channels": 1}
    assert all(item.why for item in facts.removed)
    pixels, inner = 16, 9
    assert facts.macs == pixels * 2 * (4 + 1) + inner * 4 * 4 * 2
    assert facts.live_macs == pixels * 2 * 2 + inner * 4 * 2 * 2
    text = report.as_text(facts)
    assert f"{facts.live_macs:,} MAC  of the {facts.macs:,} that the model states" in text
    assert "1 unread results, 1 fused clamps, 1 constant channels, 1 unread channels" in text
    stored = json.loads(artifact.files["report.json"])
    assert [item["tensor"] for item in stored["removed"]] == [item.tensor for item in facts.removed]


def test_inspect_lists_it_with_reasons(model: Path) -> None:
    run = CliRunner()
    text = run.invoke(cli, ["inspect", str(model), "--removed"], standalone_mode=False)
    assert text.exception is None
    assert "because one value for every input" in text.stdout and "1 of 4  constant channels" in text.stdout
    whole = run.invoke(cli, ["inspect", str(model), "--removed", "--no-simplify"], standalone_mode=False)
    assert whole.stdout.strip() == "nothing is removed"
    facts = json.loads(run.invoke(cli, ["inspect", str(model), "--json"], standalone_mode=False).stdout)
    assert {row["what"] for row in facts["removed"]} >= {"constant channels", "unread channels"}
    assert facts["live_macs"] < facts["macs"]


def test_all_is_computed_on_request(model: Path) -> None:
    plain = mcugen.compile(model, no_simplify=True)
    assert plain.report.macs == plain.report.live_macs and plain.report.removed == ()
    assert "--no-simplify" in plain.files[f"{plain.name}.c"].decode()
    assert [type(n.op) for n in plain.graph.nodes] == [type(n.op) for n in plain.imported.nodes]
    assert differences(plain.imported, plain.graph, "tflm") == []
    first = next(iter(cases(plain.imported, 1)))
    graphs = (plain.graph, mcugen.compile(model).graph)
    outputs = [interpreter.run(graph, first.inputs, "tflm")[graph.outputs[0]] for graph in graphs]
    np.testing.assert_array_equal(*outputs)
