# SPDX-License-Identifier: Apache-2.0
"""Two devices, by samples and by layers: the outputs are the bytes of one device."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from mcugen import pipeline, solve
from mcugen.machines.toolchain import opencl
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.softmax import Softmax
from mcugen.options import Options
from tests.opencl.test_runs import Builder

MAIN = b"""
#include <stdio.h>
#include <string.h>
#include "net.h"
enum { SAMPLES = 4 };
static net_t a, b;
static float right[SAMPLES][NET_OUTPUT_LEN];
static void fill(net_t *m, int sample)
{
    float *const x = net_input(m);
    for (int k = 0; k < NET_INPUT_LEN; k += 1) {
        x[k] = (float)((k * 7 + sample * 13) % 31 - 15) * 0.1f;
    }
}
static int wrong(const net_t *m, int sample)
{
    return memcmp(net_output(m), right[sample], sizeof right[0]) != 0;
}
static int failed(const net_t *m)
{
    printf("%s\\n", net_text(m));
    return 1;
}
int main(void)
{
    if (net_init_on(&a, "#0") != 0 || net_init_on(&b, "#1") != 0) {
        printf("%s%s\\n", net_text(&a), net_text(&b));
        return 1;
    }
    printf("devices %s\\n", a.host.device != b.host.device ? "differ" : "same");
    for (int k = 0; k < SAMPLES; k += 1) {
        fill(&a, k);
        if (net_run(&a) != 0) {
            return failed(&a);
        }
        memcpy(right[k], net_output(&a), sizeof right[0]);
    }
    printf("samples %s\\n", memcmp(right[0], right[1], sizeof right[0]) != 0 ? "differ" : "same");
    for (int k = 0; k < SAMPLES; k += 2) {
        fill(&a, k);
        fill(&b, k + 1);
        if (net_run_async(&a) != 0 || net_run_async(&b) != 0 || net_wait(&a) != 0 || net_wait(&b) != 0) {
            return failed(&a);
        }
        printf("batch %d\\n", wrong(&a, k) + wrong(&b, k + 1));
    }
    for (uint32_t cut = 0u; cut < NET_STEPS; cut += 1u) {
        int bad = 0;
        fill(&a, 0);
        if (net_start_first(&a, cut) != 0) {
            return failed(&a);
        }
        for (int k = 0; k < SAMPLES; k += 1) {
            if (net_start_rest(&b, &a, cut) != 0) {
                return failed(&b);
            }
            if (k + 1 < SAMPLES) {
                fill(&a, k + 1);
                if (net_start_first(&a, cut) != 0) {
                    return failed(&a);
                }
            }
            if (net_wait(&b) != 0) {
                return failed(&b);
            }
            bad += wrong(&b, k);
        }
        printf("cut %u: %d\\n", (unsigned)cut, bad);
    }
    printf("beyond %d", net_start_first(&a, NET_STEPS) != 0);
    printf(" %s\\n", net_text(&a));
    net_deinit(&a);
    net_deinit(&b);
    printf("none %d\\n", net_init_on(&a, "#7") != 0);
    return 0;
}
"""


def built() -> pipeline.Artifact:
    """Two layers beside each other, written where they lie in the joined tensor, and what reads it."""
    b = Builder(1)
    b.node(MaxPool2D((3, 3), (1, 1), "SAME"), "p", 16, "x")
    b.node(DepthwiseConv2D(), "d", 16, "x", b.constant(1, 3, 3, 16), b.constant(16))
    b.node(Concatenation(3), "pd", 32, "p", "d")
    b.node(Softmax(), "y", 32, "pd")
    prepared = pipeline.prepare_graph(b.graph("y"), Options(backend="opencl"), "net")
    return pipeline.finish(prepared, solve.solve(prepared.graph, prepared.board, prepared.options))


def test_two_devices_give_the_outputs_of_one(tmp_path: Path) -> None:
    artifact = built()
    assert any(place.pitch for place in artifact.schedule.places.values())
    assert artifact.view.device is not None
    assert len(artifact.view.device.cuts) == len(artifact.schedule.steps) == 3
    files = {path: text for path, text in artifact.emitted.items() if not path.startswith("examples/")}
    define = f'-DNET_WEIGHTS_FILE="{tmp_path}/net_weights.bin"'
    program = opencl.compile_program({**files, "main.c": MAIN}, tmp_path, (*opencl.FLAGS, "-O0", define))
    environment = {**os.environ, "POCL_DEVICES": "pthread pthread", "MCUGEN_CL_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[:4] == ["devices differ", "samples differ", "batch 0", "batch 0"]
    assert lines[4:-2] == [f"cut {k}: 0" for k in range(len(artifact.schedule.steps))]
    assert lines[-2].startswith("beyond 1 there are not so many steps")
    assert lines[-1] == "none 1"
