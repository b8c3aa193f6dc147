# SPDX-License-Identifier: Apache-2.0
"""Models that keep values from run to run on a device: sequences against the oracle, and a reset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen import pipeline, solve
from mcugen.ir.graph import Graph, Node, State, Tensor, verify
from mcugen.ir.types import TensorType
from mcugen.machines.toolchain import opencl
from mcugen.ops.add import Add
from mcugen.ops.mul import Mul
from mcugen.options import Options
from mcugen.verify import checks

MAIN = b"""
#include <stdio.h>
#include <string.h>
#include "net.h"
static net_t net;
static void once(float value)
{
    float *const x = net_input(&net);
    for (int k = 0; k < 4; k += 1) {
        x[k] = value;
    }
    if (net_run(&net) != 0) {
        fprintf(stderr, "%s\\n", net_text(&net));
    } else {
        printf("%g %g\\n", net_output(&net)[0], net_output(&net)[3]);
    }
}
int main(void)
{
    once(1.0f);
    once(2.0f);
    once(3.0f);
    net_reset(&net);
    once(1.0f);
    net_deinit(&net);
    once(1.0f);
    net_deinit(&net);
    return 0;
}
"""


def network() -> Graph:
    """A sum of all inputs but the last, which another state holds: y = sum * last, sum += last, last = 2 x."""
    t = TensorType((1, 4), "f32")
    two = np.full((1, 4), 2.0, np.float32)
    tensors = [Tensor(name, t, None, name) for name in ("x", "sum", "last", "y", "sum2", "last2")]
    tensors.append(Tensor("two", t, two))
    nodes = (
        Node("n0", Mul(), ("sum", "last"), ("y",), "node 0"),
        Node("n1", Add(), ("sum", "last"), ("sum2",), "node 1"),
        Node("n2", Mul(), ("x", "two"), ("last2",), "node 2"),
    )
    ramp = np.array([[1, 2, 3, 4]], np.float32)
    states = (State("sum", "sum2", ramp), State("last", "last2", np.zeros((1, 4), np.float32)))
    graph = Graph("net", {n.name: n for n in tensors}, nodes, ("x",), ("y",), format="tflite", states=states)
    return verify(graph, "test")


def built() -> pipeline.Artifact:
    prepared = pipeline.prepare_graph(network(), Options(backend="opencl"), "net")
    return pipeline.finish(prepared, solve.solve(prepared.graph, prepared.board, prepared.options))


@pytest.mark.whole
def test_sequences_equal_the_oracle() -> None:
    result = checks.verify(built(), 1, None, None, lambda text: None)
    assert result.agrees, result.c


def test_states_are_kept_on_the_device(tmp_path: Path) -> None:
    artifact = built()
    assert artifact.view.device is not None
    assert artifact.view.device.host_steps == 0
    assert len(artifact.view.device.states) == 2
    files = {path: text for path, text in artifact.emitted.items() if not path.startswith("examples/")}
    define = f'-DNET_WEIGHTS_FILE="{tmp_path}/net_weights.bin"'
    program = opencl.compile_program({**files, "main.c": MAIN}, tmp_path, (*opencl.FLAGS, define))
    # y = sum * last; last = 2 x: after x = 1, 2, 3: sums of 1 and 4 with 2, then with 2 + 4
    assert opencl.run(program).decode().split("\n")[:5] == ["0 0", "2 8", "12 24", "0 0", "0 0"]
