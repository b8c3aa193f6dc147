"""SignalOverlapAdd: samples, as the sum of overlapping frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import NUMPY_DTYPES, TensorType, dtypes
from mcugen.ops import _signal, _tflite
from mcugen.ops._tflite import TfliteTarget
from mcugen.system import flexbuffer

_NUMBERS = {"s16": 7, "f32": 0}
"""Element type -> its number in the schema of .tflite."""


def from_tflite(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of OverlapAdd. The sums that later frames add to are a state with the initial value 0."""
    options = flexbuffer.options(source.attributes["custom_options"], T=-1, frame_step=0)
    x = e.inputs[0] if e.inputs else None
    if x is None or options["T"] != _NUMBERS.get(e.type(x).dtype, -2) or len(e.type(x).shape) < 2:
        raise UnsupportedError(f"the option T={options['T']} must be the type of the frames {x and e.type(x)}")
    e.refuse("litert", "no operator of the signal library")
    t, name = e.type(x), e.own("sums")
    state = e.read(name, np.zeros((*t.shape[:-2], t.shape[-1]), NUMPY_DTYPES[t.dtype]))
    y, rest = e.nodes(OverlapAdd(int(options["frame_step"])), x, state)
    e.write(name, rest)
    return [y]


def params(call: Call) -> Params:
    op, shape = call.op, call.input(0).shape
    assert isinstance(op, OverlapAdd)
    return {"rows": call.input(1).size // shape[-1], "frames": shape[-2], "size": shape[-1], "step": op.step}


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """SignalOverlapAdd, which updates the sums as its own state."""
    state = str(inputs[1])
    sink.keep(state, state)
    options = {"T": _NUMBERS[call.input(0).dtype], "frame_step": call.op.step}
    return [_tflite.customized(call, sink, "SignalOverlapAdd", inputs[:1], options, call.outputs[:1])[0], state]


@dataclass(frozen=True)
class OverlapAdd(Op):
    """Each frame is added to the sums. The first `step` sums are the next samples; the sums move up, and zeros follow.

    x: s16 (sums saturate) or f32 [..., frames, size]   s: as x [..., size], the sums so far
    y: as x [..., frames * step], and the sums after the last frame [..., size]
    Source: TFLM signal library, overlap_add.cc.
    """

    step: int

    tflm_types = dtypes("s16 f32")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalOverlapAdd", expand=from_tflite),)
    writes = (_tflite.to_target(to_tflite),)
    kernels = tuple(
        Kernel(f"mg_overlap_add_{dtype}", Whole(), (_signal.data_is(dtype),), params, operands=(0, 1))
        for dtype in _NUMBERS
    )

    def infer(self, x: TensorType | None, s: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or s is None or x.dtype not in _NUMBERS or s.dtype != x.dtype:
            raise UnsupportedError(f"frames {x} and sums {s} must both be int16 or both float32")
        if len(x.shape) < 2 or s.shape != (*x.shape[:-2], x.shape[-1]) or not 0 < self.step <= x.shape[-1]:
            raise ShapeError(f"frames {x} and sums {s} need one size, and frame_step {self.step} must be 1 to it")
        made = (*x.shape[:-2], x.shape[-2] * self.step)
        return TensorType(made, x.dtype), TensorType(s.shape, x.dtype)

    def reference(self, x: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, ...]:
        return self._run(x, s, -np.inf, np.inf)

    def reference_q(self, call: Call, x: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, ...]:
        return self._run(x.astype(np.int64), s.astype(np.int64), -32768, 32767)

    def _run(self, x: np.ndarray, s: np.ndarray, low: float, high: float) -> tuple[np.ndarray, ...]:
        sums, made = s, []
        for k in range(x.shape[-2]):
            sums = np.clip(sums + x[..., k, :], low, high)
            made.append(sums[..., : self.step])
            sums = np.concatenate([sums[..., self.step :], np.zeros_like(made[-1])], axis=-1)
        return np.concatenate(made, axis=-1), sums

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = ((3, (4, 8)), (5, (2, 3, 5)), (1, (1, 4)))
        return [
            Example(op, (x, s), op.infer(x, s), {}, k)
            for k, (step, shape) in enumerate(cases)
            for dtype in _NUMBERS
            for op, x in [(cls(step), TensorType(shape, dtype))]
            for s in [TensorType((*shape[:-2], shape[-1]), dtype)]
        ]
