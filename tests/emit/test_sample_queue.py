# SPDX-License-Identifier: Apache-2.0
"""The queue of a stream of samples: what an interrupt or another thread puts at any time, the task takes in order."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from mcugen.emit import sources_of
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.machines.toolchain import cross, qemu
from mcugen.machines.toolchain.process import run_checked
from mcugen.options import Options
from mcugen.oracle.streaming import pushes
from mcugen.pipeline import Artifact
from mcugen.verify import c_checks
from tests.emit.built import WARNINGS, Built
from tests.emit.test_sample_stream import ROWS, WINDOWS, of_stream

COUNT = 2000
SAMPLE = "(int8_t)(uint8_t)((i * i + 7u * i) >> 3)"
I = np.arange(COUNT, dtype=np.uint32)  # noqa: E741
SAMPLES = ((I * I + 7 * I) >> 3).astype(np.uint8).view(np.int8)

START = """
#include <stdbool.h>
#include "net.h"
static net_t m;
static volatile uint32_t put, refused;

/* Puts samples of the signal: what the queue refuses comes again. */
static void put_some(uint32_t n)
{
    int8_t x[64];
    const uint32_t left = COUNT - put;
    n = n < left ? n : left;
    for (uint32_t k = 0u; k < n; k += 1u) {
        const uint32_t i = put + k;
        x[k] = SAMPLE;
    }
    const uint32_t accepted = net_put(&m, x, n);
    refused += n - accepted;
    put += accepted;
}
"""
THREAD = """
#include <pthread.h>
static void *produce(void *unused)
{
    for (uint32_t k = 0u; put < COUNT; k += 1u) {
        put_some(k * k % 41u);
    }
    return unused;
}
static void begin(void)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, produce, NULL);
}
"""
SIGNAL = """
#include <signal.h>
#include <sys/time.h>
static void produce(int number)
{
    static uint32_t k;
    (void)number;
    k += 1u;
    put_some(k * k % 41u);
}
static void begin(void)
{
    const struct itimerval often = { { 0, 20 }, { 0, 20 } };
    (void)signal(SIGALRM, produce);
    (void)setitimer(ITIMER_REAL, &often, NULL);
}
"""
MAIN = """
#include <stdio.h>
int main(void)
{
    bool all = false;
    if (net_put(&m, (const int8_t *)"abc", 3u) != 0u) {
        return 1; /* nothing is taken before the reset */
    }
    net_reset(&m);
    begin();
    while (!all) {
        all = put == COUNT;
        while (net_take(&m) > 0u) {
            fwrite(net_output(&m), NET_OUTPUT_SIZE, 1u, stdout);
        }
    }
    const uint32_t lost = net_lost(&m);
    net_reset(&m);
    return lost > 0u && lost == refused && net_lost(&m) == 0u ? 0 : 2;
}
"""
CORE = """
#include "semihost.h"
#define REG(address) (*(volatile uint32_t *)(address))
static void produce(void)
{
    static uint32_t k;
    k += 1u;
    put_some(k * k % 41u);
}
int main(void)
{
    static __attribute__((aligned(128))) void (*vectors[16])(void);
    void (*const *const table)(void) = (void (*const *)(void))REG(0xE000ED08u);
    const int out = sim_open_write("out.bin");
    bool all = false;
    for (uint32_t k = 1u; k < 16u; k += 1u) {
        vectors[k] = k < 15u ? table[k] : produce;
    }
    net_reset(&m);
    REG(0xE000ED08u) = (uint32_t)vectors;
    REG(0xE000E014u) = 999u; /* SysTick every 1,000 cycles */
    REG(0xE000E018u) = 0u;
    REG(0xE000E010u) = 7u;
    while (!all) {
        all = put == COUNT;
        while (net_take(&m) > 0u) {
            sim_write(out, net_output(&m), NET_OUTPUT_SIZE);
        }
    }
    REG(0xE000E010u) = 0u;
    sim_close(out);
    return net_lost(&m) == refused ? 0 : 2;
}
"""


def decided(artifact: Artifact) -> bytes:
    """The outputs of all decisions about the signal."""
    assert artifact.imported.stream is not None
    pieces = np.split(SAMPLES, range(0, COUNT, artifact.imported.stream.hop))
    results = pushes(artifact.imported, pieces, "tflm")
    return b"".join(push.values[artifact.imported.outputs[0]].tobytes() for push in results if push.decisions)


def queued(graph: Graph, hop: int, queue: int, **choices: object) -> Artifact:
    return of_stream(graph, hop, queue=str(queue), **choices)


@pytest.mark.parametrize(("graph", "hop", "producer"), [(ROWS, 2, THREAD), (WINDOWS, 9, SIGNAL)])
def test_what_is_put_at_any_time_is_decided_in_order(tmp_path: Path, graph: Graph, hop: int, producer: str) -> None:
    artifact = queued(graph, hop, 24)
    artifact.write(tmp_path)
    assert artifact.view.samples is not None and artifact.view.samples.slots == 28  # 24 and a free one, in whole words
    flags = [*WARNINGS, "-std=gnu99", "-O2", "-pthread", f"-DCOUNT={COUNT}u", f"-DSAMPLE={SAMPLE}"]
    program = Built(tmp_path, artifact).program(flags, START + producer + MAIN)
    assert run_checked([program]).stdout == decided(artifact)


def test_systick_puts_on_an_emulated_core(tmp_path: Path) -> None:
    artifact = queued(WINDOWS, 9, 64, board="cortex-m4")
    artifact.write(tmp_path)
    (tmp_path / "main.c").write_text(START + CORE)
    sources = [tmp_path / path for path in (*sources_of(artifact.emitted), "main.c")]
    defines = [f"COUNT={COUNT}u", f"SAMPLE={SAMPLE}"]
    image = cross.build_image(artifact.target, sources, [tmp_path], tmp_path / "image", defines=defines)
    qemu.run_image(image, artifact.target, cwd=tmp_path, count=False)
    assert (tmp_path / "out.bin").read_bytes() == decided(artifact)


def test_exactly_the_samples_that_do_not_fit_are_lost(tmp_path: Path) -> None:
    artifact = queued(ROWS, 5, 24)  # room for 27; a decision takes 15
    artifact.write(tmp_path)
    driver = """
#include "net.h"
static net_t m;
static bool decides(uint32_t decisions, uint32_t lost)
{
    return net_take(&m) == decisions && net_lost(&m) == lost;
}
static bool accepts(uint32_t n, uint32_t accepted, uint32_t lost)
{
    static const int8_t x[100];
    return net_put(&m, x, n) == accepted && net_lost(&m) == lost;
}
int main(void)
{
    if (!accepts(9u, 0u, 0u) || !decides(0u, 0u)) {
        return 1; /* before the first reset, which the take makes */
    }
    if (!accepts(100u, 27u, 73u) || !accepts(3u, 0u, 76u) || !accepts(0u, 0u, 76u)) {
        return 2; /* full */
    }
    if (!decides(1u, 76u) || !accepts(15u, 15u, 76u) || !accepts(1u, 0u, 77u)) {
        return 3; /* the samples of one decision make room, across the end of the queue */
    }
    if (!decides(1u, 77u) || !decides(0u, 77u) || !accepts(28u, 27u, 78u)) {
        return 4; /* empty: the window has the last samples */
    }
    net_reset(&m);
    return accepts(27u, 27u, 0u) && accepts(2u, 0u, 2u) && decides(1u, 2u) && decides(0u, 2u) ? 0 : 5;
}
"""
    program = Built(tmp_path, artifact).program(WARNINGS, f"#include <stdbool.h>{driver}")
    assert subprocess.run([program], check=False).returncode == 0


def test_a_queue_that_cannot_be() -> None:
    with pytest.raises(UsageError, match="--queue is for --input-mode samples"):
        Options(queue="160")
    with pytest.raises(UsageError, match="--queue '0' is not a number of samples"):
        Options(input_mode="samples", queue="0")


def test_the_object_holds_the_queue(tmp_path: Path) -> None:
    plain, artifact = of_stream(ROWS, 5), queued(ROWS, 5, 100)
    more = 4 * 4 + 104  # counters, and the queue
    assert abs(artifact.report.ram_bytes - plain.report.ram_bytes - more) < 16  # objects are aligned to 16 bytes
    assert "--queue 100" in artifact.files["net.c"].decode()
    artifact.write(tmp_path)
    assert not c_checks.violations(artifact, tmp_path)
    driver = '#include "net.h"\nint main(void) { return sizeof(net_t) == NET_ARENA_SIZE && NET_QUEUE == 103 ? 0 : 1; }'
    assert subprocess.run([Built(tmp_path, artifact).program(driver=driver)], check=False).returncode == 0
