"""Models that run in this process: equal to verify's outputs, whatever form the input has."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import ToolError, UsageError
from mcugen.machines.native import Model
from mcugen.machines.toolchain import host_gcc
from mcugen.verify.cases import cases
from mcugen.verify.runs import runs_of
from tests.machines.native.sides import differ, outputs
from tests.states.graphs import accumulator, built

ROOT = Path(__file__).resolve().parents[3]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
MODES = {
    "whole": DIGITS,
    "rows": DIGITS,
    "frames": ROOT / "examples" / "microphone" / "sweeps.tflite",
}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of the module's own."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def digits() -> Model:
    return mcugen.load(DIGITS)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
def test_outputs_are_the_reference_s_in_every_mode(mode: str) -> None:
    """Pushed part by part, and whole, as `run` takes images and windows in every mode."""
    artifact = mcugen.compile(MODES[mode], input_mode=mode, name="model")
    for case in list(cases(artifact.imported, 2)):
        runs = runs_of(artifact, case)
        wanted = [[run.oracle[name] for name in artifact.imported.outputs] for run in runs]
        for got, values in zip(outputs(artifact, artifact.load(), runs), wanted, strict=True):
            assert not differ(values, got)
        assert np.array_equal(artifact.run(*runs[0].inputs), wanted[0][0])
    if mode != "whole":
        model = artifact.load()
        take = model.push_row if mode == "rows" else model.push_frame
        with pytest.raises(UsageError, match="does not fit the"):
            take(runs[0].inputs[0])
        part = runs[0].inputs[0][0, 0]
        with pytest.raises(UsageError, match="is not numeric"):
            take(np.full(part.shape, "x"))
        take(part)
        assert np.array_equal(model.run(*runs[0].inputs), wanted[0][0])  # whatever was pushed before


def test_floats_are_quantized_as_the_header_does(digits: Model) -> None:
    (end,) = digits.inputs
    stored = np.arange(-128, 128).astype(np.int8)[:64].reshape(1, 8, 8, 1)
    real = (stored.astype(np.float32) - end.zero_point) * np.float32(end.scale)
    y, q = digits.run(real), digits.run(stored)
    assert y.dtype == np.float32 and q.dtype == np.int8
    (out,) = digits.outputs
    assert np.array_equal(y, (q.astype(np.int32) - out.zero_point) * np.float32(out.scale))
    assert np.array_equal(digits.run(stored, real=True), y) and np.array_equal(digits.run(real, real=False), q)
    assert np.array_equal(digits.run({end.name: stored.tolist()}), q)


def test_one_axis_counts_samples(digits: Model) -> None:
    x = np.random.default_rng(0).integers(-128, 128, (5, 8, 8, 1), np.int8)
    y = digits.run(x)
    assert y.shape == (5, 10)
    assert np.array_equal(digits.run(x[:, None])[:, 0], y)
    assert np.array_equal(digits.run(x[2]), y[2:3]) and np.array_equal(digits.run(x[2:3]), y[2:3])
    assert digits.run(x[:0]).shape == (0, 10)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.zeros((8, 8)), r"give \[1, 8, 8, 1\], or \[n, 8, 8, 1\]"),
        (np.full((8, 8, 1), 200), "values 200..200 do not fit int8"),
        (np.full((8, 8, 1), "x"), "not numeric"),
        (np.full((8, 8, 1), np.nan), "a value is nan, no finite number"),
        (np.full((8, 8, 1), 1e40), "a value is 1e+40, beyond float32"),
        (np.append(np.zeros(63), -np.inf).reshape(8, 8, 1), "a value is -inf, no finite number"),
        ({"picture": np.zeros((8, 8, 1))}, "the inputs are"),
    ],
)
def test_what_does_not_fit_is_refused(digits: Model, value: object, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        digits.run(value)
    assert says.replace("\\", "") in caught.value.explain()
    with pytest.raises(UsageError, match="2 inputs given"):
        digits.run(value, value)
    with pytest.raises(UsageError, match="does not take rows"):
        digits.push_row(np.zeros(8))


def test_states_go_on_until_a_reset() -> None:
    artifact = built(accumulator("s8"))
    model, other = artifact.load(), artifact.load()
    x = np.random.default_rng(1).integers(-128, 128, (4, *model.inputs[0].shape[1:])).astype(model.inputs[0].dtype)
    together = model.run(x)
    assert np.array_equal([other.run(row[None])[0] for row in x], together)
    assert not np.array_equal(model.run(x), together)
    model.reset()
    assert np.array_equal(model.run(x), together)


def test_threads_with_an_object_each_do_not_meet() -> None:
    artifact = mcugen.compile(DIGITS)
    x = np.random.default_rng(2).integers(-128, 128, (4, 500, 8, 8, 1)).astype(np.int8)
    wanted = [artifact.run(part) for part in x]
    found: dict[int, np.ndarray] = {}
    threads = [threading.Thread(target=lambda k=k: found.update({k: artifact.load().run(x[k])})) for k in range(len(x))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[k], wanted[k]) for k in range(len(x)))


def test_ten_thousand_runs_are_one_call() -> None:
    model = built(accumulator("s8")).load()
    x = np.zeros((10_000, *model.inputs[0].shape[1:]), model.inputs[0].dtype)
    started = time.process_time()
    model.run(x)
    assert time.process_time() - started < 0.2


def test_the_cache_is_used_and_mended(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = mcugen.compile(ROOT / "tests" / "models" / "f32_relu.tflite", name="cached")
    artifact.load()
    newest = max((cache / "mcugen").glob("*.so"), key=os.path.getmtime)
    assert newest.stat().st_size > 1000 and not list((cache / "mcugen").glob("*.[!s]*"))
    with monkeypatch.context() as patch:
        patch.setattr(host_gcc, "compile_program", lambda *a, **k: pytest.fail("compiled again"))
        artifact.load()
    whole = newest.read_bytes()
    for damaged in (b"damaged", whole[: len(whole) // 2]):
        newest.unlink()  # what was loaded stays mapped
        newest.write_bytes(damaged)
        artifact.load()
        assert newest.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mcugen").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert mcugen.load(ROOT / "tests" / "models" / "f32_relu.tflite").inputs


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    host_gcc.version.cache_clear()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ToolError, match="gcc is not installed"):
        mcugen.load(DIGITS)


def test_a_model_is_not_handed_to_another_process(digits: Model) -> None:
    for hand_over in (pickle.dumps, copy.deepcopy):
        with pytest.raises(UsageError, match="cannot be sent to another process"):
            hand_over(digits)


def test_a_model_says_in_a_line_what_it_is(digits: Model) -> None:
    assert repr(digits) == "<Model digits: int8 [1, 8, 8, 1] -> int8 [1, 10]>"
