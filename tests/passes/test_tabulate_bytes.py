# SPDX-License-Identifier: Apache-2.0
"""Arithmetic between two bytes as tables: the results of the oracle for every byte, or no table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from mcugen import passes
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.channel_tables import ChannelTables
from mcugen.ops.div import Div
from mcugen.ops.logistic import Logistic
from mcugen.ops.mul import Mul
from mcugen.ops.quantize import Quantize
from mcugen.ops.sub import Sub
from mcugen.ops.table import Table
from mcugen.oracle import interpreter
from mcugen.passes.tabulate_bytes import tabulate_bytes
from mcugen.samples.front_end import FrontEnd

EVERY = np.repeat(np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1), 3, axis=3)


def chain(*steps: tuple[Op, np.ndarray], dtype: str = "s8", channels: int = 3) -> tuple[Graph, list[str]]:
    """A graph from u8 [1, 16, 16, channels] to bytes by a Cast, steps with constants and a Quantize; its values."""
    front = FrontEnd(TensorType((1, 16, 16, channels), "u8"))
    values = [front.node(Cast("f32"), front.given)]
    for op, constant in steps:
        values.append(front.node(op, values[-1], front.constant(constant)))
    values.append(front.node(Quantize(dtype), values[-1], quant=QuantParams((0.02,), (-3 if dtype == "s8" else 120,))))
    return front.graph(values[-1]), values


def vector(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32).reshape(1, 1, 1, -1)


SCALE, SHIFT = (Mul(), vector(1 / 255)), (Add(), vector(-0.5))
MEAN, STD = (Sub(), vector(0.4, 0.5, 0.6)), (Div(), vector(0.2, 0.3, 0.4))


@pytest.mark.parametrize("dtype", ["s8", "u8"])
@pytest.mark.parametrize(("steps", "made"), [((SCALE, MEAN, STD), ChannelTables), ((SCALE, SHIFT), Table)])
def test_tables_have_the_oracles_results(steps: Sequence[tuple[Op, np.ndarray]], made: type[Op], dtype: str) -> None:
    graph, _ = chain(*steps, dtype=dtype)
    found = tabulate_bytes(passes.with_origins(graph), "litert")
    assert [type(node.op) for node in found.nodes] == [made] and tabulate_bytes(found, "litert") is found
    wanted, got = (interpreter.run(g, [EVERY], "litert")[g.outputs[0]] for g in (graph, found))
    assert np.array_equal(wanted, got) and len(np.unique(got)) > 40


def test_other_chains_stay() -> None:
    graph, values = chain(SCALE, MEAN)
    inner = graph.updated(outputs=(values[-1], values[1]))
    column = chain((Mul(), np.arange(16.0).reshape(1, 1, 16, 1)))[0]
    many = chain((Mul(), vector(*range(17))), channels=17)[0]
    front = FrontEnd(TensorType((1, 4), "u8"))
    bent = front.node(Logistic(), front.real(front.given))
    curve = front.node(Quantize("s8"), bent, quant=QuantParams((0.02,), (0,)))
    for kept in (inner, column, many, front.graph(curve)):
        assert tabulate_bytes(kept, "litert") is kept
