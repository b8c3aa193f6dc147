# SPDX-License-Identifier: Apache-2.0
"""The worked example of a format in docs/extending.md reads its files, and refuses damaged ones."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mcugen.errors import CorruptModelError
from mcugen.formats import registry
from mcugen.ir.graph import Graph, verify
from mcugen.oracle import interpreter

PAGE = (Path(__file__).resolve().parents[2] / "docs/extending.md").read_text("utf-8")
EXAMPLE = PAGE.partition("## Adding a format\n")[2].partition("```python\n")[2].partition("```")[0]
TOY = b"onelayer RELU\n0.5 1 2 3\n-1 0 0.25 4\n-9 1 1 1\n"


def page() -> ModuleType:
    """The module of the page."""
    module = ModuleType("onelayer")
    exec(compile(EXAMPLE, "docs/extending.md", "exec"), vars(module))
    return module


def load(data: bytes) -> Graph:
    graph: Graph = page().load(data, registry.load(), path=Path("toy.onelayer"), sha256="", shapes={})
    return verify(graph, "onelayer")


def test_the_format_of_the_page_is_read() -> None:
    assert page().recognises(TOY) and not page().recognises(b"something else")
    graph = load(TOY)
    x = np.array([[1, 2, 3]], np.float32)
    values = interpreter.run(graph, [x], "tflm")
    assert values[graph.outputs[0]].tolist() == [[14.5, 11.5, 0.0]]


@pytest.mark.parametrize("damaged", [b"onelayer RELU\n", TOY + b"1 2\n", TOY.replace(b"0.25", b"x"), b"onelayer \xff"])
def test_a_damaged_file_is_refused(damaged: bytes) -> None:
    with pytest.raises(CorruptModelError, match="this is no onelayer file"):
        load(damaged)
