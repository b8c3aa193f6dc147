"""SignalStacker: each frame together with the frames before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _tflite
from mcugen.ops._tflite import TfliteTarget
from mcugen.system import flexbuffer

_MOST = 1 << 16


def from_tflite(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of SignalStacker. The stored frames and their count are states with the initial value 0."""
    options = flexbuffer.options(
        source.attributes["custom_options"],
        num_channels=0,
        stacker_left_context=0,
        stacker_right_context=0,
        stacker_step=0,
    )
    channels, left, right, step = (int(v) for v in options.values())
    x = e.inputs[0] if e.inputs else None
    if x is None or len(source.outputs) != 2:
        raise ShapeError("SignalStacker needs one operand and two results")
    e.refuse("litert", "no operator of the signal library")
    op = SignalStacker(channels, left, right, step)
    op.check(e.type(x))
    frames, count = e.own("frames"), e.own("count")
    kept = e.read(frames, np.zeros(channels * (left + right + 1), np.int16))
    known = e.read(count, np.array(0, np.int32))
    y, valid, new_kept, new_known = e.nodes(op, x, kept, known)
    e.write(frames, new_kept)
    e.write(count, new_known)
    return [y, valid]


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, SignalStacker)
    return {"channels": op.channels, "left": op.left, "frames": op.left + op.right + 1, "step": op.step}


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """SignalStacker, which updates the frames and their count as its own states."""
    op, states = call.op, [str(name) for name in inputs[1:]]
    for state in states:
        sink.keep(state, state)
    options = {
        "num_channels": op.channels,
        "stacker_left_context": op.left,
        "stacker_right_context": op.right,
        "stacker_step": op.step,
    }
    return [*_tflite.customized(call, sink, "SignalStacker", inputs[:1], options, call.outputs[:2]), *states]


@dataclass(frozen=True)
class SignalStacker(Op):
    """The last left + right + 1 frames, once that many are valid; `step` of them then become invalid.

    x: s16 [channels]   kept: s16 [frames * channels], the last frames, newest last
    count: s32 [], number of valid frames + 1, or 0 before the first frame, which is stored left + 1 times
    results: y, as kept; valid: bool []; kept and count for the next run. The runtime does not write y unless valid.
    Source: TFLM signal library, stacker.cc.
    """

    channels: int
    left: int
    right: int
    step: int

    tflm_types = dtypes("s16")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalStacker", expand=from_tflite),)
    writes = (_tflite.to_target(to_tflite),)
    kernels = (Kernel("mg_signal_stacker", Whole(), params=params, operands=(0, 1, 2)),)

    def check(self, x: TensorType | None) -> None:
        """Raise ShapeError or UnsupportedError for data or sizes that the runtime does not support."""
        frames = self.left + self.right + 1
        if x is None or x.dtype != "s16" or x.shape != (self.channels,):
            raise ShapeError(f"data {x} must be {self.channels} channels of s16")
        if min(self.left, self.right) < 0 or frames * self.channels > _MOST or not 1 <= self.step <= frames:
            raise UnsupportedError(
                f"left_context={self.left} and right_context={self.right} must not be negative, and their {frames} "
                f"frames of {self.channels} channels may have {_MOST} values; the step {self.step} must be 1 to "
                f"{frames} frames"
            )

    def infer(self, x: TensorType | None, kept: TensorType | None, count: TensorType | None) -> tuple[TensorType, ...]:
        self.check(x)
        frames = TensorType(((self.left + self.right + 1) * self.channels,), "s16")
        number = TensorType((), "s32")
        return frames, TensorType((), "bool"), frames, number

    def reference_q(self, call: Call, x: np.ndarray, kept: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, ...]:
        """kept, count: the states that the class describes."""
        frames, known = self.left + self.right + 1, int(count)
        rows = kept.reshape(frames, self.channels)
        copies = 1 if known > 0 else self.left + 1
        rows = np.concatenate([rows, np.tile(x, (copies, 1))])[-frames:]
        known = max(known - 1, 0) + copies
        valid = known >= frames
        return rows.reshape(-1), np.array(valid), rows.reshape(-1), np.array(known - self.step * valid + 1)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = []
        for k, (sizes, count) in enumerate(
            (((4, 2, 1, 2), None), ((3, 0, 0, 1), 0), ((2, 3, 0, 4), 5), ((5, 1, 2, 1), 0))
        ):
            op = cls(*sizes)
            x, kept = TensorType((op.channels,), "s16"), TensorType(((op.left + op.right + 1) * op.channels,), "s16")
            number = TensorType((), "s32")
            constants = {} if count is None else {2: np.array(count, np.int32)}
            made.append(Example(op, (x, kept, number), op.infer(x, kept, number), constants, k))
        return made
