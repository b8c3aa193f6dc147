"""The examples that take streams of events, on this machine under sanitizers and on an emulated core, against NumPy."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import samples
from mcugen.boards.target import Target
from mcugen.builds import shared_arena
from mcugen.machines.toolchain import cross, host_gcc, process, qemu
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.samples import preprocess

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CORE = "cortex-m4"
SHAPES = ("nothing", "disc", "square", "triangle")
SWEEPS = ("nothing", "rising", "falling")
MOTIONS = ("resting", "walking", "running", "shaking")


@dataclass(frozen=True, eq=False)
class Example:
    """An example built for one machine. main: its source."""

    name: str
    board: Target
    folder: Path
    main: str = "main.c"

    def output(self, events: bytes) -> list[str]:
        """The lines that the example prints for a stream of events."""
        if self.board.is_host:
            return self._on_host(events)
        (self.folder / "in.bin").write_bytes(events)
        include = [self.folder, EXAMPLES / "io"]
        image = cross.build_image(self.board, self._sources("semihost"), include, self.folder / "image")
        ran = qemu.run_image(image, self.board, cwd=self.folder, count=False)
        assert ran.exit_code == 0
        return ran.output.decode().splitlines()

    def _on_host(self, events: bytes) -> list[str]:
        flags = ["-O2", *host_gcc.STRICT_WARNINGS, *host_gcc.SANITIZE]
        include = [self.folder, EXAMPLES / "io"]
        program = host_gcc.compile_program(self._sources("stdio"), self.folder / "example", include, flags)
        done = process.run([program], stdin=events, timeout_s=60)
        assert done.returncode == 0, done.text
        return done.stdout.decode().splitlines()

    def _sources(self, way: str) -> list[Path]:
        found = sorted(path.relative_to(self.folder) for path in self.folder.rglob("*.c"))
        made = [self.folder / path for path in found if path.parts[0] not in ("examples", "image")]
        return [EXAMPLES / self.name / self.main, EXAMPLES / "io" / f"io_{way}.c", *made]


def built(name: str, model: str, mode: str, board: str, folder: Path, **more: str) -> tuple[Example, Artifact]:
    path = EXAMPLES / name / f"{model}.tflite"
    assert path.stat().st_size < 60_000
    artifact = mcugen.compile(path, name=model, board=board, input_mode=mode, **more)
    artifact.write(folder / "out")
    return Example(name, artifact.target, folder / "out"), artifact


def lines(artifact: Artifact, inputs: Sequence[np.ndarray], names: Sequence[str]) -> list[str]:
    """The expected output of the example: the oracle's scores of each input, and the name of the best."""
    found = []
    for x in inputs:
        values = interpreter.run(artifact.imported, [x], artifact.view.reference)
        scores = values[artifact.imported.outputs[0]].reshape(-1)
        found.append(" ".join([names[int(scores.argmax())], *(str(int(s)) for s in scores)]))
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", ["host", CORE])
def test_camera_pushes_rows(board: str, tmp_path: Path) -> None:
    example, artifact = built("camera", "shapes", "rows", board, tmp_path)
    recorded = np.load(EXAMPLES / "camera" / "shapes_test.npz")
    images, labels = recorded["images"][:8], recorded["labels"][:8]
    pictures = [b"".join(b"L" + row.tobytes() for row in image) for image in images]
    cut = pictures[5][: 13 * 33]
    # Pictures follow each other with and without a sync, and one that lost its end is dropped by the next sync.
    events = b"".join(pictures[:2]) + b"V" + pictures[2] + cut + b"V" + b"".join(b"V" + p for p in pictures[3:])
    expected = lines(artifact, [(image[None].astype(int) - 128).astype(np.int8) for image in images], SHAPES)
    assert example.output(events) == expected
    assert [line.split()[0] for line in expected] == [SHAPES[k] for k in labels]
    assert artifact.report.ram_bytes < 32 * 32 * 12


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", [CORE, "host"])
def test_camera_decides_on_lines_of_rgb565(board: str, tmp_path: Path) -> None:
    script = runpy.run_path(str(EXAMPLES / "camera" / "qqvga.py"))
    model, words = EXAMPLES / "camera" / "shapes.tflite", {"preprocess": script["WORDS"], "decide": script["DECISION"]}
    artifact = mcugen.compile(model, name="qqvga", board=board, input_mode="rows", **words)
    artifact.write(tmp_path / "out")
    example, pictures = Example("camera", artifact.target, tmp_path / "out", "qqvga.c"), script["pictures"]()
    cut = script["events"]()[: 1 + 40 * 321]  # a picture that lost its end
    graph = artifact.imported
    runs = interpreter.runs(graph, [[x[None]] for x in pictures], artifact.view.reference)
    expected = [script["NAMES"][int(values[graph.outputs[0]][0])] for values in runs]
    assert example.output(script["events"]() + cut + script["events"]()) == 2 * expected
    assert expected == script["decisions"]() and set(expected) == set(script["NAMES"])
    assert artifact.report.ram_bytes < pictures[0].nbytes // 7


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", ["host", CORE])
def test_microphone_pushes_frames(board: str, tmp_path: Path) -> None:
    example, artifact = built("microphone", "sweeps", "frames", board, tmp_path)
    frames = np.load(EXAMPLES / "microphone" / "sweeps_test.npz")["frames"]
    window = artifact.imported.type(artifact.imported.inputs[0]).shape[1]
    stream = [b"F" + frame.tobytes() for frame in frames]
    gap = 2 * window + 5
    assert len(frames) >= gap + window + 3
    events = b"".join(stream[:gap]) + b"G" + b"".join(stream[gap:])
    parts = (frames[:gap], frames[gap:])
    windows = [part[i : i + window][None, :, None] for part in parts for i in range(len(part) - window + 1)]
    expected = lines(artifact, windows, SWEEPS)
    assert example.output(events) == expected
    assert len({line.split()[0] for line in expected}) == len(SWEEPS)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", [CORE, "host"])
def test_motion_pushes_samples(board: str, tmp_path: Path) -> None:
    words = (EXAMPLES / "motion" / "words.txt").read_text(encoding="ascii").strip()
    example, _ = built("motion", "motions", "samples", board, tmp_path, preprocess=words, raw="100x3:s16@50")
    motion = np.load(EXAMPLES / "motion" / "motions_test.npz")["motion"]
    parts = (motion[:730], motion[730:])
    events = b"G".join(b"".join(b"S" + sample.tobytes() for sample in part) for part in parts)
    features = [preprocess.applied(preprocess.parse(words, samples.words()).steps, part[None])[0] for part in parts]
    network = mcugen.compile(EXAMPLES / "motion" / "motions.tflite", board="host")
    x = network.imported.type(network.imported.inputs[0])
    stored = np.rint(np.concatenate(features) / np.float32(x.scale)) + x.zero_point
    expected = lines(network, list(stored.clip(-128, 127).astype(np.int8).reshape(-1, *x.shape)), MOTIONS)
    assert example.output(events) == expected
    assert len(expected) == 13 + 14 and {line.split()[0] for line in expected} == set(MOTIONS)


@pytest.mark.parametrize("board", ["host", CORE])
def test_two_models_take_turns_in_one_memory(board: str, tmp_path: Path) -> None:
    paths = [EXAMPLES / "camera" / "shapes.tflite", EXAMPLES / "digits" / "digits.tflite"]
    made = shared_arena.build(paths, Options(board=board, name="reader"))
    made.write(tmp_path / "out")
    shapes, digits = made.artifacts
    example = Example("two_models", shapes.target, tmp_path / "out")
    images = (np.load(EXAMPLES / "camera" / "shapes_test.npz")["images"][:4].astype(int) - 128).astype(np.int8)
    figures = np.load(EXAMPLES / "digits" / "digits_test.npz")["inputs"][:4]
    events = b"".join(b"S" + x.tobytes() + b"D" + y.tobytes() for x, y in zip(images, figures, strict=True))
    told = lines(shapes, [x[None] for x in images], SHAPES)
    read = lines(digits, [y[None] for y in figures], [f"digit {k}" for k in range(10)])
    assert example.output(events) == [line for pair in zip(told, read, strict=True) for line in pair]
    assert made.ram_bytes == max(a.report.ram_bytes for a in made.artifacts)
