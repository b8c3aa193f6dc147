"""Findings: problems of a network or its samples, one sentence for each layer or input, with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.quantize.diagnose import LayerFacts
from mcugen.quantize.recipe import AS_BEFORE, Recipe

WIDE_DATA = "--activations 16"
_UNEVEN, _VERY_UNEVEN, _WEAK_SHARE = 10.0, 100.0, 0.25
_OTHER_GAIN = 50.0
_LONG_TAIL, _TOO_SATURATED = 0.1, 0.02
_NOISY_8, _NOISY_4 = 15.0, 9.0
_BYTES = (64.0, 255.5)
_OVER_BIAS, _BELOW_BIAS = 50.0, 0.05
_ANSWERS = 8
"""Fewest samples for the finding that the model answers all of them alike."""
_MOST_ANSWERS = 0.9


@dataclass(frozen=True)
class Finding:
    """A problem of a layer, input or output, which the quantization may have solved already.

    kind: one word for it; place: name of the layer, input or output; text: the observation; remedy: what to do, ""
    for nothing; weight: severity, from 0 to 100
    """

    kind: str
    place: str
    text: str
    remedy: str
    weight: float

    def __str__(self) -> str:
        between = " " if self.text.endswith("?") else ": "
        return f"{self.place}: {self.text}" + (f"{between}{self.remedy}" if self.remedy else "")


@dataclass(frozen=True)
class Situation:
    """Settings of a quantization on which remedies depend.

    method: "full" or "min-max"; recipe: the guard's choice; wide: whether activations of 16 bits are possible but not
    used
    """

    method: str
    recipe: Recipe
    wide: bool


def found(layers: Sequence[LayerFacts], outputs: Sequence[Finding], now: Situation) -> tuple[Finding, ...]:
    """All findings, the worst first. outputs: findings that do not follow from the layers' facts."""
    every = [*outputs, *_of_inputs(layers), *_dead(layers), *_gains(layers), *_uneven(layers, now)]
    named = {finding.place for finding in every}
    every += _tails(layers, now, named)
    every += _noise(layers, now, named)
    if any(finding.kind == "dead" for finding in every):
        every = [finding for finding in every if finding.kind != "answers"]
    return tuple(sorted(every, key=lambda finding: -finding.weight))


def of_answers(answers: np.ndarray, name: str) -> Iterator[Finding]:
    """Finding if (nearly) all samples get the same answer. answers: the float outputs [samples, classes]."""
    if len(answers) < _ANSWERS or answers.shape[1] < 2:
        return
    remedy = "give --data samples of all classes, as the model will meet them"
    moves, reach = float(np.ptp(answers, axis=0).max()), float(np.abs(answers).max())
    if moves <= 1e-3 * reach:
        yield Finding("answers", name, f"the float model answers all {len(answers)} samples alike", remedy, 88)
        return
    counts = np.bincount(answers.argmax(axis=1))
    if counts.max() >= _MOST_ANSWERS * len(answers):
        text = (
            f"the float model answers {int(counts.max())} of {len(answers)} samples with class {int(counts.argmax())}"
        )
        yield Finding("answers", name, f"{text} of {answers.shape[1]}", remedy, 86)


def of_test(name: str, calibration: np.ndarray, test: np.ndarray) -> Iterator[Finding]:
    """Finding if the magnitudes of test and calibration samples differ more than fourfold."""
    a, b = (float(np.abs(x).max()) for x in (calibration, test))
    if max(a, b) > 4 * min(a, b):
        text = f"the samples of --test reach {b:.4g}, those of --data {a:.4g}"
        yield Finding("input", name, text, "prepare both alike, with --preprocess or before", 92)


def _of_inputs(layers: Sequence[LayerFacts]) -> Iterator[Finding]:
    for item in layers:
        if item.operator != "input":
            continue
        readers = [r for r in layers if item.name in r.reads and r.gain is not None]
        over = next((r.bias for r in readers if r.bias is not None), None)
        looks = item.low >= 0 and _BYTES[0] <= item.high <= _BYTES[1]
        reach = f"samples reach {item.high:.4g}"
        if looks and (over is None or over > _OVER_BIAS):
            effect = "" if over is None else f", moving {readers[0].name} {over:,.0f} times as far as its biases do"
            remedy = "`--preprocess scale=1/255`, or for -1..1 `--preprocess scale=1/127.5,offset=-1`"
            yield Finding("input", item.name, f"{reach}{effect}; were they scaled for training?", remedy, 95)
        elif item.low >= -1 and item.high <= 1 and over is not None and 0 < over < _BELOW_BIAS:
            text = f"{reach}, and the biases of {readers[0].name} are {1 / over:,.0f} times as large as what they make"
            remedy = "`--preprocess scale=255` if it was trained on bytes"
            yield Finding("input", item.name, text, remedy, 75)


def _dead(layers: Sequence[LayerFacts]) -> Iterator[Finding]:
    """Layers whose result is constant although their inputs vary."""
    still = {item.name for item in layers if item.still}
    for item in layers:
        if item.still and not still & set(item.reads):
            zero = item.channels.dead == item.channels.count
            text = "all its results are 0, for every sample" if zero else "its results are the same for every sample"
            remedy = (
                "check its weights in the file and export the model again; `--test` shows the score of the float model"
            )
            yield Finding("dead", item.name, text, remedy, 90)


def _gains(layers: Sequence[LayerFacts]) -> Iterator[Finding]:
    """Layers that grow or shrink values far more than the other layers do."""
    weighted = [item for item in layers if item.gain is not None and not item.still]
    for item in weighted:
        others = [float(o.gain or 0) for o in weighted if o is not item]
        usual = float(np.clip(np.median(others), 0.1, 10.0)) if others else 1.0
        gain = max(float(item.gain or 0), 1e-9)
        first = any(other.operator == "input" and other.name in item.reads for other in layers)
        if gain > _OTHER_GAIN * usual or (gain * _OTHER_GAIN < usual and not first):
            far = f"{gain:,.0f} times as far" if gain > 1 else f"1/{1 / gain:,.0f} as far"
            text = f"its sums reach {far} as its input, other layers' about {usual:.2g} times; its weights look scaled"
            remedy = "integers follow any scale, so check the file; `--test` shows the score of the float model"
            yield Finding("scaled", item.name, text, remedy, 70)


def _uneven(layers: Sequence[LayerFacts], now: Situation) -> Iterator[Finding]:
    """Layers with channels so large that few integer steps are left for the other channels.

    An operator without weights is not reported if one of its inputs is reported.
    """
    named: set[str] = set()
    for item in layers:
        if item.obstacle is None and named & set(item.reads):
            named.add(item.name)
            continue
        ratio, alive = item.channels.ratio, item.channels.count - item.channels.dead
        is_bad = ratio >= _UNEVEN and item.weak >= max(1, _WEAK_SHARE * alive)
        if is_bad or ratio >= _VERY_UNEVEN:
            named.add(item.name)
            yield Finding("uneven", item.name, *_unbalanced(item, now), min(69.0, 55 + 5 * float(np.log10(ratio))))
        elif item.given.ratio >= _VERY_UNEVEN:
            text = f"{_far(item)}; they were balanced, so that nothing is lost by it"
            yield Finding("balanced", item.name, text, "", 10)


def _unbalanced(item: LayerFacts, now: Situation) -> tuple[str, str]:
    text = f"{_far(item)} and leave{'s' * (item.channels.far == 1)} it {_steps(item)}"
    remedy = f"`{WIDE_DATA}`" if now.wide else ""
    if item.operator == "input":
        return text, remedy or "train it on inputs that `--preprocess std=...` divides, a number for each"
    if item.obstacle:
        return f"{text}; they cannot be balanced because {item.obstacle}", remedy
    if item.obstacle is None or now.recipe.ranges == AS_BEFORE:
        return text, remedy
    if now.method == "min-max":
        return f"{text}; they could be balanced", "`--method full`"
    if not now.recipe.balanced:
        return f"{text}; balancing them was no gain on samples held out", remedy or "give more samples"
    return f"{text}; balancing could not even them out", remedy


def _far(item: LayerFacts) -> str:
    seen = item.channels if item.channels.ratio >= _UNEVEN else item.given
    many = f"{seen.far} of {seen.count} channels reach{'es' * (seen.far == 1)}"
    return f"{many} up to {seen.ratio:,.0f} times further than the median one"


def _steps(item: LayerFacts) -> str:
    steps = item.all_steps / item.channels.ratio / (2 if item.low < 0 else 1)
    return f"{steps:.0f} of {item.all_steps:,} steps" if steps >= 1 else "less than a step"


def _tails(layers: Sequence[LayerFacts], now: Situation, named: set[str]) -> Iterator[Finding]:
    remedy = "`--method full`" if now.method == "min-max" else f"`{WIDE_DATA}`" if now.wide else "give more samples"
    remedy = "leave `--ranges-of` out, for new code" if now.recipe.ranges == AS_BEFORE else remedy
    for item in layers:
        if item.name in named:
            continue
        if item.used < _LONG_TAIL:
            text = f"999 of 1,000 values use {100 * item.used:.1f} % of the range, which a few far ones take up"
            yield Finding("tail", item.name, text, remedy, 45)
        elif item.saturated > _TOO_SATURATED:
            text = f"{100 * item.saturated:.1f} % of the values lie beyond its integers"
            yield Finding("saturated", item.name, text, remedy, 50)


def _noise(layers: Sequence[LayerFacts], now: Situation, named: set[str]) -> Iterator[Finding]:
    """Layers with much noise of their own, unless another finding about them or their inputs explains it."""
    for item in layers:
        least = _NOISY_4 if item.weight_bits == 4 else _NOISY_8
        if item.own >= least or item.still or named & {item.name, *item.reads}:
            continue
        text = f"its own noise leaves {item.own:.1f} dB, {item.total:.1f} dB with that of the layers before it"
        remedy = "`--weights 8`" if item.weight_bits == 4 else f"`{WIDE_DATA}`" if now.wide else "give more samples"
        remedy = "`--method full`" if now.method == "min-max" else remedy
        yield Finding("noise", item.name, text, remedy, 55 - item.own)
