# SPDX-License-Identifier: Apache-2.0
"""The kernels that a node may get."""

from __future__ import annotations

import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.errors import NoKernelError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel, Ring, Whole, Window
from mcugen.ops._filter_examples import example
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.options import Options
from mcugen.solve import no_kernel
from mcugen.solve.candidates import candidates_of
from tests.support.cases import graph_of


@pytest.mark.parametrize("mode", ["rows", "frames"])
@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_rows_that_come_one_by_one_are_not_waited_for(core: str, mode: str) -> None:
    op = DepthwiseConv2D((1, 1), (1, 1), "VALID", "NONE")
    graph = graph_of(example(op, 0, (1, 40, 1, 8), (1, 10, 1, 8), 3, gain=0.002, out_zero=-128))
    listed = candidates_of(graph, target.load(core), Options(input_mode=mode))[0]
    assert {type(c.choice.kernel.form) for c in listed} == {Window, Ring}
    whole = candidates_of(graph, target.load(core), Options())[0]
    assert {type(c.choice.kernel.form) for c in whole} == {Window, Ring, Whole}


def test_nodes_without_a_kernel_are_listed_with_the_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(call: Call) -> bool:
        "the moon is full"
        return False

    graph = graph_of(example(DepthwiseConv2D(), 0, (1, 5, 5, 8), (1, 3, 3, 8), 3, gain=0.002))
    monkeypatch.setattr(kernels, "of", lambda op: (Kernel("mg_night", Whole(), (refuses,), lambda call: {}),))
    with pytest.raises(NoKernelError, match=r"no kernel can run these nodes:\n(.*\n)*.*mg_night.*the moon is full"):
        candidates_of(graph, target.load("cortex-m4"), Options())


def test_what_is_unusual_comes_before_the_nearest_kernels() -> None:
    """A scale of 1e30: of some hundred kernels, those that lack least are shown."""

    def refuses(call: Call) -> bool:
        "the moon is full"
        return False

    listed = [Kernel(f"mg_night_{k}", Whole(), (refuses,) * (k % 5 + 1), lambda call: {}) for k in range(100)]
    op = example(DepthwiseConv2D(), 0, (1, 5, 5, 8), (1, 3, 3, 8), 3, gain=1e30)
    graph = graph_of(op)
    node = graph.nodes[0]
    text = no_kernel.of_node(node, graph.call(node, "tflm"), listed, target.load("cortex-m4"))
    lines = no_kernel.of_nodes([text] * 9).splitlines()
    assert len(lines) <= 12
    assert "mg_night_0 needs: the moon is full" in text and "97 more kernels: `mcugen ops DepthwiseConv2D`" in text
    assert text.index("unusual: ") < text.index("mg_night_0") and lines[-1] == "  and 5 more"


@pytest.mark.parametrize("needs", [(), ("moon",)])
def test_an_error_of_a_rule_names_its_node(monkeypatch: pytest.MonkeyPatch, needs: tuple[str, ...]) -> None:
    """A rule is asked by the choice, or only for the text of why a kernel is none."""

    def fails(call: Call) -> bool:
        raise UnsupportedError("too fine")

    graph = graph_of(example(DepthwiseConv2D(), 0, (1, 5, 5, 8), (1, 3, 3, 8), 3, gain=0.002))
    night = Kernel("mg_night", Whole(), (fails,), lambda call: {}, needs=frozenset(needs))
    monkeypatch.setattr(kernels, "of", lambda op: (night,))
    with pytest.raises(UnsupportedError) as caught:
        candidates_of(graph, target.load("cortex-m4"), Options())
    assert caught.value.where == graph.nodes[0].source


def test_costs_for_the_least_ram_are_those_of_rows() -> None:
    op = DepthwiseConv2D((1, 1), (1, 1), "SAME", "NONE")
    graph = graph_of(example(op, 0, (1, 12, 12, 8), (1, 3, 3, 8), 3, gain=0.002))

    def costs(**options: str) -> dict[str, float]:
        return {
            c.choice.kernel.symbol: c.cost
            for c in candidates_of(graph, target.load("cortex-m4"), Options(**options))[0]
        }

    rows, least, whole = costs(input_mode="rows"), costs(optimize="ram"), costs()
    assert {symbol: least[symbol] for symbol in rows} == rows
    assert least != whole


def test_a_frame_costs_one_row_and_converts_one() -> None:
    """A frame brings one row: of the 15 that the only result row reads, and of 3 for each of 28 result rows."""

    def fastest(rows: int, taps: int, mode: str) -> tuple[str, float]:
        op = DepthwiseConv2D((1, 1), (1, 1), "VALID", "NONE")
        graph = graph_of(example(op, 0, (1, rows, 1, 128), (1, taps, 1, 128), 3, gain=0.001))
        best = candidates_of(graph, target.load("cortex-m4"), Options(input_mode=mode))[0][0]
        return best.choice.kernel.symbol.rpartition("__")[2], best.cost

    assert fastest(15, 15, "rows")[0] == "direct"
    assert fastest(15, 15, "frames")[0] == "column"
    for rows, taps in ((15, 15), (30, 3)):
        less = fastest(rows, taps, "rows")[1] / fastest(rows, taps, "frames")[1]
        assert less > 1.2 * (rows - taps + 1) if taps == rows else less == pytest.approx(rows - taps + 1, rel=0.1)
