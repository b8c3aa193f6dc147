"""The front end of wake words: 40 features of sound per window of 30 ms, in the integers of TFLM's signal operators.

Two front ends have this arithmetic and differ in their tables. `library` has the tables of the microfrontend library,
which microWakeWord and pymicro-features use. `operators` has those that TFLM's Python writes into
audio_preprocessor_int8. The library's tables are float32 after each operation; every operation is rounded correctly
here, so that all computers make the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.graph import Graph, Node, SampleStream, State, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import DTYPE_NAMES, TensorType
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.div import Div
from mcugen.ops.fft_auto_scale import FftAutoScale
from mcugen.ops.filter_bank import FilterBank
from mcugen.ops.filter_bank_log import FilterBankLog
from mcugen.ops.filter_bank_square_root import FilterBankSquareRoot
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.pcan import Pcan
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.reshape import Reshape
from mcugen.ops.signal_energy import SignalEnergy
from mcugen.ops.signal_window import SignalWindow
from mcugen.ops.spectral_subtraction import SpectralSubtraction

RATE, WINDOW, CHANNELS = 16_000, 480, 40
"""Samples per second, samples per window, features per window."""
SCALE, ZERO_POINT = 26 / 256, -128
"""Scale and zero point of the features, about: networks round the scale, and the integers are divided by 666 / 25.6."""
_SCALES = (0.995 * SCALE, 1.005 * SCALE)
_POINTS, _BITS = 512, 12
_LOW, _HIGH = 125.0, 7500.0
_GAIN_BITS, _GAINS = 21, 125
_LAST_BITS = {149: (2471, 1625), 221: (1401, 2695)}
"""Bin -> its weights if the last bit of log1pf is wrong, as in glibc and newlib: a correct one gives 1 less or more."""


@dataclass(frozen=True, eq=False)
class FrontTables:
    """Constants of a front end. window: [480]. bank: weights, unweights, first bins, first weights, widths. bins: first
    and last of the energies. gains: [125] of PCAN. ignores_least: whether -32768 counts as nothing in the scaling.
    """

    window: np.ndarray
    bank: tuple[np.ndarray, ...]
    bins: tuple[int, int]
    gains: np.ndarray
    ignores_least: bool


def library() -> FrontTables:
    """The tables of the microfrontend library with the settings of microWakeWord."""
    f = np.float32
    turn = f(f(f(math.pi) * f(2)) / f(WINDOW))
    phases = [f(turn * f(f(i) + f(0.5))) for i in range(WINDOW)]
    window = [_rounded(f(f(0.5) - f(f(0.5) * f(math.cos(float(phase)))))) for phase in phases]
    (weights, unweights, *places), bins = _bank(f, _rounded)
    for k, pair in _LAST_BITS.items():
        weights[k - bins[0]], unweights[k - bins[0]] = pair
    bank = (weights, unweights, *places)
    return FrontTables(np.array(window, np.int16), bank, bins, _gains(), ignores_least=True)


def operators() -> FrontTables:
    """The tables of audio_preprocessor_int8: float64, and weights are cut, not rounded."""
    half = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(WINDOW) + 0.5) / WINDOW)
    window = np.floor(half * (1 << _BITS) + 0.5).astype(np.int16)
    return FrontTables(window, *_bank(np.float64, _cut), _gains(), ignores_least=False)


def _rounded(x: np.floating[Any]) -> int:
    """A number with 12 fractional bits, rounded as the library does."""
    f = type(x)
    return math.floor(f(f(x * f(1 << _BITS)) + f(0.5)))


def _cut(x: np.floating[Any]) -> int:
    return math.floor(x * (1 << _BITS))


def _bank(
    f: type[np.floating[Any]], stored: Callable[[np.floating[Any]], int]
) -> tuple[tuple[np.ndarray, ...], tuple[int, int]]:
    """The tables of the filter bank, and the first and last bin. f: the type of each result; stored: its weights."""

    def mel(hertz: np.floating[Any]) -> np.floating[Any]:
        return f(f(1127) * f(math.log1p(float(f(hertz / f(700))))))

    low, high, spacing = mel(f(_LOW)), mel(f(_HIGH)), f(RATE / _POINTS)
    step = f(f(high - low) / f(CHANNELS + 1))
    centers = [f(low + f(step * f(c + 1))) for c in range(CHANNELS + 1)]
    first = k = int(f(1.5) + f(_LOW) / spacing)
    weights, begins = [], []
    for center, before in zip(centers, [low, *centers], strict=False):
        begins.append(k)
        while (place := mel(f(f(k) * spacing))) <= center:
            share = f(f(center - place) / f(center - before))
            weights.append((stored(share), stored(f(f(1) - share))))
            k += 1
    starts = np.array(begins)
    rows = (*np.array(weights).T, starts, starts - first, np.diff([*begins, k]))
    return tuple(row.astype(np.int16) for row in rows), (first, k)


def _gains() -> np.ndarray:
    """PCAN's table: the gain at 0 and 1, then a parabola per power of two. Wide gains wrap, as in the library."""
    f = np.float32

    def gain(x: int) -> int:
        base = f(f(f(x) / f(1 << 7)) + f(80))
        made = f(f(1 << _GAIN_BITS) * f(math.pow(float(base), float(f(-0.95)))))
        return 32767 if made > 32767 else int(f(made + f(0.5)))

    found = [gain(0), gain(1)]
    for bit in range(1, 32):
        start = 1 << bit
        y0, y1, y2 = gain(start), gain(start + start // 2), gain(2 * start - (bit == 31))
        bend = 4 * (y1 - y0) - (y2 - y0)
        found += [y0, bend, y2 - y0 - bend, 0]
    return np.array(found[:_GAINS]).astype(np.int16)


class _Nodes:
    """A graph under construction."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.nodes: list[Node] = []

    def tensor(self, t: TensorType, data: np.ndarray | None = None, label: str = "") -> str:
        name = f"t{len(self.tensors)}"
        self.tensors[name] = Tensor(name, t, data, label)
        return name

    def constant(self, data: np.ndarray) -> str:
        return self.tensor(TensorType(data.shape, DTYPE_NAMES[data.dtype]), data)

    def node(self, op: Op, *inputs: str, label: str = "") -> tuple[str, ...]:
        """Append an operator; returns its results."""
        made = op.infer(*(self.tensors[name].type for name in inputs))
        names = tuple(self.tensor(t, None, label or type(op).__name__) for t in made)
        self.nodes.append(Node(f"n{len(self.nodes)}", op, inputs, names, f"front end, {type(op).__name__}"))
        return names


def require_features(network: Graph) -> None:
    """Raise UnsupportedError unless the input of a network is rows of features."""
    hint = "give a network that was trained with the features of this front end"
    if len(network.inputs) != 1:
        raise UnsupportedError(f"the network has {len(network.inputs)} inputs, but features are one", hint=hint)
    x = network.tensors[network.inputs[0]]
    t, shape = x.type, x.type.shape
    is_rows = shape[-1:] == (CHANNELS,) or (t.size == max(shape, default=1) and t.size % CHANNELS == 0)
    scale = t.quant.scale[0] if t.quant else 0.0
    if t.dtype != "s8" or not is_rows or not _SCALES[0] <= scale <= _SCALES[1] or t.zero_point != ZERO_POINT:
        takes = (
            f"features are s8 [1, rows, {CHANNELS}] with a scale of about {SCALE:.4f} and the zero point {ZERO_POINT}"
        )
        raise UnsupportedError(f"the network's input {x.label!r} is {t}, but {takes}", hint=hint)


_NAMED = {"microwakeword": (library, 10), "micro_speech": (operators, 20)}
"""Name of a front end -> function that gives its tables, and milliseconds from window to window."""


def is_name(text: str) -> bool:
    """Whether the value of --preprocess is the name of a front end."""
    return text in _NAMED


def named(text: str, network: Graph) -> Graph | None:
    """The front end with this name, for a network; None if no front end has it. Raises UnsupportedError."""
    if text not in _NAMED:
        return None
    require_features(network)
    tables, milliseconds = _NAMED[text]
    return graph(tables(), milliseconds * RATE // 1000, network.format)


def graph(tables: FrontTables, hop: int, format_name: str) -> Graph:
    """The front end: [1, 480] samples to [1, 40] features. The noise estimate of each channel is a state.

    hop: samples from window to window. format_name: of the network behind it.
    """
    g = _Nodes()
    x = g.tensor(TensorType((1, WINDOW), "s16"), label="samples")
    noise = g.tensor(TensorType((CHANNELS,), "u32"), label="noise")
    (y,) = g.node(SignalWindow(_BITS), x, g.constant(tables.window))
    (y,) = g.node(Reshape((-1,)), y)
    y, bits = g.node(FftAutoScale(tables.ignores_least), y)
    (y,) = g.node(RealFourier(_POINTS), y)
    (y,) = g.node(SignalEnergy(*tables.bins), y)
    (y,) = g.node(FilterBank(CHANNELS), y, *map(g.constant, tables.bank))
    (y,) = g.node(FilterBankSquareRoot(), y, bits)
    subtraction = SpectralSubtraction((409, 983), ((1 << 14) - 409, (1 << 14) - 983), 10, 14, 819, clamps=False)
    y, after = g.node(subtraction, y, noise)
    (y,) = g.node(Pcan(6), y, after, g.constant(tables.gains))
    (y,) = g.node(FilterBankLog(3, 64), y)
    (y,) = g.node(Cast("s32"), y)
    steps: Sequence[tuple[Op, int]] = ((Mul(), 256), (Add(), 333), (Div(), 666), (Add(), -128))
    for op, number in (*steps, (Minimum(), 127), (Maximum(), -128)):
        (y,) = g.node(op, y, g.constant(np.array(number, np.int32)))
    (y,) = g.node(Cast("s8"), y)
    (y,) = g.node(Reshape((1, CHANNELS)), y, label="features")
    return Graph(
        "microfrontend",
        g.tensors,
        tuple(g.nodes),
        (x,),
        (y,),
        format=format_name,
        states=(State(noise, after, np.zeros(CHANNELS, np.uint32)),),
        stream=SampleStream(hop, 1, RATE),
    )
