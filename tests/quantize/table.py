"""`python -m tests.quantize.table MODELS DATA`: float models quantized with default options, and what they then score.

MODELS: a folder of float models; DATA: a folder with TASK.npz for each task, which holds train_x, test_x and test_y.
The task of a model is the first word of its name. The samples of the networks that `drawn_tasks` names are made, and
spoken words are kept in DATA. Outside quantizers run on the same samples where they are installed.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mcugen.errors import McugenError
from mcugen.quantize import quantize_model
from mcugen.quantize.recipe import Widths
from mcugen.quantize.scores import LabelledTest
from mcugen.samples.metrics import Value
from tests.quantize import claims, drawn_tasks, nets, outside

IMAGES = frozenset({"glyph"})
"""Tasks whose data are bytes of images, which the models take as -1 to 1."""


@dataclass(frozen=True)
class Row:
    """One quantization: the metric (accuracy and the like in %, or an error), SQNR in dB, seconds, and what was done.

    worst: SQNR of the worst sequence; missed: bars that were missed, in words
    """

    model: str
    tool: str
    samples: int
    before: float
    metric: float
    sqnr: float
    seconds: float
    recipe: str = ""
    worst: float | None = None
    missed: str = ""

    def __str__(self) -> str:
        worst = "" if self.worst is None else f"worst {self.worst:.2f} dB, "
        return (
            f"{self.model:20} {self.tool:25} {self.samples:7} {self.before:8.3f} {self.metric:8.3f} "
            f"{self.sqnr:6.2f} dB {self.seconds:6.1f} s  {self.missed}{worst}{self.recipe}"
        )


HEAD = f"{'model':20} {'quantizer':25} {'samples':>7} {'float':>8} {'result':>8} {'SQNR':>9} {'time':>8}  steps"


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    if given.check:
        return 0 if _checked(given) else 1
    rows = []
    print("float, result: accuracy in % on the test; without classes, the mean squared error")
    print(HEAD)
    for row in _rows(given):
        print(row, flush=True)
        rows.append(row)
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    memory = max(resource.getrusage(w).ru_maxrss for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"{len(rows)} rows; at most {memory / 2**20:.2f} GiB in a process")
    return 0 if rows else 1


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ci/quantize", description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="names of models")
    parser.add_argument("--samples", type=int, nargs="*", default=[100], help="how many to quantize with")
    parser.add_argument("--weights", type=int, default=8)
    parser.add_argument("--activations", type=int, default=8)
    parser.add_argument("--tests", type=int, default=2000, help="samples of the test")
    parser.add_argument("--suffix", default=".onnx", help="which files: .onnx or .tflite")
    parser.add_argument("--alone", action="store_true", help="without outside quantizers")
    parser.add_argument("--check", nargs="*", choices=list(claims.CLAIMS), help="what must hold, in place of a table")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def _checked(given: argparse.Namespace) -> bool:
    """Whether what is claimed holds for each model. Whatever is missed is printed as such."""
    with TemporaryDirectory() as folder:
        held, cases = [], []
        for path in _paths(given):
            even = path.with_stem(path.stem.removesuffix("_uneven"))
            even_model = even if even != path and even.exists() else None
            cases.append(
                claims.Case(path, *data(given.data, path, given.samples[0], given.tests, Path(folder)), even_model)
            )
            held += [claims.check(name, cases[-1]) for name in given.check]
        if "eight" in given.check and not given.only:
            text, holds = claims.mean_lost(cases)
            print(f"{'all':20} {'eight':9} {'' if holds else 'MISSED: '}{text}")
            held.append(holds)
        if "collapse" in given.check:
            held += [claims.check("collapse", case) for case in _own_nets(Path(folder), given)]
    print(f"{sum(held)} of {len(held)} hold")
    return bool(held) and all(held)


def _own_nets(folder: Path, given: argparse.Namespace) -> Iterator[claims.Case]:
    """Networks of our own with uneven channels, of other kinds and spreads, as the formats have them."""
    for name in ("gratings", "moves"):
        if given.only and f"{name}_uneven" not in given.only:
            continue
        even_model, path = (folder / f"{n}{given.suffix}" for n in (name, f"{name}_uneven"))
        for file in (even_model, path):
            net = nets.made(file.stem)
            file.write_bytes(net.written(given.suffix.removeprefix(".")))
            np.savez(folder / f"{file.stem}_calib.npz", net.calib[: given.samples[0]])
            np.savez(folder / f"{file.stem}_test.npz", x=net.test, y=net.labels)
        yield claims.Case(path, folder / f"{name}_calib.npz", folder / f"{name}_test.npz", even_model)


def _paths(given: argparse.Namespace) -> list[Path]:
    return [p for p in sorted(given.models.glob(f"*{given.suffix}")) if not given.only or p.stem in given.only]


def _rows(given: argparse.Namespace) -> Iterator[Row]:
    paths = _paths(given)
    with TemporaryDirectory() as folder:
        for path in paths:
            task = drawn_tasks.made(path.stem, given.data)
            if task is not None:
                yield from _drawn(path, task, given, Path(folder))
                continue
            for count in given.samples:
                calibration, test = data(given.data, path, count, given.tests, Path(folder))
                widths = Widths(given.weights, given.activations)
                yield from _own(path, calibration, test, count, widths)
                if not given.alone and path.suffix == ".onnx" and widths == Widths():
                    yield from _others(path, calibration, test, count, Path(folder))


@dataclass
class _Clock:
    """The time to the last step that was told: the test, which is no part of a quantization."""

    now: Callable[[], float]
    started: float = 0.0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.started = self.now()

    def tell(self, _: str) -> None:
        self.seconds = self.now() - self.started


def _own(path: Path, calibration: Path, test: Path, count: int, widths: Widths) -> Iterator[Row]:
    for method in ("min-max", "full"):
        clock = _Clock(time.monotonic)
        choices = quantize_model.QuantizeOptions(widths=widths, method=method)
        try:
            found = quantize_model.quantize(path, calibration, choices, test=test, progress=clock.tell)
        except McugenError as error:
            print(f"{path.stem}: {error.explain()}")
            continue
        assert found.score is not None
        name = f"mcugen, {method}" + ("" if widths == Widths() else f", w{widths.weights}a{widths.activations}")
        before, after = found.score.before or 0.0, found.score.after or 0.0
        yield Row(path.stem, name, count, before, after, found.score.sqnr, clock.seconds, str(found.judged.recipe))


def _drawn(path: Path, task: drawn_tasks.DrawnTask, given: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """A network whose samples are drawn: as quantized here, and by outside tools if it has no states."""
    samples, test = folder / f"{path.stem}_samples.npz", folder / f"{path.stem}_test.npz"
    np.savez(samples, **task.samples)
    np.savez(test, **task.test)
    clock, widths = _Clock(time.process_time), Widths(given.weights, given.activations)
    choices = quantize_model.QuantizeOptions(
        widths=widths, file_format="onnx", states=task.states, metric=task.metric, jobs=1
    )
    found = quantize_model.quantize(path, samples, choices, test=test, progress=clock.tell)
    assert found.score is not None
    before, after = (_shown(path, value) for value in (found.score.before, found.score.after))
    worst = None if found.score.over_time is None else found.score.over_time.worst
    missed = _missed(path.stem, before, after, found.score.sqnr, worst)
    name = "mcugen, full" + ("" if widths == Widths() else f", w{widths.weights}a{widths.activations}")
    figures = (drawn_tasks.SAMPLES, before, after, found.score.sqnr, clock.seconds, str(found.judged.recipe))
    yield Row(path.stem, name, *figures, worst, missed)
    if task.states or given.alone or widths != Widths():
        return
    loaded = quantize_model.given(path, samples, choices, test)
    for tool in outside.tools():
        yield _by_other(tool, path, task, loaded.test, folder)


def _by_other(
    tool: outside.Tool, path: Path, task: drawn_tasks.DrawnTask, test: LabelledTest | None, folder: Path
) -> Row:
    """The result of an outside tool on drawn samples."""
    assert test is not None
    started = time.process_time()
    with redirect_stdout(StringIO()):
        file = tool.quantized(path, task.samples["x"], folder)
    seconds = time.process_time() - started
    wanted, got = outside.run_onnx(path, task.test["x"]), tool.run(file, task.test["x"])
    noise = float(((wanted.astype(np.float64) - got) ** 2).sum())
    sqnr = 10 * np.log10(float((wanted.astype(np.float64) ** 2).sum()) / max(noise, 1e-30))
    found = test.compared((wanted,), (got,))[0]
    figures = (_shown(path, found.before), _shown(path, found.after), float(sqnr), seconds)
    return Row(path.stem, tool.name, drawn_tasks.SAMPLES, *figures)


def _shown(path: Path, value: Value | None) -> float:
    """A score as the table has it: errors of streams times 1000."""
    assert isinstance(value, float)
    return 1000 * value if path.stem.startswith("stream") else value


def _missed(name: str, before: float, after: float, sqnr: float, worst: float | None) -> str:
    """The bars that a network missed, in words; "" if it met them all."""
    loss, least = drawn_tasks.BARS[name]
    lost = after / before - 1 if name.startswith("stream") else before - after
    found = [f"loss {lost:.3g} > {loss:g}"] if lost > loss else []
    found += [f"{sqnr:.2f} < {least:g} dB"] if sqnr < least else []
    bar = drawn_tasks.WORST.get(name, 0.0)
    found += [f"worst {worst:.2f} < {bar:g} dB"] if worst is not None and worst < bar else []
    return f"MISSED: {', '.join(found)}; " if found else ""


def _others(path: Path, calibration: Path, test: Path, count: int, folder: Path) -> Iterator[Row]:
    """Results of outside tools for the same samples, each run in its own runtime."""
    with np.load(test) as arrays:
        x, y = arrays["x"], arrays["y"]
    with np.load(calibration) as arrays:
        samples = arrays["x"]
    for tool in outside.tools():
        started = time.monotonic()
        with redirect_stdout(StringIO()):  # They print what they do.
            found = tool.quantized(path, samples, folder)
        seconds = time.monotonic() - started
        wanted, got = outside.run_onnx(path, x), tool.run(found, x)
        noise = float(((wanted.astype(np.float64) - got) ** 2).sum())
        sqnr = 10 * np.log10(float((wanted.astype(np.float64) ** 2).sum()) / max(noise, 1e-30))
        yield Row(path.stem, tool.name, count, _metric(wanted, y), _metric(got, y), float(sqnr), seconds)


def _metric(answers: np.ndarray, y: np.ndarray) -> float:
    if y.ndim > 1:
        return float(((answers.reshape(y.shape).astype(np.float64) - y) ** 2).mean())
    return 100 * float((answers.reshape(len(y), -1).argmax(axis=1) == y).mean())


def data(folder: Path, model: Path, count: int, tests: int, where: Path) -> tuple[Path, Path]:
    """The first of 500 samples drawn from the training data, and those of the test, as the model takes them."""
    task = model.stem.split("_")[0]
    with np.load(folder / f"{task}.npz") as arrays:
        train, x, y = arrays["train_x"], arrays["test_x"], arrays["test_y"]
    chosen = np.random.default_rng(7).permutation(len(train))[:500][:count]
    calibration, test = where / f"{model.stem}_{count}.npz", where / f"{model.stem}_test.npz"
    first_channels = model.suffix == ".onnx"
    given = _inputs(task, x, first_channels)[:tests]
    np.savez(calibration, x=_inputs(task, train[chosen], first_channels))
    is_labelled = len(y) >= len(given) and task != "ad"
    np.savez(test, x=given, y=y[:tests].astype(np.int64) if is_labelled else given)
    return calibration, test


def _inputs(task: str, x: np.ndarray, first_channels: bool) -> np.ndarray:
    if (x.ndim < 4 and not first_channels) or task == "ad":
        return x.astype(np.float32).reshape(-1, x.shape[-1])
    real = x.astype(np.float32)
    real = real / np.float32(127.5) - np.float32(1) if task in IMAGES else real
    return np.ascontiguousarray(real.transpose(0, 3, 1, 2)) if first_channels else real


if __name__ == "__main__":
    raise SystemExit(main())
