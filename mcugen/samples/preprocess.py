"""The words of `--preprocess`: steps applied to a sample before the model gets it.

Words are separated by commas and applied from left to right. Words for images or sounds come first, then those for
numbers, then the order of axes. Each word becomes operators, which round to float32 after each operation.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.op import Op
from mcugen.ops.add import Add
from mcugen.ops.div import Div
from mcugen.ops.mul import Mul
from mcugen.ops.sub import Sub
from mcugen.samples import front_end
from mcugen.samples.front_end import FrontEnd, StepError

WHERE = "--preprocess"
IMAGE, SOUND, NUMBER, AXES, DECISION = "images", "sounds", "numbers", "axes", "decisions"
_ORDER = {IMAGE: 0, SOUND: 0, NUMBER: 1, AXES: 2, DECISION: 0}
MAX_SIDE = 8192


@dataclass(frozen=True)
class Word:
    """One word of `--preprocess`.

    form: its syntax; what: its effect; stage: what it applies to, which also decides its place in the order
    append: appends its operators to a front end: (front end, value [n, ...], parsed value of the word) -> result; None
    for the order of axes, which depends on the network
    value: parser of its value, None if it has none
    spans: whether its results for a window depend on samples outside of that window
    """

    form: str
    what: str
    stage: str
    append: Callable[[FrontEnd, str, Any], str] | None
    value: Callable[[str], Any] | None = None
    spans: bool = False

    @property
    def name(self) -> str:
        return re.split(r"[=(]", self.form)[0]


@dataclass(frozen=True)
class PreprocessStep:
    """A word as the user gave it. text: with its value; value: the parsed value; append, spans: as in Word."""

    word: str
    stage: str
    value: Any
    text: str
    append: Callable[[FrontEnd, str, Any], str] | None = None
    spans: bool = False

    def appended(self, front: FrontEnd, x: str) -> str:
        """Append the operators of this word; returns their result."""
        return x if self.append is None else self.append(front, x, self.value)


@dataclass(frozen=True)
class Plan:
    """All steps, in order."""

    steps: tuple[PreprocessStep, ...] = ()

    def of(self, stage: str) -> tuple[PreprocessStep, ...]:
        return tuple(step for step in self.steps if step.stage == stage)

    @property
    def axes(self) -> str:
        """`nchw`, `nhwc`, or nothing."""
        return "".join(step.word for step in self.of(AXES))

    def refuse(self, stages: Sequence[str], what: str) -> None:
        """Raise UsageError if there is a step of these stages, which do not apply to samples of kind `what`."""
        for step in self.steps:
            if step.stage in stages:
                message = f"{step.text!r} is for {step.stage}, but the samples are {what}"
                raise UsageError(message, where=WHERE, hint=f"leave out {step.text!r}")


def number(text: str) -> float:
    """A number, or a fraction such as 1/127.5."""
    parts = text.split("/")
    value = float(parts[0]) / math.prod(map(float, parts[1:])) if len(parts) <= 2 else math.nan
    if not math.isfinite(value):
        raise ValueError("expected a number or a fraction, such as 1/255")
    return value


def factors(text: str) -> np.ndarray:
    """One number for all channels, or a number for each channel, separated by colons."""
    return np.array([number(part) for part in text.split(":")])


def divisors(text: str) -> np.ndarray:
    found = factors(text)
    if not found.all():
        raise ValueError("cannot divide by 0")
    return found


def _arithmetic(op: Op) -> Callable[[FrontEnd, str, np.ndarray], str]:
    """The function `append` of a word for numbers: op on the value, with a number or one for each channel."""

    def append(front: FrontEnd, x: str, factor: np.ndarray) -> str:
        rank = len(front.type(x).shape)
        axis = front.channels_of(x, factor.size) if factor.size > 1 else 0
        return front.node(
            op, front.real(x), front.constant(factor.reshape([-1 if k == axis else 1 for k in range(rank)]))
        )

    return append


WORDS = (
    Word("scale=S", "multiply by S: a number or a fraction, such as 1/127.5", NUMBER, _arithmetic(Mul()), factors),
    Word("offset=A", "add A", NUMBER, _arithmetic(Add()), factors),
    Word("mean=M", "subtract M", NUMBER, _arithmetic(Sub()), factors),
    Word("std=D", "divide by D", NUMBER, _arithmetic(Div()), divisors),
    Word("nchw", "put channels first that are last", AXES, None),
    Word("nhwc", "put channels last that are first", AXES, None),
)


def parse(text: str, words: Sequence[Word] = WORDS, where: str = WHERE) -> Plan:
    """The steps of an option, by default `--preprocess`. Raises UsageError, which lists the words if one is unknown."""
    steps = [_step(part.strip(), words, where) for part in _parts(text)]
    for before, after in itertools.pairwise(steps):
        if _ORDER[after.stage] < _ORDER[before.stage]:
            message = (
                f"{after.text!r} is for {after.stage} and comes after {before.text!r}, which is for {before.stage}"
            )
            hint = "the order is: words for images or sounds, for numbers, then nchw or nhwc"
            raise UsageError(message, where=WHERE, hint=hint)
    if len([step for step in steps if step.stage == AXES]) > 1:
        what = "only one of nchw and nhwc can be given"
        raise UsageError(what, where=WHERE, hint="give the order that the model wants")
    if len({step.stage for step in steps} & {IMAGE, SOUND}) > 1:
        raise UsageError("has words for images and for sounds", where=WHERE, hint="give those of one kind")
    return Plan(tuple(steps))


def _parts(text: str) -> list[str]:
    """The words, split at commas outside parentheses."""
    return re.split(r",(?![^()]*\))", text) if text.strip() else []


def _step(text: str, words: Sequence[Word], where: str) -> PreprocessStep:
    name, _, rest = text.replace("(", "=(", 1).partition("=")
    word = next((word for word in words if word.name == name.strip()), None)
    if word is None:
        hint = f"words are {', '.join(w.form for w in words)}"
        raise UsageError(f"{text!r} is not a known word", where=where, hint=hint)
    if word.value is None:
        if rest:
            raise UsageError(f"{name!r} takes no value", where=where, hint=f"write {word.form!r}")
        return PreprocessStep(word.name, word.stage, None, text, word.append, word.spans)
    try:
        return PreprocessStep(word.name, word.stage, word.value(rest.strip()), text, word.append, word.spans)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        message = f"{text!r}: {error}"
        raise UsageError(message, where=where, hint=f"{word.form}: {word.what}") from error


def numbers(plan: Plan, block: np.ndarray, channels: int | None) -> np.ndarray:
    """Samples [k, ...] after the steps for numbers. channels: see `FrontEnd`. Raises UsageError."""
    steps = plan.of(NUMBER)
    if not steps:
        return block
    with np.errstate(all="ignore"):  # overflow is reported later, with its place
        try:
            return front_end.applied(steps, block.astype(np.float32), channels=channels)
        except StepError as error:
            raise UsageError(str(error), where=WHERE, hint=f"correct {error.step!r}") from error


def manual(words: Sequence[Word] = WORDS) -> str:
    """The words and their effects, one line each."""
    width = max(len(word.form) for word in words)
    return "\n".join(f"{word.form:{width}}  {word.what} ({word.stage})" for word in words)
