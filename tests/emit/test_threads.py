# SPDX-License-Identifier: Apache-2.0
"""Layers in bands: the same bits for any number, whatever NAME_parallel does, and on threads without a race."""

from __future__ import annotations

import gc
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import pipeline
from mcugen.emit import sources_of
from mcugen.errors import UsageError
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve.schedule import bands

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.tflite"
SAMPLES = np.load(ROOT / "examples/digits/digits_test.npz")["inputs"][:40]


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    """The outputs of one thread."""
    return np.asarray(mcugen.load(DIGITS, board="host").run(SAMPLES))


@pytest.mark.parametrize("asked", ["0", "-1", "33", "two", "1.5", "٣"])
def test_a_number_that_is_none_is_refused(asked: str) -> None:
    with pytest.raises(UsageError, match="is not a number of threads") as caught:
        bands.asked(Options(threads=asked))
    assert "1 to 32" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("other", "flag"),
    [
        ({"input_mode": "rows"}, "--input-mode rows"),
        ({"optimize": "ram"}, "--optimize ram"),
        ({"fetch_weights": True}, "--fetch-weights"),
        ({"backend": "opencl"}, "--backend opencl"),
    ],
)
def test_options_that_divide_layers_otherwise_are_refused(other: dict[str, object], flag: str) -> None:
    with pytest.raises(UsageError, match=f"--threads contradicts {flag}"):
        bands.asked(pipeline.options_of({"threads": "2", **other}))
    assert bands.asked(pipeline.options_of({"threads": "1", **other})) == 1


def test_one_thread_is_the_build_without_the_option() -> None:
    one, plain = (mcugen.compile(DIGITS, threads=threads, no_report=True) for threads in ("1", ""))
    text = plain.emitted["digits.h"]
    assert one.emitted["digits.h"] == text and b"parallel" not in text


def test_small_layers_are_not_divided_and_a_note_says_so() -> None:
    built = mcugen.compile(ROOT / "tests/models/f32_relu.tflite", threads="2")
    assert built.schedule.bands == 1
    assert any("no layer is large enough" in note for note in built.report.notes)


def test_layers_have_as_many_bands_as_rows_or_pixels_allow() -> None:
    built = mcugen.compile(DIGITS, threads="32")
    assert [step.bands for step in built.schedule.steps] == [8, 8, 32, 1, 1, 1]
    few = mcugen.compile(DIGITS, threads="32", board="x86-64")
    assert [step.bands for step in few.schedule.steps][:3] == [8, 8, 32]


@pytest.mark.parametrize("threads", ["2", "3", "7"])
@pytest.mark.parametrize("board", ["host", "x86-64", "cortex-m55"])
def test_the_bits_are_those_of_one_thread(board: str, threads: str, expected: np.ndarray) -> None:
    if board != "host" and threads != "3":
        return
    assert np.array_equal(mcugen.load(DIGITS, board=board, threads=threads).run(SAMPLES), expected)


def test_threads_end_with_the_object() -> None:
    before = len(list(Path("/proc/self/task").iterdir()))
    model = mcugen.load(DIGITS, board="host", threads="3")
    assert len(list(Path("/proc/self/task").iterdir())) > before
    del model
    gc.collect()
    assert len(list(Path("/proc/self/task").iterdir())) == before


PARALLEL = """
#include <stdlib.h>
void digits_parallel(digits_t *m, uint32_t bands)
{
    uint32_t order[DIGITS_BANDS];
    uint32_t n = bands;
    const int way = rand() % 8;
    for (uint32_t k = 0u; k < bands; k += 1u) {
        const uint32_t at = (uint32_t)rand() % (k + 1u);
        order[k] = order[at];
        order[at] = k;
    }
    n = way == 0 ? 0u : way == 1 ? (uint32_t)rand() % bands : bands; /* returns early, with bands left over */
    for (uint32_t k = 0u; k < n; k += 1u) {
        digits_band(m, order[k]);
        if (way == 2) {
            digits_band(m, order[0]);
            digits_band(m, bands + (uint32_t)rand() % 100u);
        }
    }
}
"""
MAIN = """
#include <stdio.h>
#include <string.h>
#include "{header}"
{parallel}
static const int8_t inputs[{count}][DIGITS_INPUT_LEN] = {{
{inputs}
}};
static const int8_t outputs[{count}][DIGITS_OUTPUT_LEN] = {{
{outputs}
}};
static {type} object;
int main(void)
{{
    int wrong = 0;
    {start}
    for (int k = 0; k < {runs}; k += 1) {{
        memcpy(digits_input({model}), inputs[k % {count}], DIGITS_INPUT_SIZE);
        digits_run({model});
        wrong += memcmp(digits_output({model}), outputs[k % {count}], DIGITS_OUTPUT_SIZE) != 0;
    }}
    {stop}
    printf("%d\\n", wrong);
    return wrong != 0;
}}
"""


def _rows(values: np.ndarray) -> str:
    return ",\n".join("{" + ", ".join(map(str, row)) + "}" for row in values.reshape(len(values), -1))


def _program(built: Artifact, folder: Path, flags: list[str], expected: np.ndarray, **parts: object) -> list[str]:
    """The command of a program that runs samples and compares the outputs. parts: values of MAIN."""
    built.write(folder)
    text = MAIN.format(count=len(SAMPLES), inputs=_rows(SAMPLES), outputs=_rows(expected), **parts)
    (folder / "program.c").write_text(text)
    sources = ["program.c", *sources_of(built.emitted), *([] if parts["parallel"] else ["examples/digits_threads.c"])]
    subprocess.run(["gcc", "-std=c99", *flags, "-I.", *sources, "-o", "program"], cwd=folder, check=True)
    return [str(folder / "program")]


def test_bands_in_any_order_repeated_or_left_out_have_the_same_bits(tmp_path: Path, expected: np.ndarray) -> None:
    """10,000 runs; a callback that returns early leaves bands to the model, which computes them."""
    built = mcugen.compile(DIGITS, board="host", threads="7", name="digits")
    parts = {"header": "digits.h", "parallel": PARALLEL, "type": "digits_t", "model": "&object"}
    warnings = ["-O2", "-Wall", "-Wextra", "-Werror"]
    command = _program(built, tmp_path, warnings, expected, runs=10_000, start="srand(1);", stop="", **parts)
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "0\n"


def test_threads_have_no_race(tmp_path: Path, expected: np.ndarray) -> None:
    """The threads of examples/digits_threads.c under the thread sanitizer."""
    built = mcugen.compile(DIGITS, board="x86-64", threads="3", name="digits")
    parts = {"header": "examples/digits_threads.h", "parallel": "", "type": "digits_pool_t", "model": "&object.model"}
    ends = {"start": "if (digits_pool_start(&object) != 3u) { return 2; }", "stop": "digits_pool_stop(&object);"}
    flags = ["-O1", "-g", "-fsanitize=thread", "-pthread", "-Wall", "-Wextra", "-Werror"]
    command = _program(built, tmp_path, flags, expected, runs=100, **parts, **ends)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


CORES = """
#include <pthread.h>
#include <stdint.h>
/* The two queues between the cores of a chip, on threads of a computer: each holds one word. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t words[2];
static int filled[2];
static pthread_t second;
static int on_second(void) { return pthread_equal(pthread_self(), second) != 0; }
static void multicore_fifo_push_blocking(uint32_t word)
{
    const int to = !on_second();
    pthread_mutex_lock(&lock);
    while (filled[to]) { pthread_cond_wait(&changed, &lock); }
    words[to] = word;
    filled[to] = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
static uint32_t multicore_fifo_pop_blocking(void)
{
    const int from = on_second();
    pthread_mutex_lock(&lock);
    while (!filled[from]) { pthread_cond_wait(&changed, &lock); }
    const uint32_t word = words[from];
    filled[from] = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return word;
}
static void *started(void *entry) { ((void (*)(void))entry)(); return NULL; }
static void multicore_launch_core1(void (*entry)(void))
{
    pthread_mutex_lock(&lock); /* the new thread waits until `second` names it */
    pthread_create(&second, NULL, started, (void *)entry);
    pthread_mutex_unlock(&lock);
}
"""


def test_the_pages_example_for_a_second_core_computes_the_same(tmp_path: Path, expected: np.ndarray) -> None:
    """The C of docs/run.md with the queues of the chip's cores on threads; once with an odd number of bands."""
    page = (ROOT / "docs/run.md").read_text(encoding="utf-8")
    block = (
        page[page.index('#include "net.h"') :]
        .partition("```")[0]
        .replace("net_", "digits_")
        .replace("net.h", "digits.h")
    )
    (tmp_path / "pico").mkdir()
    (tmp_path / "pico/multicore.h").write_text(CORES)
    for threads in ("2", "3"):
        built = mcugen.compile(DIGITS, board="raspberry-pi-pico", threads=threads, name="digits")
        parallel = f"#define main main_of_the_chip\n{block}#undef main\n"
        parts = {"header": "digits.h", "parallel": parallel, "type": "int", "model": "&model"}
        ends = {"start": "(void)object; multicore_launch_core1(second_core);", "stop": ""}
        flags = ["-O2", "-I..", "-pthread", "-Wall"]
        command = _program(built, tmp_path / threads, flags, expected, runs=40, **parts, **ends)
        assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "0\n"


def test_objects_of_one_model_have_threads_of_their_own(expected: np.ndarray) -> None:
    models = [mcugen.load(DIGITS, board="host", threads="2") for _ in range(2)]
    found: list[np.ndarray | None] = [None, None]

    def compute(k: int) -> None:
        found[k] = np.asarray(models[k].run(SAMPLES))

    users = [threading.Thread(target=compute, args=(k,)) for k in range(2)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert all(np.array_equal(outputs, expected) for outputs in found)
