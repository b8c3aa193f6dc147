"""What quantization must reach on the models of shared/quantize: one function a claim, which yields lines and verdicts.

`ci/quantize MODELS DATA --check NAME...` runs them; any verdict that is False makes the command fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mcugen
from mcugen.mixed.cost import constants
from mcugen.mixed.plan import Chosen, Wish
from mcugen.options import Options
from mcugen.quantize import run
from mcugen.quantize.recipe import Widths

Verdict = tuple[str, bool]

EIGHT = {"kws": 25.0, "resnet8": 34.9, "mbv1": 28.3, "mbv2": 30.5, "mbv3": 22.6, "tcn": 32.6, "ae": 49.8}
"""Least SQNR in dB with the default options and 100 samples, by a word of the model's name."""
FOUR = {"kws": 17.8, "resnet8": 19.7, "mbv1": 13.9, "mbv2": 16.4, "mbv3": 14.0, "tcn": 28.8, "ae": 48.4}
GAIN_16 = {"kws": 8.0, "resnet8": 7.0, "mbv2": 9.0, "ae": 20.0}
UNEVEN = "uneven"
BOARDS = ("cortex-m4", "cortex-m7", "cortex-m0plus")
_LOSS, _MARGIN = 0.5, 0.3
_FEW = 12


@dataclass
class Case:
    """A float model with its samples and test; results are kept."""

    path: Path
    calibration: Path
    test: Path
    _known: dict[str, run.Quantized] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.stem

    def made(self, choose: run.Choose | None = None, **choices: Any) -> run.Quantized:
        """The model quantized with these choices, and tested."""
        key = repr((choose, sorted(choices.items())))
        if key not in self._known:
            given = run.Choices(**choices)
            self._known[key] = run.quantize(self.path, self.calibration, given, test=self.test, choose=choose)
        return self._known[key]

    def bar(self, bars: dict[str, float]) -> float | None:
        return next((value for word, value in bars.items() if word in self.name.split("_")), None)


def lost(found: run.Quantized) -> float:
    """Points of accuracy lost on the test; without classes, the squared error over the squared output in %."""
    score = found.score
    assert score is not None
    if score.metric.startswith("accuracy"):
        return float(score.before or 0) - float(score.after or 0)
    return float(100 * 10 ** (-score.sqnr / 10))


def sqnr(found: run.Quantized) -> float:
    assert found.score is not None
    return found.score.sqnr


def eight(case: Case) -> Iterator[Verdict]:
    """Default options: SQNR, and at most 0.5 points lost (0.8 of speech)."""
    found, bar = case.made(), case.bar(EIGHT)
    most = 0.8 if case.name.startswith("kws") else 0.5
    text = f"{sqnr(found):.2f} dB, bar {bar}; {lost(found):.2f} lost of at most {most}"
    yield text, (bar is None or sqnr(found) >= bar) and lost(found) <= most


def four(case: Case) -> Iterator[Verdict]:
    """All weights in 4 bits: SQNR, at most 0.9 points lost (1.0 of uneven twins), and constants 36 to 49 % smaller."""
    found, uneven = case.made(widths=Widths(weights=4)), UNEVEN in case.name
    bar, most = None if uneven else case.bar(FOUR), 1.0 if uneven else 0.9
    smaller = 100 - 100 * constants(found.graph) / constants(case.made(method="min-max").graph)
    text = f"{sqnr(found):.2f} dB, bar {bar}; {lost(found):.2f} lost of at most {most}; constants {smaller:.1f} % less"
    yield text, (bar is None or sqnr(found) >= bar) and lost(found) <= most and 36 <= smaller <= 49


def sixteen(case: Case) -> Iterator[Verdict]:
    """All data in 16 bits: the gain in dB over 8 bits."""
    found, plain = case.made(widths=Widths(activations=16)), case.made()
    gain, bar = sqnr(found) - sqnr(plain), None if UNEVEN in case.name else case.bar(GAIN_16)
    yield f"{sqnr(found):.2f} dB, {gain:+.2f} over 8 bits, bar {bar}", bar is None or gain >= bar


def few(case: Case) -> Iterator[Verdict]:
    """12 samples: never more than 0.3 dB below min-max on the same samples."""
    plain, found = (sqnr(case.made(limit=_FEW, method=method)) for method in ("min-max", "full"))
    yield f"{found:.2f} dB, min-max {plain:.2f}", found >= plain - _MARGIN


def collapse(case: Case) -> Iterator[Verdict]:
    """Uneven twins: 99 % of the accuracy that min-max loses comes back."""
    if UNEVEN in case.name:
        plain, found = (lost(case.made(method=method)) for method in ("min-max", "full"))
        back = 100 * (plain - found) / max(plain, 1e-9)
        yield f"min-max loses {plain:.2f} points, the guard {found:.2f}: {back:.1f} % come back", back >= 99


def mixed(case: Case) -> Iterator[Verdict]:
    """Mixed weights: a loss of 0.5 % is met on the test within 0.3, and 75 % of the 8-bit constants are met."""
    base = Widths()
    chosen = Chosen(Wish(weights=True, most=_LOSS, options=Options(board=BOARDS[0])))
    found = case.made(chosen.choose, widths=base)
    assert chosen.point is not None
    text = f"{chosen.point.cost.flash:,} bytes within a loss of {_LOSS} %; {lost(found):.2f} on the test"
    yield text, lost(found) <= _LOSS + _MARGIN
    budget = 3 * constants(case.made(method="min-max").graph) // 4
    chosen = Chosen(Wish(weights=True, options=Options(board=BOARDS[0], flash=str(budget))))
    found = case.made(chosen.choose, widths=base)
    assert chosen.point is not None
    yield f"{chosen.point.cost.flash:,} of {budget:,} bytes; {lost(found):.2f} lost", chosen.point.cost.flash <= budget


def boards(case: Case) -> Iterator[Verdict]:
    """Cycles, as builds estimate them, and flash at 8 and at 4 bits; the C takes no more with 4."""
    for board in BOARDS:
        parts, flash = [], []
        for bits in (8, 4):
            found = case.made(widths=Widths(weights=bits), method="min-max")
            with TemporaryDirectory() as folder:
                path = Path(folder) / "model.tflite"
                path.write_bytes(found.written("tflite"))
                report = mcugen.compile(path, board=board, optimize="flash").report
            flash.append(report.weights_bytes)
            cycles = "" if report.cycles is None else f"{report.cycles.low:,} to {report.cycles.high:,} cycles, "
            parts.append(f"{bits} bits: {cycles}{constants(found.graph):,} bytes in the file, {flash[-1]:,} in the C")
        yield f"{board}: {'; '.join(parts)}", flash[1] <= flash[0]


CLAIMS: dict[str, Callable[[Case], Iterator[Verdict]]] = {
    claim.__name__: claim for claim in (eight, four, sixteen, few, collapse, mixed, boards)
}


def check(name: str, case: Case) -> bool:
    """Print what a claim finds of a model; whether it holds."""
    held = True
    for text, holds in CLAIMS[name](case):
        print(f"{case.name:20} {name:9} {'' if holds else 'MISSED: '}{text}", flush=True)
        held = held and holds
    return held
