"""The words of `--preprocess`: steps applied to a sample before the model gets it.

Words are separated by commas and applied from left to right. Words for images, sounds or motion come first, then words
for numbers, then the order of axes. Each word becomes operators, which round to float32 after each operation. The host
computes features by running these operators in the oracle, and a build makes them part of the model, so both have the
same bits.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcugen.errors import McugenError, UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op, evaluate
from mcugen.ir.types import DTYPE_NAMES, Shape, TensorType
from mcugen.ops.add import Add
from mcugen.ops.div import Div
from mcugen.ops.mul import Mul
from mcugen.ops.sub import Sub
from mcugen.samples.front_end import FrontEnd

WHERE = "--preprocess"
IMAGE, SOUND, MOTION, NUMBER, AXES, DECISION = "images", "sounds", "motion", "numbers", "axes", "decisions"
KINDS = (IMAGE, SOUND, MOTION)
"""The stages of words for one kind of samples. All words of an option are for the same kind."""
SIGNAL = "sounds or motion"
"""The stage of words that apply to sounds and to motion. `parse` replaces it by one of them."""
_ORDER = {**dict.fromkeys(KINDS, 0), NUMBER: 1, AXES: 2, DECISION: 0}
Reader = Callable[[str], Any]
"""A parser of a value. It raises ValueError."""
REFERENCE = "litert"
"""The runtime whose arithmetic operators without pinned bits have; none of them differs between runtimes."""


@dataclass(frozen=True)
class Word:
    """One word of `--preprocess`.

    form: its syntax; what: its effect; stage: what it applies to, which also decides its place in the order
    append: appends its operators to a front end: (front end, value [n, ...], parsed value of the word) -> result; None
    for the order of axes, which depends on the network
    value: parser of its value, None if it has none
    spans: whether its results for a window depend on samples outside of that window
    taken: for a camera's bytes: value -> the shape of these bytes [rows, columns, bytes]
    """

    form: str
    what: str
    stage: str
    append: Callable[[FrontEnd, str, Any], str] | None
    value: Reader | None = None
    spans: bool = False
    taken: Callable[[Any], Shape] | None = None

    @property
    def name(self) -> str:
        return re.split(r"[=(]", self.form)[0]


@dataclass(frozen=True)
class PreprocessStep:
    """A word as the user gave it: its text, and the parsed value in it. Steps of equal texts are equal."""

    word: Word
    text: str
    value: Any = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return self.word.name

    @property
    def stage(self) -> str:
        return self.word.stage


class StepError(ValueError):
    """A word that does not fit the samples. step: its text."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step


@contextlib.contextmanager
def reported(where: str, option: str = WHERE) -> Iterator[None]:
    """Raise a StepError as a UsageError. where: the option, or the file whose samples the word does not fit."""
    try:
        yield
    except StepError as error:
        hint = f"correct {error.step!r}" + f" of {option}" * (where != option)
        raise UsageError(str(error), where=where, hint=hint) from error


@dataclass(frozen=True)
class Plan:
    """All steps, in order."""

    steps: tuple[PreprocessStep, ...] = ()

    def of(self, stage: str) -> tuple[PreprocessStep, ...]:
        return tuple(step for step in self.steps if step.stage == stage)

    @property
    def kind(self) -> str:
        """The kind of samples that the words are for, one of KINDS; NUMBER if they take samples of any kind."""
        return next((step.stage for step in self.steps if step.stage in KINDS), NUMBER)

    @property
    def axes(self) -> str:
        """`nchw`, `nhwc`, or nothing."""
        return "".join(step.name for step in self.of(AXES))

    @property
    def rate(self) -> int:
        """Samples a second after the word `rate`; 0 without it."""
        return next((int(step.value) for step in self.steps if step.name == "rate"), 0)

    @property
    def frame(self) -> Shape | None:
        """The shape of the camera's bytes [rows, columns, bytes] that the first word takes; None if it takes none."""
        first = self.steps[0] if self.steps else None
        return first.word.taken(first.value) if first and first.word.taken else None

    def require(self, kind: str, what: str) -> None:
        """Raise UsageError if words are for another kind of samples. what: the samples, for the error."""
        for step in self.steps:
            if step.stage in KINDS and step.stage != kind:
                message = f"{step.text!r} is for {step.stage}, but the samples are {what}"
                or_motion = ", or add windows(window=...,hop=...) if they are motion"
                hint = f"leave out {step.text!r}{or_motion * (what == 'arrays' and step.stage == SOUND)}"
                raise UsageError(message, where=WHERE, hint=hint)


def number(text: str) -> float:
    """A number, or a fraction such as 1/127.5. Raises ValueError."""
    above, slash, below = text.partition("/")
    try:
        value = float(above) / (float(below) if slash else 1)
    except (ValueError, ZeroDivisionError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a number or a fraction, such as 1/255, found {text!r}")
    return value


def yes(text: str) -> bool:
    """`yes` or `no`. Raises ValueError."""
    return one_of(("yes", "no"))(text) == "yes"


def whole(low: int, high: int) -> Callable[[str], int]:
    """A parser of whole numbers from low to high. It raises ValueError."""

    def read(text: str) -> int:
        if not re.fullmatch(r"\s*[0-9]{1,9}\s*", text) or not low <= int(text) <= high:
            raise ValueError(f"expected a whole number, {low} to {high}, found {text!r}")
        return int(text)

    return read


def one_of(names: Collection[str]) -> Callable[[str], str]:
    """A parser of a name. It raises ValueError."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"expected one of {', '.join(names)}, found {text!r}")
        return text

    return read


def factors(text: str) -> np.ndarray:
    """One number for all channels, or a number for each channel, separated by colons."""
    return np.array([number(part) for part in text.split(":")])


def divisors(text: str) -> np.ndarray:
    """Factors, none of which is 0. Raises ValueError."""
    found = factors(text)
    if not found.all():
        raise ValueError("cannot divide by 0")
    return found


def parameters(text: str, readers: Mapping[str, Reader], needed: str = "") -> dict[str, Any]:
    """The parameters in parentheses, by name; none of an empty text.

    needed: an example of the parameters that must be given. Raises ValueError.
    """
    if not text and not needed:
        return {}
    if not (text.startswith("(") and text.endswith(")")):
        raise ValueError(f"expected parameters in parentheses{f', such as ({needed})' if needed else ''}")
    found: dict[str, Any] = {}
    for part in text[1:-1].split(","):
        name, _, value = part.strip().partition("=")
        if name in found:
            raise ValueError(f"{name} is given twice")
        if name not in readers:
            raise ValueError(f"{part.strip()!r} is no parameter; parameters are {', '.join(sorted(readers))}")
        try:
            found[name] = readers[name](value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    for example in filter(None, needed.split(",")):
        if example.partition("=")[0] not in found:
            raise ValueError(f"needs {example.partition('=')[0]}=..., such as {example}")
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
    steps = _of_one_signal([_step(part.strip(), words, where) for part in _parts(text)])
    for before, after in itertools.pairwise(steps):
        if _ORDER[after.stage] < _ORDER[before.stage]:
            message = (
                f"{after.text!r} is for {after.stage} and comes after {before.text!r}, which is for {before.stage}"
            )
            hint = "the order is: words for images, sounds or motion, for numbers, then nchw or nhwc"
            raise UsageError(message, where=where, hint=hint)
    for step in steps[1:]:
        if step.word.taken:
            raise UsageError(f"{step.text!r} takes a camera's bytes", where=where, hint="put it before all other words")
    if len([step for step in steps if step.stage == AXES]) > 1:
        what = "only one of nchw and nhwc can be given"
        raise UsageError(what, where=where, hint="give the order that the model wants")
    kinds = [kind for kind in KINDS if kind in {step.stage for step in steps}]
    if len(kinds) > 1:
        hint = f"leave out the words for {' or those for '.join(kinds)}"
        raise UsageError(f"has words for {' and for '.join(kinds)}", where=where, hint=hint)
    return Plan(tuple(steps))


def _of_one_signal(steps: Sequence[PreprocessStep]) -> list[PreprocessStep]:
    """The steps, in which those for sounds or motion are for motion if another step is, else for sounds."""
    stage = MOTION if any(step.stage == MOTION for step in steps) else SOUND
    return [replace(s, word=replace(s.word, stage=stage)) if s.stage == SIGNAL else s for s in steps]


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
        return PreprocessStep(word, text)
    try:
        return PreprocessStep(word, text, word.value(rest.strip()))
    except ValueError as error:
        message = f"{text!r}: {error}"
        raise UsageError(message, where=where, hint=f"{word.form}: {word.what}") from error


def numbers(plan: Plan, block: np.ndarray, channels: int | None) -> np.ndarray:
    """Samples [k, ...] after the steps for numbers. channels: see `FrontEnd`. Raises UsageError."""
    steps = plan.of(NUMBER)
    if not steps:
        return block
    with np.errstate(all="ignore"), reported(WHERE):  # overflow is reported later, with its place
        return applied(steps, block.astype(np.float32), channels=channels)


def appended(front: FrontEnd, x: str, steps: Sequence[PreprocessStep]) -> str:
    """Append the operators of words to a front end, in their order; returns their result. Raises StepError."""
    for step in steps:
        front.word = step.word.name
        try:
            x = step.word.append(front, x, step.value) if step.word.append else x
        except (ValueError, McugenError) as error:
            raise StepError(step.text, str(error)) from error
    front.word = ""
    return x


def applied(
    steps: Sequence[PreprocessStep], block: np.ndarray, rate: float = 0, channels: int | None = None
) -> np.ndarray:
    """Samples [n, ...] after words. Raises StepError."""
    if not steps:
        return block
    return _run(_built(tuple(steps), TensorType(block.shape, DTYPE_NAMES[block.dtype]), rate, channels), block)


def type_after(steps: Sequence[PreprocessStep], given: TensorType, channels: int | None = None) -> TensorType:
    """The type of samples [n, ...] after words. Raises StepError."""
    graph = _built(tuple(steps), given, 0, channels)
    return graph.type(graph.outputs[0])


@functools.lru_cache(8)
def _built(steps: tuple[PreprocessStep, ...], given: TensorType, rate: float, channels: int | None) -> Graph:
    front = FrontEnd(given, rate, channels)
    return front.graph(appended(front, front.given, steps))


def _run(graph: Graph, x: np.ndarray) -> np.ndarray:
    """The result of a front end in the oracle. Values that no node reads any more are dropped."""
    values = {name: t.data for name, t in graph.tensors.items() if t.data is not None} | {graph.inputs[0]: x}
    last = {name: k for k, node in enumerate(graph.nodes) for name in node.inputs}
    for k, node in enumerate(graph.nodes):
        operands = [None if name is None else values[name] for name in node.inputs]
        values[node.outputs[0]] = evaluate(graph.call(node, REFERENCE), operands)[0]
        for name in {name for name in node.inputs if name is not None and last[name] == k} - set(graph.outputs):
            del values[name]
    return values[graph.outputs[0]]
