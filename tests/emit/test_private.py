# SPDX-License-Identifier: Apache-2.0
"""Amalgamations keep their kernels to themselves, those of templates that no step calls among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.emit import emit
from mcugen.emit.amalgamate import _Folded
from mcugen.formats import registry
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from mcugen.machines.toolchain.process import run_checked
from mcugen.options import Options
from mcugen.solve import schedule
from mcugen.solve.plan import plan
from mcugen.solve.schedule import Choice
from tests.emit.built import build_bytes
from tests.support.cases import folded as constant_part
from tests.support.cases import graph_of
from tests.support.tflite_writer import ModelWriter

SAMPLE = 40
"""Kernels, at least, that are put in one file where a sample is the rule."""


def convolution(operator: str, channels: int) -> bytes:
    """A convolution of floats with a window of three rows and a stride along them."""
    m = ModelWriter()
    x, y = m.tensor("x", (1, 6, 4, 4), "f32"), m.tensor("y", (1, 4, 2, channels), "f32")
    shape = (channels, 3, 1, 4) if operator == "CONV_2D" else (1, 3, 1, channels)
    w = m.tensor("w", shape, "f32", data=np.linspace(-1, 1, int(np.prod(shape))).reshape(shape))
    b = m.tensor("b", (channels,), "f32", data=np.ones(channels))
    m.op(operator, [x, w, b], [y], {"padding": "VALID", "stride_h": 1, "stride_w": 2} | _MULTIPLIER.get(operator, {}))
    return m.build([x], [y])


_MULTIPLIER = {"DEPTHWISE_CONV_2D": {"depth_multiplier": 1}}


@pytest.mark.parametrize("operator", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_functions_that_templates_name_are_private(operator: str, tmp_path: Path) -> None:
    built = build_bytes(convolution(operator, 4), tmp_path, board="cortex-m55", amalgamate=True, optimize="flash")
    flags = [*target.load("cortex-m55").toolchain.flags, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"]
    run_checked(["arm-none-eabi-gcc", *flags, "-I.", "-c", "model.c", "-o", "model.o"], cwd=built.folder)
    lines = run_checked(["arm-none-eabi-nm", "model.o"], cwd=built.folder).stdout.decode().splitlines()
    external = {line.split()[-1] for line in lines if line.split()[-2] in "TDBRVW"}
    assert external == {"model_run"}


def accepted(
    op: type[Op], features: frozenset[str], wanted: Callable[[Kernel], bool]
) -> Iterator[tuple[Graph, Node, Kernel]]:
    """Each kernel wanted of an operator for these features, with the first example that it takes."""
    waiting = [k for k in kernels.of(op) if k.has_code and k.needs <= features and wanted(k)]
    for example in op.examples() if waiting else ():
        if constant_part(example) is None:
            graph = graph_of(example)
            call = replace(graph.call(graph.nodes[0], "tflm"), features=features)
            for kernel in [k for k in waiting if not k.refusals(call, features)]:
                waiting.remove(kernel)
                yield graph, graph.nodes[0], kernel


def joined(parts: list[tuple[Graph, Node, Kernel]], features: frozenset[str]) -> tuple[Graph, list[Choice]]:
    """The graphs side by side, and the kernel of each node."""
    tensors: dict[str, Tensor] = {}
    nodes: list[Node] = []
    inputs: list[str] = []
    outputs: list[str] = []
    for k, (graph, node, _) in enumerate(parts):
        tensors |= {f"{k}.{n}": replace(t, name=f"{k}.{n}") for n, t in graph.tensors.items()}
        given = tuple(None if n is None else f"{k}.{n}" for n in node.inputs)
        nodes.append(replace(node, name=f"{k}", inputs=given, outputs=tuple(f"{k}.{n}" for n in node.outputs)))
        inputs += [f"{k}.{n}" for n in graph.inputs]
        outputs += [f"{k}.{n}" for n in graph.outputs]
    whole = Graph("many", tensors, tuple(nodes), tuple(inputs), tuple(outputs), format="tflite")
    calls = [replace(whole.call(node, "tflm"), features=features) for node in nodes]
    return whole, [Choice(n, c, part[2], "under test") for n, c, part in zip(nodes, calls, parts, strict=True)]


WORDS = ("fourier", "lstm_f32", "gru", "swar_direct", "fully_connected_s8__swar")
"""Parts of the names of kernels whose files once took each other's types and macros: they are the sample of a core."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "core",
    [
        "cortex-m0plus",
        "cortex-m55",
        *(pytest.param(core, marks=pytest.mark.whole) for core in ("cortex-m4", "rv32imc")),
    ],
)
def test_kernels_of_all_families_in_one_file_link_twice(core: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """No kernel takes from another what both need, and none is seen outside: two copies link into one image."""
    board, whole = target.load(core), pytestconfig.getoption("--whole")
    has_families = bool(board.features)

    def wanted(kernel: Kernel) -> bool:
        return whole or (bool(kernel.needs) if has_families else any(word in kernel.symbol for word in WORDS))

    parts = [part for op in registry.own() for part in accepted(op, board.features, wanted)]
    assert len(parts) > (SAMPLE if has_families else len(WORDS))
    parts = parts[:: 1 if whole or not has_families else len(parts) // SAMPLE]
    graph, choices = joined(parts, board.features)
    built = schedule.build(graph, choices, keep_input=True)
    options = Options(reference="tflm", amalgamate=True, keep_input=True)
    files = emit(built, plan(built.buffers()), graph, options, "one")[1]
    for path in ("one.c", "one.h"):
        (tmp_path / path).write_bytes(files[path])
    prefix, flags = board.toolchain.prefix, [*board.toolchain.flags, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O0"]
    run_checked([f"{prefix}gcc", *flags, "-I.", "-c", "one.c", "-o", "one.o"], cwd=tmp_path)
    run_checked([f"{prefix}objcopy", "--redefine-sym", "one_run=two_run", "one.o", "two.o"], cwd=tmp_path)
    run_checked([f"{prefix}gcc", *flags, "-nostdlib", "-r", "one.o", "two.o", "-o", "both.o"], cwd=tmp_path)
    lines = run_checked([f"{prefix}nm", "both.o"], cwd=tmp_path).stdout.decode().splitlines()
    assert {line.split()[-1] for line in lines if line.split()[-2] in "TDBRVW"} == {"one_run", "two_run"}


def test_headers_under_conditions_and_default_macros_are_no_guarded_ones() -> None:
    """A header that one kernel's condition leaves out is there for the next; a template is there for each."""
    text = {
        "mcugen/shared.h": "#ifndef MCUGEN_SHARED_H\n#define MCUGEN_SHARED_H\nint shared;\n#endif\n",
        "mcugen/half.h": '#if MG_HALF\n#include "mcugen/shared.h"\n#endif\n',
        "mcugen/named.h": "#ifndef MG_NAME\n#define MG_NAME other\n#endif\nstatic int step(int x)\n{\n}\n",
        "kernels/a.c": '#include "mcugen/half.h"\n#include "mcugen/named.h"\n',
        "kernels/b.c": '#include "mcugen/shared.h"\n#include "mcugen/named.h"\n',
        "kernels/c.c": '#include "mcugen/shared.h"\n#define MG_STEP step\n#include "mcugen/named.h"\n',
    }
    folded = _Folded(text, "mcugen/interface.h", ())
    first, second, third = (folded.kernel(f"kernels/{name}.c") for name in "abc")
    assert "int shared;" in first and "int shared;" in second and "int shared;" not in third
    assert "int mg_a_step(" in first and "int mg_b_step(" in second
    assert "#define MG_STEP mg_c_step\n" in third and third.endswith("#undef MG_STEP\n#undef MG_NAME\n")
