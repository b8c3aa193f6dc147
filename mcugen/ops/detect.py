"""Detect: whether the newest probabilities together exceed a limit, with a hold-off after each detection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, Detect)
    return {"size": call.input(1).size, "limit": op.limit, "hold": op.hold, "step": op.step}


@dataclass(frozen=True)
class Detect(Op):
    """Whether the sum of the newest `size` values is greater than the limit, unless detections are held off.

    x: u8, one value   recent: u8 [size], oldest first   wait: s32 [], minus the rows until detections are possible
    y: bool [1]; then the next values of recent and wait
    limit: for the sum. hold: rows without detections after the start and after each detection. step: rows per value.
    A detection clears `recent` and sets `wait` to -hold, so each word is detected once.
    """

    limit: int
    hold: int
    step: int

    tflm_types = litert_types = dtypes("u8")
    takes_unsigned = True
    kernels = (Kernel("mg_detect", Whole(), params=params, operands=(0, 1, 2), in_place=(1,)),)

    def infer(self, x: TensorType | None, recent: TensorType | None, wait: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or recent is None or wait is None or (x.dtype, recent.dtype, wait.dtype) != ("u8", "u8", "s32"):
            raise UnsupportedError(f"probabilities {x} and {recent} must be u8, and the hold-off counter {wait} s32")
        if x.size != 1 or len(recent.shape) != 1 or wait.size != 1:
            raise ShapeError(
                f"{x}, {recent} and {wait} must be one probability, a vector of probabilities and a scalar"
            )
        return TensorType((1,), "bool"), TensorType(recent.shape, "u8"), TensorType(wait.shape, "s32")

    def reference_q(self, call: Call, x: np.ndarray, recent: np.ndarray, wait: np.ndarray) -> tuple[np.ndarray, ...]:
        newest = np.concatenate([recent[1:], x.reshape(-1)])
        left = min(int(wait) + self.step, 0)
        found = left == 0 and int(newest.astype(np.int64).sum()) > self.limit
        return (
            np.array([found]),
            np.zeros_like(newest) if found else newest,
            np.full(wait.shape, -self.hold if found else left),
        )

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = []
        cases = ((5, 300, 100, 3, -200, None), (1, 254, 0, 1, 0, 255), (4, 0, 7, 2, -1, None), (3, 2, 5, 2, -9, 200))
        for k, (size, limit, hold, step, wait, value) in enumerate(cases):
            op, number = cls(limit, hold, step), TensorType((), "s32")
            x, recent = TensorType((1, 1), "u8"), TensorType((size,), "u8")
            constants = {2: np.array(wait, np.int32)}
            constants |= {} if value is None else {0: np.full(x.shape, value, np.uint8)}
            made.append(Example(op, (x, recent, number), op.infer(x, recent, number), dict(constants), k))
        return made
