"""Requirements on quantization for the models of shared/quantize: one function a claim, which yields lines and
verdicts.

`ci/quantize MODELS DATA --check NAME...` runs them; any verdict that is False makes the command fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mcugen
from mcugen.builds.mixed.axis import BitsAxis
from mcugen.builds.mixed.bit_costs import Costs, constants
from mcugen.builds.mixed.plan import BitsChooser, Progress, Request, recipes
from mcugen.builds.mixed.search import BitsPoint, BitsSearch
from mcugen.errors import MemoryBudgetError, UnsupportedError
from mcugen.options import Options
from mcugen.quantize import quantize_model
from mcugen.quantize.cross_validation import TaskPool
from mcugen.quantize.recipe import Widths
from mcugen.quantize.scores import Score
from mcugen.report.facts import Report
from mcugen.verify import host
from mcugen.verify.cases import cases

Verdict = tuple[str, bool]

EIGHT = {"kws": 25.0, "resnet8": 34.9, "mbv1": 28.3, "mbv2": 30.5, "mbv3": 22.6, "tcn": 32.6, "ae": 49.8}
"""Least SQNR in dB with the default options and 100 samples, by a word of the model's name."""
FOUR = {"kws": 17.8, "resnet8": 19.7, "mbv1": 13.9, "mbv2": 16.4, "mbv3": 14.0, "tcn": 28.8, "ae": 48.4}
SMALLER = {"kws": 38, "resnet8": 47, "mbv1": 42, "mbv2": 38, "mbv3": 39, "tcn": 45, "ae": 46}
"""How much smaller constants are with 4 bits, in whole percent."""
GAIN_16 = {"kws": 8.0, "resnet8": 7.0, "mbv2": 9.0, "ae": 20.0}
UNEVEN = "uneven"
PRUNED, MACS = {"resnet8": 3.0}, 70
"""Most points lost with so many percent of the multiply-accumulates."""
BOARDS = ("cortex-m4", "cortex-m7", "cortex-m0plus")
_LOSS, _MARGIN = 0.5, 0.3
_FEW = 12
_MEAN_LOST, _MOST_ERROR = 0.3, {"ae": 9.72}
_FRONT = 3
_IN_C = 1.06
"""The C has tables of activations besides, and a shift for each channel."""


@dataclass
class Case:
    """A float model with its samples and test; results are cached. even: an equivalent model with even channels."""

    path: Path
    calibration: Path
    test: Path
    even: Path | None = None
    _known: dict[str, quantize_model.Quantized] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.stem

    def made(self, choose: quantize_model.Choose | None = None, **choices: Any) -> quantize_model.Quantized:
        """The model quantized with these choices, and tested."""
        key = repr((choose, sorted(choices.items())))
        if key not in self._known:
            given = quantize_model.QuantizeOptions(**choices)
            self._known[key] = quantize_model.quantize(
                self.path, self.calibration, given, test=self.test, choose=choose
            )
        return self._known[key]

    def bar(self, bars: dict[str, float]) -> float | None:
        return next((value for word, value in bars.items() if word in self.name.split("_")), None)


def lost(found: quantize_model.Quantized) -> float:
    """Points of accuracy lost on the test; without classes, the squared error over the squared output in %."""
    score = found.score
    assert score is not None
    if score.metric.startswith("accuracy"):
        return float(score.before or 0) - float(score.after or 0)
    return float(100 * 10 ** (-score.sqnr / 10))


def sqnr(found: quantize_model.Quantized) -> float:
    assert found.score is not None
    return found.score.sqnr


def eight(case: Case) -> Iterator[Verdict]:
    """Default options: SQNR, and at most 0.5 points lost (0.8 of speech)."""
    found, bar, error = case.made(), case.bar(EIGHT), case.bar(_MOST_ERROR)
    most = 0.8 if case.name.startswith("kws") else 0.5
    text = f"{sqnr(found):.2f} dB, bar {bar}; {lost(found):.2f} lost of at most {most}"
    yield text, (bar is None or sqnr(found) >= bar) and lost(found) <= most
    if error is not None and found.score is not None:
        after = float(found.score.after or 0)
        yield f"error {after:.4f} of at most {error}", after <= error


def four(case: Case) -> Iterator[Verdict]:
    """All weights in 4 bits: SQNR, at most 0.9 points lost (1.0 for models with uneven channels), and smaller
    constants."""
    found, uneven = case.made(widths=Widths(weights=4)), UNEVEN in case.name
    bar, most = None if uneven else case.bar(FOUR), 1.0 if uneven else 0.9
    smaller = 100 - 100 * constants(found.graph) / constants(case.made(method="min-max").graph)
    text = f"{sqnr(found):.2f} dB, bar {bar}; {lost(found):.2f} lost of at most {most}"
    yield text, (bar is None or sqnr(found) >= bar) and lost(found) <= most
    least = case.bar(SMALLER)
    yield f"constants {smaller:.1f} % less, bar {least}", least is None or round(smaller) >= least


def sixteen(case: Case) -> Iterator[Verdict]:
    """All data in 16 bits: the gain in dB over 8 bits; networks with operators that have no such kernel are refused."""
    try:
        case.made(widths=Widths(activations=16))
    except UnsupportedError as error:
        yield f"refused: {str(error).splitlines()[1].strip()}", case.bar(GAIN_16) is None
        return
    found, plain = case.made(widths=Widths(activations=16)), case.made()
    gain, bar = sqnr(found) - sqnr(plain), None if UNEVEN in case.name else case.bar(GAIN_16)
    yield f"{sqnr(found):.2f} dB, {gain:+.2f} over 8 bits, bar {bar}", bar is None or gain >= bar


def few(case: Case) -> Iterator[Verdict]:
    """12 samples: never more than 0.3 dB below min-max on the same samples."""
    plain, found = (sqnr(case.made(limit=_FEW, method=method)) for method in ("min-max", "full"))
    yield f"{found:.2f} dB, min-max {plain:.2f}", found >= plain - _MARGIN


def collapse(case: Case) -> Iterator[Verdict]:
    """Models with uneven channels: 99 % of the accuracy lost by min-max returns, and SQNR equals the even model's."""
    if case.even is not None:
        plain, found = (lost(case.made(method=method)) for method in ("min-max", "full"))
        back = 100 * (plain - found) / max(plain, 1e-9)
        yield f"min-max loses {plain:.2f} points, the guard {found:.2f}: {back:.1f} % come back", back >= 99
        even = sqnr(Case(case.even, case.calibration, case.test).made())
        uneven = sqnr(case.made(method="full"))
        yield f"{uneven:.2f} dB, the even model {even:.2f}", uneven >= even - _MARGIN


@dataclass
class Compared(BitsChooser):
    """A choice of bits beside the one by size alone."""

    by_size: BitsPoint | None = None

    def _along(self, axis: BitsAxis, workers: TaskPool, costs: Costs, progress: Progress) -> BitsPoint | None:
        found = super()._along(axis, workers, costs, progress)
        assert self.loss is not None
        search = BitsSearch(workers, axis, recipes(workers, axis), costs, self.loss, self.request.most)
        self.by_size = search.cheapest_by_size()
        return found


def mixed(case: Case) -> Iterator[Verdict]:
    """Mixed weights: a loss of 0.5 % is met on the test within 0.3, no dearer than by size; 75 % of the bytes too."""
    base = Widths()
    compared = Compared(Request(weights=True, most=_LOSS, options=Options(board=BOARDS[0])))
    found = case.made(compared.choose, widths=base)
    assert compared.point is not None
    bytes_, by_size = compared.point.cost.flash, compared.by_size
    yield f"{bytes_:,} bytes within a loss of {_LOSS} %; {lost(found):.2f} on the test", lost(found) <= _LOSS + _MARGIN
    text = "none by size alone" if by_size is None else f"{by_size.cost.flash:,} by size alone"
    yield f"{bytes_:,} bytes, {text}", by_size is None or bytes_ <= by_size.cost.flash
    budget = 3 * constants(case.made(method="min-max").graph) // 4
    chosen = BitsChooser(Request(weights=True, options=Options(board=BOARDS[0], flash=str(budget))))
    found = case.made(chosen.choose, widths=base)
    assert chosen.point is not None
    yield f"{chosen.point.cost.flash:,} of {budget:,} bytes; {lost(found):.2f} lost", chosen.point.cost.flash <= budget


def front(case: Case) -> Iterator[Verdict]:
    """Mixed data: RAM and time against SQNR between 8 and 16 bits, with assignments in between."""
    chosen = BitsChooser(Request(activations=True, front=True, options=Options(board=BOARDS[0])))
    case.made(chosen.choose, widths=Widths())
    points = next(iter(chosen.fronts.values()))
    shown = [f"{p.sqnr:.1f} dB {p.cost.ram:,} bytes {p.cost.time / 1e6:.2f} M" for p in points]
    yield ", ".join(shown), len(points) >= _FRONT


def boards(case: Case) -> Iterator[Verdict]:
    """Cycles, as builds estimate them, and constants of the C at 8 and at 4 bits; those of 4 shrink as the file's do.

    With the goal `flash` the C has more constants than it needs where they bring much time, so what it can shrink to is
    asked with a budget: what the file's constants take, and a little for the C's own form of them.
    """
    with TemporaryDirectory() as folder:
        sizes = {bits: _written(case, bits, Path(folder)) for bits in (8, 4)}
        for board in BOARDS:
            built = [mcugen.compile(path, board=board, optimize="flash").report for path, _ in sizes.values()]
            shown = zip(sizes.items(), built, strict=True)
            parts = [f"{bits} bits: {_costs(report)}, {size:,} in the file" for (bits, (_, size)), report in shown]
            yield f"{board}: {'; '.join(parts)}", built[1].weights_bytes < built[0].weights_bytes
            room = round(sizes[4][1] * _IN_C)
            what = f"{board}: within {room:,} bytes, {_IN_C} times those of the file at 4 bits"
            try:
                found = mcugen.compile(sizes[4][0], board=board, optimize="flash", flash=str(room)).report
                yield f"{what}: {_costs(found)}", found.weights_bytes <= room
            except MemoryBudgetError:
                yield f"{what}: refused", False


def _written(case: Case, bits: int, folder: Path) -> tuple[Path, int]:
    """The file of a model with weights of so many bits, and the bytes of its constants."""
    found, path = case.made(widths=Widths(weights=bits), method="min-max"), folder / f"{case.name}_{bits}.tflite"
    path.write_bytes(found.written("tflite"))
    return path, constants(found.graph)


def _costs(report: Report) -> str:
    cycles = "" if report.cycles is None else f"{report.cycles.low:,} to {report.cycles.high:,} cycles, "
    return f"{cycles}{report.weights_bytes:,} bytes of constants in C"


def prune(case: Case) -> Iterator[Verdict]:
    """70 % of the multiply-accumulates: within the budget, at most 3 points lost where that is promised, C exact."""
    found, bar = case.made(macs=f"{MACS}%"), case.bar(PRUNED)
    assert found.pruned is not None
    share = 100 * found.pruned.after / found.pruned.before
    worth = ", ".join(f"{s.step}: {s.worth:.4g}" for s in found.pruned.stages if s.worth is not None)
    yield f"{share:.1f} % of the work, bar {MACS}; in floats {worth}", share <= MACS
    yield f"{lost(found):.2f} lost in integers, bar {bar}", bar is None or lost(found) <= bar
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        path.write_bytes(found.written("tflite"))
        artifact = mcugen.compile(path)
        verdict = host.verify(artifact, cases(artifact.imported, random=3))
    yield f"C against the written file: {verdict.differing} of {verdict.values:,} values differ", verdict.exact


CLAIMS: dict[str, Callable[[Case], Iterator[Verdict]]] = {
    claim.__name__: claim for claim in (eight, four, sixteen, front, few, collapse, mixed, boards, prune)
}


def mean_lost(cases: list[Case]) -> Verdict:
    """The points that default options lose on average over the networks that tell classes apart."""
    points = [lost(c.made()) for c in cases if (c.made().score or Score(0, 0)).metric.startswith("accuracy")]
    mean = sum(points) / max(len(points), 1)
    return f"{mean:.2f} points lost on average of at most {_MEAN_LOST}", mean <= _MEAN_LOST


def check(name: str, case: Case) -> bool:
    """Print what a claim finds of a model; whether it holds."""
    held = True
    for text, holds in CLAIMS[name](case):
        print(f"{case.name:20} {name:9} {'' if holds else 'MISSED: '}{text}", flush=True)
        held = held and holds
    return held
