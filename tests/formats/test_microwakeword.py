# SPDX-License-Identifier: Apache-2.0
"""Descriptions of wake words: the features, decisions and errors that follow from them."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import pipeline, solve
from mcugen.errors import CorruptModelError, McugenError, UnsupportedError, UsageError
from mcugen.formats.microwakeword import read
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.samples import microfrontend
from mcugen.verify import emulated, host
from mcugen.verify.cases import Case, cases
from tests.support.tflite_writer import ModelWriter

FEATURES = {"scale": 0.10196, "zero_point": -128}


def write_network(path: Path, shape: tuple[int, ...] = (1, 3, 40), dtype: str = "s8", **quant: float) -> None:
    """A network whose probability rises with the energy of the sound."""
    quant = quant or FEATURES
    m, size = ModelWriter(), int(np.prod(shape))
    x = m.tensor("rows", shape, dtype, **quant)
    flat = m.tensor("flat", (1, size), dtype, **quant)
    m.op("RESHAPE", [x], [flat], {"new_shape": (1, size)})
    w = m.tensor("w", (1, size), dtype, scale=0.0005, data=np.full((1, size), 100))
    b = m.tensor("b", (1,), "s32", scale=0.0005 * quant["scale"], data=np.array([-20.0 / (0.0005 * quant["scale"])]))
    sums = m.tensor("sums", (1, 1), dtype, scale=0.2, zero_point=0)
    m.op("FULLY_CONNECTED", [flat, w, b], [sums], {})
    p = m.tensor("p", (1, 1), dtype, scale=2.0**-8, zero_point=-128)
    m.op("LOGISTIC", [sums], [p])
    y = m.tensor("probability", (1, 1), "u8", scale=2.0**-8, zero_point=0)
    m.op("QUANTIZE", [p], [y])
    path.write_bytes(m.build([x], [y]))


def described(folder: Path, version: int = 2, micro: dict[str, Any] | None = None, **more: Any) -> Path:
    """A description beside a network."""
    value = {"probability_cutoff": 0.9, "tensor_arena_size": 9000}
    size = "sliding_window_size" if version == 2 else "sliding_window_average_size"
    value |= {size: 5, **({"feature_step_size": 10} if version == 2 else {}), **(micro or {})}
    whole = {"type": "micro", "wake_word": "hum", "model": "net.tflite", "version": version, "micro": value, **more}
    path = folder / "hum.json"
    path.write_text(json.dumps({key: item for key, item in whole.items() if item is not None}))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_network(tmp_path / "net.tflite")
    return tmp_path


@pytest.mark.parametrize("version", [1, 2])
def test_every_tensor_equals_the_oracle_s(folder: Path, version: int) -> None:
    artifact = mcugen.compile(described(folder, version))
    stream = artifact.imported.stream
    assert stream is not None and (stream.hop, stream.stride) == ({1: 320, 2: 160}[version], 3)
    assert host.verify(artifact, list(cases(artifact.imported, 1))[:2]).exact
    assert "#define HUM_RATE 16000" in artifact.files["hum.h"].decode()
    assert artifact.report.command.startswith("mcugen build MODEL.json ")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("core", ["cortex-m55", "cortex-m4", "cortex-m0plus"])
def test_emulated_cores_give_the_same(folder: Path, core: str) -> None:
    """The samples are quiet but for some of -32768, which the library scales as if they were not there."""
    artifact = mcugen.compile(described(folder), board=core, optimize="speed")
    rng = np.random.default_rng(3)
    quiet = np.where(rng.random((1, 480)) < 0.02, -32768, rng.integers(-400, 400, (1, 480))).astype(np.int16)
    found = emulated.simulate(artifact, [Case("quiet", [quiet], ([np.roll(quiet, 31)],))])
    assert found.agrees and found.repeatable


def hums() -> np.ndarray:
    """Four seconds of faint noise with two hums of half a second, the second of which is repeated at once."""
    rng, n = np.random.default_rng(5), 64_000
    sound = rng.normal(0, 30, n)
    tone = 12_000 * np.sin(np.arange(8000) * 0.35) + rng.normal(0, 4000, 8000)
    for at in (4000, 24_000, 34_000, 52_000):
        sound[at : at + 8000] += tone
    return np.clip(sound, -32768, 32767).astype(np.int16)


@pytest.mark.parametrize("version", [1, 2])
def test_decisions_are_those_of_the_component(folder: Path, version: int) -> None:
    """The rules of the component, restated one probability at a time."""
    artifact = mcugen.compile(described(folder, version, {"probability_cutoff": 0.6}))
    model, hop = artifact.load(), {1: 320, 2: 160}[version]
    recent, held, detections, steps = [0] * 5, -{1: 74, 2: 100}[version], 0, 0
    for piece in np.array_split(hums(), np.arange(hop, 64_000, hop)):
        new, outputs = model.push_samples(piece, real=False)
        if not new:
            continue
        probability, detected = (int(np.asarray(o).reshape(-1)[0]) for o in outputs or ())
        recent, held, steps = [*recent[1:], probability], min(held + 3, 0), steps + 1
        if version == 2:
            wanted = held == 0 and sum(recent) > int(0.6 * 255) * 5
        else:
            wanted = held == 0 and np.float32(sum(recent)) / np.float32(5 * 255) > np.float32(0.6)
        assert detected == wanted
        if wanted:
            recent, held, detections = [0] * 5, -{1: 74, 2: 100}[version], detections + 1
    assert steps == (64_000 - 480) // hop // 3 + (((64_000 - 480) // hop + 1) % 3 == 0)
    assert 1 <= detections <= 3


def front_end() -> Artifact:
    graph = microfrontend.graph(microfrontend.library(), 160, "tflite")
    model = pipeline.prepare_graph(graph, Options(input_mode="samples", hop="160"), "front")
    return pipeline.finish(model, solve.solve(model.graph, model.board, model.options))


def test_features_are_those_of_the_library() -> None:
    """The hash is that of pymicro-features 2.0.2 on the same samples, with -32768 among small and among large ones."""
    rng, n = np.random.default_rng(40), 8000
    quiet = np.where(rng.random(n) < 0.01, -32768, rng.integers(-300, 300, n))
    sound = np.concatenate([quiet, rng.integers(-32768, 32767, n, endpoint=True)]).astype(np.int16)
    model, rows = front_end().load(), []
    for at in range(0, sound.size, 160):
        new, outputs = model.push_samples(sound[at : at + 160], real=False)
        rows += [np.asarray(outputs)] if new else []
    assert len(rows) == 98
    assert hashlib.sha256(np.concatenate(rows).tobytes()).hexdigest()[:16] == "cfe307a9452e5bf2"


@pytest.mark.parametrize(("name", "digest"), [("library", "daf13f192bd94875"), ("operators", "97abab6db55b8658")])
def test_tables_are_the_recorded_ones(name: str, digest: str) -> None:
    tables = getattr(microfrontend, name)()
    data = b"".join(a.astype("<i2").tobytes() for a in (tables.window, *tables.bank, tables.gains))
    assert hashlib.sha256(data).hexdigest()[:16] == digest


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"model": None}, "`model` must be the path"),
        ({"model": "../net.tflite"}, "lies outside the folder"),
        ({"model": "/net.tflite"}, "`model` must be the path"),
        ({"model": "https://example.org/net.tflite"}, "`model` must be the path"),
        ({"model": "other.tflite"}, "'other.tflite' is not in the folder of the description"),
        ({"version": 3}, "version 3 of the description"),
        ({"version": None}, "version None of the description"),
        ({"micro": {"probability_cutoff": 1.1}}, "from 0 to 1, not 1.1"),
        ({"micro": {"probability_cutoff": -0.1}}, "from 0 to 1, not -0.1"),
        ({"micro": {"probability_cutoff": "0.9"}}, "from 0 to 1, not '0.9'"),
        ({"micro": {"sliding_window_size": 0}}, "`sliding_window_size` must be a whole number from 1"),
        ({"micro": {"feature_step_size": 31}}, "`feature_step_size` must be a whole number from 1 to 30"),
    ],
)
def test_descriptions_that_cannot_be(folder: Path, changes: dict[str, Any], fault: str) -> None:
    path = described(folder, micro=changes.get("micro"))
    whole = json.loads(path.read_text()) | {k: v for k, v in changes.items() if k != "micro"}
    path.write_text(json.dumps({key: item for key, item in whole.items() if item is not None}))
    with pytest.raises((CorruptModelError, UnsupportedError, UsageError)) as error:
        mcugen.compile(path)
    assert fault in error.value.explain()


@pytest.mark.parametrize(("name", "hop"), [("microwakeword", 160), ("micro_speech", 320)])
def test_front_ends_by_name(folder: Path, name: str, hop: int) -> None:
    artifact = mcugen.compile(folder / "net.tflite", preprocess=name)
    stream = artifact.imported.stream
    assert stream is not None and (stream.hop, stream.stride, stream.rate) == (hop, 1, 16_000)
    assert artifact.load().push_samples(hums()[:8000], real=False)[0] == (8000 - 480) // hop + 1 - 2
    with pytest.raises(UsageError, match=f"--raw contradicts --preprocess {name}"):
        mcugen.compile(folder / "net.tflite", preprocess=name, raw="480:s16@8000")
    write_network(folder / "net.tflite", scale=0.2, zero_point=-128)
    with pytest.raises(UnsupportedError, match=r"'rows' is s8 \[1, 3, 40\] \(scale 0.2.*features are s8"):
        mcugen.compile(folder / "net.tflite", preprocess=name)


@pytest.mark.parametrize("mode", ["rows", "frames"])
def test_other_input_modes_are_refused(folder: Path, mode: str) -> None:
    with pytest.raises(UsageError, match=f"--input-mode {mode} contradicts the front end"):
        mcugen.compile(described(folder), input_mode=mode)  # type: ignore[arg-type]


def test_another_rate_is_refused(folder: Path) -> None:
    assert mcugen.compile(described(folder), input_mode="samples", rate="16k").imported.stream is not None
    with pytest.raises(UsageError, match="--rate 8k contradicts the front end"):
        mcugen.compile(described(folder), input_mode="samples", rate="8k")


def test_a_link_does_not_leave_the_folder(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "net.tflite").symlink_to(folder / "net.tflite")
    with pytest.raises(CorruptModelError, match="outside the folder"):
        mcugen.compile(described(inner))


@pytest.mark.parametrize(
    ("shape", "dtype", "quant"),
    [
        ((1, 3, 40), "s8", {"scale": 0.2, "zero_point": -128}),
        ((1, 3, 40), "s8", {"scale": 0.10196, "zero_point": 0}),
        ((1, 3, 39), "s8", FEATURES),
        ((1, 3, 40), "s16", {"scale": 0.10196, "zero_point": 0}),
    ],
)
def test_a_network_of_other_features_is_refused(
    tmp_path: Path, shape: tuple[int, ...], dtype: str, quant: dict[str, float]
) -> None:
    m = ModelWriter()
    x, y = m.tensor("rows", shape, dtype, **quant), m.tensor("out", (1, shape[1] * shape[2]), dtype, **quant)
    m.op("RESHAPE", [x], [y], {"new_shape": (1, shape[1] * shape[2])})
    (tmp_path / "net.tflite").write_bytes(m.build([x], [y]))
    message = rf"'rows' is {dtype}.*but features are s8 \[1, rows, 40\] with a scale"
    with pytest.raises(UnsupportedError, match=message) as error:
        mcugen.compile(described(tmp_path))
    assert "trained with the features of this front end" in error.value.hint


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.whole)])
def test_mutated_descriptions_are_read_or_refused(folder: Path, count: int) -> None:
    text = described(folder).read_bytes()
    rng, read_ones = random.Random(count), 0
    for _ in range(count):
        data = bytearray(text)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            piece = rng.choice(
                (b"[", b"{", b"\xff", b"9", b"-", b'"', b"e999", b"null", b"../", b"\\u0000", b"\\ud800")
            )
            data[at : at + rng.randint(0, 3)] = piece
        try:
            read.described(bytes(data))
            read_ones += 1
        except McugenError as error:
            assert error.hint
    assert 0 < read_ones < count


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(CorruptModelError, match="not JSON"):
        read.described(b'{"micro": ' + b"[" * 100_000)
