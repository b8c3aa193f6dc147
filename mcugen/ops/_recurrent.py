"""Shared recipe of recurrent float layers: operand shapes, activations, and constants of the C structs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.imports import Expansion, Source
from mcugen.ir.op import Example, Op
from mcugen.ir.quant_rule import RECURRENT, Scales, refused
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink
from mcugen.ops import _onnx
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.reshape import Reshape
from mcugen.ops.reverse import Reverse
from mcugen.ops.split import Split
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose

KINDS = {"Sigmoid": 0, "Tanh": 1, "Relu": 2}
"""Activation -> its number in recurrent_f32.h."""

_SPELLED = {name.lower(): name for name in KINDS}

_BACKWARDS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""The attribute `direction` -> for each direction of the layer, whether it starts at the last step."""

TERMS = ("steps", "units", "curved")
"""Cost terms of recurrent kernels, see `work`."""

_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Sigmoid": lambda x: np.asarray(1.0 / (1.0 + np.exp(-x))),
    "Tanh": lambda x: np.asarray(np.tanh(x)),
    "Relu": lambda x: np.asarray(np.maximum(x, 0.0)),
}


def activated(name: str, x: np.ndarray, clip: float) -> np.ndarray:
    """The activation `name` of x. A clip above 0 first limits x to [-clip, clip]."""
    with np.errstate(over="ignore"):
        return _FUNCTIONS[name](np.clip(x, -clip, clip) if clip else x)


def operands(x: TensorType | None, w: TensorType | None, r: TensorType | None, gates: int) -> tuple[int, int, int, int]:
    """(steps, batches, inputs, hidden) of x [T, B, I], w [gates * H, I] and r [gates * H, H]. Raises ShapeError."""
    if x is None or w is None or r is None or len(x.shape) != 3 or len(w.shape) != 2 or len(r.shape) != 2:
        raise ShapeError(f"data {x} with weights {w} and {r} must have 3, 2 and 2 axes")
    if {x.dtype, w.dtype, r.dtype} != {"f32"}:
        raise UnsupportedError(f"data {x} with weights {w} and {r}: all must be f32")
    hidden = r.shape[1]
    if w.shape != (gates * hidden, x.shape[2]) or r.shape[0] != gates * hidden:
        raise ShapeError(f"weights {list(w.shape)} and {list(r.shape)} do not fit data {list(x.shape)}")
    return x.shape[0], x.shape[1], x.shape[2], hidden


def work(call: Call, hidden: int, functions: Sequence[str]) -> dict[str, float]:
    """The cost terms, summed over all sequences: steps, hidden units computed, and sigmoids and tanhs computed.

    functions: the activations that each hidden unit computes per step.
    """
    steps = call.input(0).shape[0] * call.input(0).shape[1]
    curved = sum(name != "Relu" for name in functions)
    return {"steps": steps, "units": steps * hidden, "curved": steps * hidden * curved}


def on_integers(call: Call, usual: bool, weights: Sequence[int]) -> Scales:
    """The rule for quantizing a layer. usual: whether its activations have an integer form; weights: the operands that
    must be constant.
    """
    if not usual:
        return refused("its activations are not sigmoid for gates and tanh for values, which the integer form has")
    if any(call.constants[k] is None for k in weights):
        return refused("its weights or biases are computed at run time")
    return RECURRENT


def check(what: str, t: TensorType | None, shape: tuple[int, ...]) -> None:
    """Raise ShapeError if an operand has another shape. what: its name in the message."""
    if t is None or t.shape != shape:
        raise ShapeError(f"{what} {list(t.shape) if t else []} must have the shape {list(shape)}")


def check_activations(names: Sequence[str], count: int) -> None:
    """Raise UnsupportedError unless there are `count` activations and the C kernels have all of them."""
    unknown = sorted(set(names) - set(KINDS))
    if unknown or len(names) != count:
        hint = f"use {count} of {', '.join(KINDS)}"
        raise UnsupportedError(f"activations {list(names)} are not supported", hint=hint)


def example(
    op: Op, gates: int, sizes: tuple[int, int, int, int], rest: Sequence[tuple[int, ...]], seed: int
) -> Example:
    """An example on random data. sizes: (steps, batches, inputs, hidden). rest: shapes of the operands after r.

    Odd seeds make the weights and biases constant, even seeds make them operands computed at run time.
    """
    t, b, i, h = sizes
    shapes = ((t, b, i), (gates * h, i), (gates * h, h), *rest)
    inputs = tuple(TensorType(shape, "f32") for shape in shapes)
    last = len(shapes) - 1 if len(shapes) > 6 else None  # peephole weights are always constant
    constants = {k: None for k, shape in enumerate(shapes) if k in (1, 2) or len(shape) == 1} if seed % 2 else {}
    return Example(op, inputs, op.infer(*inputs), constants if last is None else {**constants, last: None}, seed)


@dataclass(frozen=True)
class Direction:
    """One direction of an ONNX recurrent layer.

    index: index of this direction; directions: number of directions. x: the data [T, B, I] in the order of this
    direction's steps. w, r: weights of this direction.
    """

    source: Source
    inputs: Sequence[str | None]
    index: int
    directions: int
    x: str
    w: str
    r: str
    batches: int
    hidden: int

    def activations(self, default: Sequence[str]) -> Sequence[str]:
        """The names of this direction's activations; upper and lower case are equal, as in ONNX Runtime."""
        a, count = self.source.attributes, len(default)
        a.ignore("activation_alpha", "activation_beta")  # no activation in KINDS has parameters
        given = [_SPELLED.get(name.lower(), name) for name in a["activations"] or ()]
        if given and len(given) not in (count * self.directions, count * 2):  # the default of RNN lists both directions
            raise UnsupportedError(
                f"{len(given)} activations for {self.directions} directions are not supported",
                hint=f"give {count} for each direction",
            )
        return given[self.index * count : (self.index + 1) * count] if given else default

    def clip(self) -> float:
        """The attribute `clip`; 0 if it is absent or infinite. Raises UnsupportedError if it is not above 0."""
        stated = self.source.attributes["clip"]
        if stated is not None and not stated > 0:
            raise UnsupportedError(f"clip={stated:g} is not supported: it must be above 0")
        return 0.0 if stated is None or isinf(stated) else float(stated)

    def biases(self, e: Expansion, gates: int) -> tuple[str, str]:
        """The input bias and the recurrent bias, [gates * H] each; zeros if the layer has none."""
        size = gates * self.hidden
        b = part(e, self.inputs, 3, self.index)
        if b is None:
            zeros = e.constant(np.zeros(size, np.float32))
            return zeros, zeros
        first, second = e.nodes(Split(0, (size, size)), b)
        return first, second

    def state(self, e: Expansion, k: int) -> str:
        """The initial state [B, H] from operand k; zeros if it is absent."""
        found = part(e, self.inputs, k, self.index)
        return found or e.constant(np.zeros((self.batches, self.hidden), np.float32))

    def peepholes(self, e: Expansion) -> str | None:
        """The peephole weights [3 * H] of an LSTM; None if there are none."""
        return part(e, self.inputs, 7, self.index)


def part(e: Expansion, inputs: Sequence[str | None], k: int, index: int) -> str | None:
    """The part of operand k for the direction `index`, without the axis of directions; None if the operand is absent.
    """
    name = inputs[k] if k < len(inputs) else None
    if name is None:
        return None
    shape = e.type(name).shape
    ranges = ((index, 1, 1), *((0, d, 1) for d in shape[1:]))
    return e.node(StridedSlice(ranges, shape[1:]), name)


def directions(source: Source, e: Expansion, layer: Callable[[Direction], Sequence[str]]) -> Sequence[str]:
    """The results of a layer with D directions: y [T, D, B, H], then the final states [D, B, H].

    layer: appends one direction; returns the names of its y [T, B, H] and final states [B, H].

    Source: ONNX LSTM-14, GRU-14, RNN-14.
    """
    a = source.attributes
    if a["layout"] not in (0, 1):
        raise UnsupportedError(f"layout={a['layout']} is not supported")
    inputs = _steps_first(e, a["layout"])
    x, w, r = inputs[:3]
    if x is None or w is None or r is None or len(e.type(x).shape) != 3 or len(e.type(w).shape) != 3:
        has = ", ".join(str(None if t is None else e.type(t)) for t in (x, w, r))
        raise ShapeError(f"a recurrent layer needs data and weights of three axes, but has {has}")
    steps, batches, hidden = *e.type(x).shape[:2], e.type(r).shape[-1]
    _check_lengths(source, steps)
    if a["hidden_size"] not in (None, hidden):
        raise ShapeError(f"hidden_size={a['hidden_size']} does not fit weights for {hidden} hidden units")
    if a["direction"] not in _BACKWARDS:
        raise UnsupportedError(f"direction={a['direction']!r} is not supported")
    reversed_ones = _BACKWARDS[a["direction"]]
    if e.type(w).shape[0] != len(reversed_ones):
        raise ShapeError(f"the first axis of weights {list(e.type(w).shape)} must be {len(reversed_ones)} directions")
    made: list[list[str]] = []
    for index, backwards in enumerate(reversed_ones):
        data = e.node(Reverse((0,)), x) if backwards else x
        one = Direction(source, inputs, index, len(reversed_ones), data, *_weights(e, inputs, index), batches, hidden)
        y, *states = layer(one)
        turned = e.node(Reverse((0,)), y) if backwards else y
        made.append([e.node(Reshape((steps, 1, batches, hidden)), turned), *(_with_axis(e, s) for s in states)])
    joined = [
        parts[0] if len(parts) == 1 else e.node(Concatenation(int(k == 0)), *parts)
        for k, parts in enumerate(zip(*made, strict=True))
    ]
    if not a["layout"]:
        return joined
    return [e.node(Transpose((2, 0, 1, 3)), joined[0]), *(e.node(Transpose((1, 0, 2)), s) for s in joined[1:])]


def _weights(e: Expansion, inputs: Sequence[str | None], index: int) -> tuple[str, str]:
    w, r = part(e, inputs, 1, index), part(e, inputs, 2, index)
    if w is None or r is None:
        raise ShapeError("the weights W (operand 1) or R (operand 2) are missing")
    return w, r


def _steps_first(e: Expansion, layout: int) -> list[str | None]:
    """The operands in layout 0: data [T, B, I], states [D, B, H]."""
    swapped = (0, 5, 6) if layout else ()
    return [
        e.node(Transpose((1, 0, 2)), name) if k in swapped and name is not None else name
        for k, name in enumerate(e.inputs)
    ]


def _with_axis(e: Expansion, state: str) -> str:
    return e.node(Reshape((1, *e.type(state).shape)), state)


def _check_lengths(source: Source, steps: int) -> None:
    """Raise UnsupportedError unless all sequences have as many steps as the data."""
    if len(source.inputs) > 4 and source.inputs[4] is not None:
        lengths = source.ints(4)
        if lengths is None or set(lengths) != {steps}:
            raise UnsupportedError(f"sequence_lens (operand 4) must be constant, with {steps} for every sequence")


def to_onnx(
    call: Call,
    sink: Sink,
    name: str,
    operands: tuple[Sequence[str | None], Sequence[str], Sequence[str | None]],
    attributes: Mapping[str, Any],
) -> Sequence[str]:
    """The results of a layer with one direction, written to ONNX.

    ONNX has an axis of directions, and both biases in one operand.
    operands: (data and weights), (input bias and recurrent bias), (initial states and further operands).
    """
    (x, *weights), biases, states = operands
    both = _joined(sink, biases)
    rest = [None if n is None else _in_direction(sink, n) for n in (*weights, both)]
    after = [None if n is None else _in_direction(sink, n) for n in states]
    steps, *finals = call.outputs
    types = [steps.with_shape((steps.shape[0], 1, *steps.shape[1:])), *(t.with_shape((1, *t.shape)) for t in finals)]
    stated = {"hidden_size": steps.shape[2], **attributes}
    made = sink.operator(name, [x, *rest, None, *after], types, stated)
    return [_onnx.reshaped(sink, n, t) for n, t in zip(made, call.outputs, strict=True)]


def _joined(sink: Sink, names: Sequence[str]) -> str:
    """Vectors, concatenated; a constant if all of them are constant."""
    data = [found for name in names if (found := sink.data(name)) is not None]
    if len(data) == len(names):
        scales = [quant for name in names if (quant := sink.type(name).quant) is not None]
        every = tuple(s for quant in scales for s in quant.scale)
        return sink.constant(np.concatenate(data), QuantParams(every, (0,) * len(every)) if every else None)
    size = sum(sink.type(name).size for name in names)
    return sink.operator("Concat", names, [TensorType((size,), "f32")], {"axis": 0})[0]


def _in_direction(sink: Sink, name: str) -> str:
    t, data = sink.type(name), sink.data(name)
    if t.quant is not None and t.quant.per_channel and data is not None:
        return sink.constant_of(replace(t, shape=(1, *t.shape), quant=replace(t.quant, axis=t.quant.axis + 1)), data)
    return _onnx.reshaped(sink, name, t.with_shape((1, *t.shape)))


def clipped(clip: float) -> dict[str, float]:
    """The attribute `clip`; {} if `clip` is 0."""
    return {"clip": clip} if clip else {}
