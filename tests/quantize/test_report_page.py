"""The page about a quantization: what it says, that it stands alone, and that names of a model stay text."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from mcugen.cli import cli

EVIL = "<script>alert(1)</script>&"


class Checked(HTMLParser):
    """Fails on tags that are not closed; collects texts and tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open += [] if tag in ("meta", "br") else [tag]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A layer of 4 classes with a dead one before it, whose name is HTML, and labelled samples."""
    rng = np.random.default_rng(0)
    w = {"a": np.zeros((8, 6)), "b": rng.standard_normal((4, 8)), "c": np.ones(8)}
    nodes = [helper.make_node("Gemm", ["x", "a", "c"], [EVIL], transB=1), helper.make_node("Relu", [EVIL], ["r"])]
    nodes.append(helper.make_node("Gemm", ["r", "b"], ["y"], transB=1))
    graph = helper.make_graph(
        nodes,
        EVIL,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(a.astype(np.float32), n) for n, a in w.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, tmp_path / "net.onnx")
    x = rng.standard_normal((20, 6)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x, y=np.arange(20) % 4)
    return tmp_path


def test_page_and_json_say_the_same(files: Path) -> None:
    data, page = str(files / "data.npz"), files / "page.html"
    given = ["--data", data, "--test", data, "-o", str(files / "net.tflite"), "--report", str(page), "--json"]
    result = CliRunner().invoke(
        cli, ["quantize", str(files / "net.onnx"), "--method", "min-max", "--jobs", "1", *given]
    )
    assert result.exit_code == 0, result.output
    told, read = json.loads(result.output), page.read_text("utf-8")
    shown = Checked(read)
    assert not {"script", "link", "img", "iframe"} & shown.tags
    assert "http" not in read
    assert len(read) < 500_000
    assert {"Findings", "Layers", "Test", "Confusion matrix"} <= {s.strip() for s in shown.text.split("\n")}
    assert [f["kind"] for f in told["findings"]] == ["dead"]
    assert all(f["text"] in shown.text and f["place"] in shown.text for f in told["findings"])
    assert all(layer["name"] in shown.text for layer in told["layers"])
