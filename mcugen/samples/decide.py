"""The words of `--decide`: operators after a network that turn its scores into decisions.

A network's scores of one run are [1, classes] in float32. Values of earlier runs are states of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.streams import DECIDES
from mcugen.ops.add import Add
from mcugen.ops.arg_max import ArgMax
from mcugen.ops.cast import Cast
from mcugen.ops.compare import Compare
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.logical import Logical
from mcugen.ops.maximum import Maximum
from mcugen.ops.mul import Mul
from mcugen.ops.newest_rows import NewestRows
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.select import Select
from mcugen.ops.sub import Sub
from mcugen.ops.top_k import TopK
from mcugen.samples import anomaly, boxes, preprocess
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import DECISION, Word, number, whole

OPTION = "--decide"
MAX_RUNS = 1000


_runs = whole(1, MAX_RUNS)


def _share(text: str) -> float:
    found = number(text)
    if not 0 < found < 1:
        raise ValueError(f"expected a number above 0 and below 1, found {text!r}")
    return found


def _limits(text: str) -> tuple[float, float]:
    on, _, off = text.partition(":")
    found = number(on), number(off or on)
    if found[1] > found[0]:
        raise ValueError(f"expected ON, or ON:OFF with OFF at most ON, found {text!r}")
    return found


def _scores(front: FrontEnd, x: str) -> int:
    """The number of classes. Raises ValueError if the value is no scores."""
    t = front.type(x)
    if t.dtype != "f32" or len(t.shape) != 2:
        raise ValueError("takes scores, but comes after a word that makes decisions")
    return t.shape[1]


def _constant(front: FrontEnd, value: float) -> str:
    return front.constant(np.array([[value]], np.float32))


def _newest(front: FrontEnd, x: str, runs: int) -> str:
    """The values [runs, classes] of the newest runs, oldest first, with zeros before the first run."""
    before = front.state(np.zeros((runs, front.type(x).shape[1]), np.float32))
    newest = front.node(NewestRows(), before, x)
    front.keep(before, newest)
    return newest


def _sum(front: FrontEnd, x: str, runs: int, weight: float) -> str:
    """The sum of the newest runs, times a weight."""
    if runs == 1:
        return x
    return front.total(_newest(front, x, runs), 0, weight)


def averaged(front: FrontEnd, x: str, runs: int) -> str:
    """The mean of the newest scores."""
    _scores(front, x)
    return _sum(front, x, runs, 1 / runs)


def smoothed(front: FrontEnd, x: str, share: float) -> str:
    """s + share * (x - s), where s is the result of the run before, at first 0."""
    before = front.state(np.zeros((1, _scores(front, x)), np.float32))
    moved = front.node(Mul(), front.node(Sub(), x, before), _constant(front, share))
    found = front.node(Add(), before, moved)
    front.keep(before, found)
    return found


def switched(front: FrontEnd, x: str, limits: tuple[float, float]) -> str:
    """Whether each score is above ON, or above OFF if it was on in the run before: bool [1, classes]."""
    on, off = limits
    before = front.state(np.zeros((1, _scores(front, x)), np.float32))
    lowered = front.node(Mul(), before, _constant(front, float(np.float32(on) - np.float32(off))))
    found = front.node(Compare("GREATER"), x, front.node(Sub(), _constant(front, on), lowered))
    front.keep(before, front.node(Cast("f32"), found))
    return found


def held_off(front: FrontEnd, x: str, runs: int) -> str:
    """Detections, but none in the next `runs` runs after a run with a detection: bool [1, classes]."""
    if front.type(x).dtype != "bool":
        raise ValueError("takes detections: put hysteresis before it")
    wait = front.state(np.zeros((1, 1), np.float32))
    free = front.node(Compare("LESS_EQUAL"), wait, _constant(front, 0))
    found = front.node(Logical("and"), x, free)
    fired = front.node(ReduceMax((1,), keep_dims=True), front.node(Cast("f32"), found))
    less = front.node(Maximum(), front.node(Sub(), wait, _constant(front, 1)), _constant(front, 0))
    front.keep(wait, front.node(Maximum(), front.node(Mul(), fired, _constant(front, runs)), less))
    return found


def classified(front: FrontEnd, x: str, limit: float) -> str:
    """The class with the largest score; the number of classes if all are below the limit: s32 [1]."""
    classes = _scores(front, x)
    best = front.node(ReduceMax((1,), keep_dims=False), x)
    known = front.node(Compare("GREATER_EQUAL"), best, front.constant(np.array([limit], np.float32)))
    unknown = front.constant(np.array([classes], np.int32))
    return front.node(Select(), known, front.node(ArgMax(1, "s32"), x), unknown)


def elected(front: FrontEnd, x: str, runs: int) -> str:
    """The class that most often had the largest score in the newest runs; the first of several: s32 [1]."""
    classes = _scores(front, x)
    chosen = front.shaped(front.node(ArgMax(1, "s32"), x), (1, 1))
    votes = front.node(Compare("EQUAL"), front.constant(np.arange(classes, dtype=np.int32)[None]), chosen)
    return front.node(ArgMax(1, "s32"), _sum(front, front.node(Cast("f32"), votes), runs, 1))


def best(front: FrontEnd, x: str, count: int) -> str:
    """The classes with the largest scores, best first: s32 [1, count]."""
    if count > _scores(front, x):
        raise ValueError(f"there are only {front.type(x).shape[1]} classes")
    return front.nodes(TopK(count), x)[1]


def _word(form: str, what: str, append: Callable[[FrontEnd, str, Any], str], value: Callable[[str], Any]) -> Word:
    return Word(form, what, DECISION, append, value)


WORDS = (
    _word("mean=N", "mean of the newest N scores", averaged, _runs),
    _word("smooth=A", "add A times the change since the run before", smoothed, _share),
    _word("hysteresis=ON:OFF", "on for scores above ON, until one is not above OFF", switched, _limits),
    _word("holdoff=N", "no detection in N runs after one", held_off, _runs),
    _word("vote=N", "class that most often had the largest score in the newest N runs", elected, _runs),
    _word("unknown=T", "class with the largest score; the number of classes if all are below T", classified, number),
    _word("topk=K", "classes with the K largest scores", best, _runs),
    anomaly.WORD,
    boxes.WORD,
)


def graph_for(text: str, network: Graph) -> Graph:
    """The graph from the scores of a network to decisions. Raises UsageError."""
    plan = preprocess.parse(text, WORDS, OPTION)
    if len(network.outputs) != 1:
        message = f"needs a model with one output, but this one has {len(network.outputs)}"
        raise UsageError(message, where=OPTION, hint="decide in your own code")
    t = network.type(network.outputs[0])
    if t.dtype not in ("f32", "s8", "u8", "s16") or (not t.is_float and t.quant is None) or t.shape[:1] != (1,):
        raise UsageError(f"the output {t} is no scores", where=OPTION, hint="give a model with scores [1, classes]")
    front = FrontEnd(t, option=OPTION, role=DECIDES)
    x = front.given if t.is_float else front.node(Dequantize(), front.given)
    with preprocess.reported(OPTION, OPTION):
        y = preprocess.appended(front, front.shaped(x, (1, t.size)), plan.steps)
    what = f"the output is what --decide makes, {front.type(y)}"
    return replace(front.graph(y), name=network.name, format=network.format, unlike_file=(what,), notes=(what,))
