# SPDX-License-Identifier: Apache-2.0
"""A retrained model in the ranges of the one before: its weights run in the code that is in the field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mcugen.boards import target
from mcugen.cli import cli
from mcugen.errors import UsageError
from mcugen.formats import registry, write
from mcugen.formats.read import load
from mcugen.ir.graph import Graph
from mcugen.machines.toolchain import cross, qemu
from mcugen.ops.add import Add
from mcugen.quantize.noise import decibels, powers
from mcugen.quantize.older import read
from mcugen.quantize.stored_integers import stored_inputs, to_real
from mcugen.quantize.walk import outputs
from tests.quantize.net_builder import Builder

SAMPLES = np.random.default_rng(5).normal(0, 1, (12, 6, 6, 2)).astype(np.float32)
MAIN = """
#include <string.h>
#include "{name}.h"
static const MCUGEN_ALIGNED(8) uint8_t block[] = {{{block}}};
static const int8_t in[] = {{{given}}}, wanted[] = {{{wanted}}};
static {name}_t m;
int main(void)
{{
    if ({name}_load(&m, block, sizeof block) != 0) {{
        return 1;
    }}
    memcpy({name}_input(&m), in, sizeof in);
    {name}_run(&m);
    return memcmp({name}_output(&m), wanted, sizeof wanted) == 0 ? 0 : 2;
}}
"""


def net(**stem: str) -> Graph:
    """Convolutions, a sum of two branches that look alike, and a fully connected layer."""
    build = Builder("wake", SAMPLES, 3, "image")
    v = build.conv(build.input, 8, (3, 3), "stem", **{"activation": "RELU", **stem})
    v = build.depthwise(v, (3, 3), "spread", activation="RELU")
    left, right = (build.conv(v, 12, (1, 1), name, activation="RELU") for name in ("left", "right"))
    v = build.mean(build.node(Add("NONE"), (left, right), "both"), (1, 2), "mean")
    return build.graph(build.project(v, 4, "scores"))


def retrained(graph: Graph) -> Graph:
    """The network with other weights: all moved, one channel turned off, and channels that grew and shrank."""
    rng = np.random.default_rng(9)
    found = dict(graph.tensors)
    for name, t in graph.tensors.items():
        if t.data is not None:
            data = t.data + rng.normal(0, 0.03 * float(t.data.std()), t.type.shape).astype(np.float32)
            if t.label.startswith("stem/"):
                data[3] = -1 if t.label == "stem/b" else 0
            found[name] = replace(t, data=data.astype(np.float32))
    return replace(graph, tensors=found)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def results(model: Path) -> tuple[Graph, np.ndarray, np.ndarray]:
    """A quantized model, the samples as it takes them, and its results."""
    graph = load(model, registry.load(()))
    given = stored_inputs(graph, [SAMPLES[:, None]])
    return graph, given[0], outputs(graph, "tflm", given)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """wake.onnx, its quantization wake.tflite with the build of it in out/, and new.tflite, the network retrained."""
    path = tmp_path_factory.mktemp("older")
    graph = net()
    np.save(path / "data.npy", SAMPLES)
    (path / "first.tflite").write_bytes(write.write(graph, "tflite"))
    (path / "new.tflite").write_bytes(write.write(retrained(graph), "tflite"))
    run("quantize", path / "first.tflite", "--data", path / "data.npy", "--jobs", 1, "-o", path / "wake.tflite")
    run("build", path / "wake.tflite", "--board", "cortex-m4", "--weights-blob", "--export", "none", "-o", path / "out")
    return path


@pytest.mark.sampled(2)
@pytest.mark.parametrize("data", [(), ("--data", "data.npy", "--jobs", "1")])
def test_retrained_weights_run_in_the_code_of_before(folder: Path, tmp_path: Path, data: tuple[str, ...]) -> None:
    given = [str(folder / d) if d.endswith("npy") else d for d in data]
    made = tmp_path / "again.tflite"
    run("quantize", folder / "new.tflite", "--ranges-of", folder / "wake.tflite", "-o", made, *given)
    run("pack", made, "--build", folder / "out", "-o", tmp_path / "new.blob", "--version", 2)
    graph, stored, wanted = results(made)
    assert (wanted != results(folder / "wake.tflite")[2]).mean() > 0.3
    real = outputs(retrained(net()), "tflm", [SAMPLES[:, None]])
    noise = decibels(powers(real, (to_real(wanted, graph.type(graph.outputs[0])),)).sum(axis=1))
    assert noise > 25, noise
    parts = {
        "block": (tmp_path / "new.blob").read_bytes(),
        "given": stored[1].reshape(-1),
        "wanted": wanted[1].reshape(-1),
    }
    texts = {key: ",".join(str(int(v)) for v in part) for key, part in parts.items()}
    (tmp_path / "main.c").write_text(MAIN.format(name="wake", **texts))
    core = target.load("cortex-m4")
    sources = [file for file in (folder / "out").rglob("*.c") if "examples" not in file.parts]
    image = cross.build_image(core, [*sources, tmp_path / "main.c"], [folder / "out"], tmp_path / "image")
    assert qemu.run_image(image, core, cwd=tmp_path, count=False).exit_code == 0


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (net(activation="NONE"), "stem: Conv2D here, Conv2D with RELU in wake.tflite"),
        (net(stride=(2, 2)), "stem: shape 1x3x3x8 here, 1x6x6x8 in wake.tflite"),
    ],
)
def test_the_first_layer_that_differs_is_named(folder: Path, new: Graph, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(folder / "wake.tflite", new)


def test_branches_that_look_alike_are_told_apart_by_name(folder: Path) -> None:
    graph = net()
    nodes = {graph.tensors[node.outputs[0]].label: node for node in graph.nodes}
    order = [nodes[label] for label in ("stem", "spread", "right", "left", "both", "mean", "scores")]
    found = read(folder / "wake.tflite", replace(graph, nodes=tuple(order)))
    straight = read(folder / "wake.tflite", graph)
    assert found.stored == straight.stored
    assert len({found.stored[nodes[label].outputs[0]].quant for label in ("left", "right")}) == 2


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--io", "float"), "--io: wake.tflite determines this value"),
        (("--method", "min-max"), "--method: this option needs samples"),
        (("-o", "again.onnx"), "different formats"),
    ],
)
def test_options_that_do_not_go_with_an_older_model(folder: Path, flags: tuple[str, ...], message: str) -> None:
    given = [folder / "new.tflite", "--ranges-of", folder / "wake.tflite", "-o", folder / "no.tflite", *flags]
    done = CliRunner().invoke(cli, ["quantize", *map(str, given)])
    assert isinstance(done.exception, UsageError) and message in done.exception.explain()
    done = CliRunner().invoke(cli, ["quantize", str(folder / "new.tflite"), "-o", str(folder / "no.tflite")])
    assert isinstance(done.exception, UsageError) and "no samples" in done.exception.explain()
