"""SignalFilterBank: the energy in overlapping bands of a spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _signal, _tflite
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number

_TABLES = ("weights", "unweights", "first bins", "first weights", "widths")


def from_tflite(source: Source) -> Imported:
    options = flexbuffer.options(source.attributes["custom_options"], num_channels=0)
    data = [source.constant(k) for k in range(1, 6)]
    if any(table is None for table in data) or source.inputs[0] is None:
        raise UnsupportedError("the tables (operands 1 to 5) must be constant, and the spectrum present")
    weights, unweights, first, start, width = (np.asarray(table, np.int64).reshape(-1) for table in data)
    if min(first.size, start.size, width.size) < options["num_channels"] + 1:
        raise CorruptModelError(f"the tables are too short for num_channels={options['num_channels']}")
    ends = (first + width > source.inputs[0].size, start + width > min(weights.size, unweights.size))
    if min(first.min(), start.min(), width.min()) < 0 or any(((width > 0) & end).any() for end in ends):
        raise CorruptModelError("a channel of the filter bank reads beyond the spectrum or the weights")
    return Imported(FilterBank(int(options["num_channels"])))


def constant_tables(call: Call) -> bool:
    "the tables are constant"
    return all(call.constants[k] is not None for k in range(1, 6))


def params(call: Call) -> Params:
    names = ("weights", "unweights", "first", "start", "width")
    return {"channels": call.output.size, **{name: call.constant(k) for k, name in enumerate(names, 1)}}


def work(call: Call) -> dict[str, float]:
    """The cost term: bins read with `weights`, plus bins read with `unweights`."""
    width = np.asarray(call.constant(5), np.int64).reshape(-1)
    return {"bins": float(width[1 : call.output.size + 1].sum() + width[: call.output.size].sum())}


def _options(call: Call) -> dict[str, Number]:
    return {"num_channels": call.op.channels}


@dataclass(frozen=True)
class FilterBank(Op):
    """y[i] = sum of weights * x over the bins of channel i + 1, plus sum of unweights * x over the bins of channel i.

    x: u32 [bins]   weights, unweights: s16   first bins, first weights, widths: s16, channels + 1 each
    y: u64 [channels], sums modulo 2^64. Source: TFLM signal library, filter_bank.cc.
    """

    channels: int

    tflm_types = dtypes("u32")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalFilterBank", from_tflite),)
    writes = (_tflite.custom("SignalFilterBank", _options),)
    kernels = (
        Kernel("mg_filter_bank", Whole(), (constant_tables,), params, operands=(0,), cost=Cost(work, ("bins",))),
    )

    def infer(
        self,
        x: TensorType | None,
        weights: TensorType | None,
        unweights: TensorType | None,
        first: TensorType | None,
        start: TensorType | None,
        width: TensorType | None,
    ) -> tuple[TensorType, ...]:
        _signal.vector("spectrum", x, "u32")
        for what, t in zip(_TABLES, (weights, unweights, first, start, width), strict=True):
            _signal.vector(what, t, "s16")
        if self.channels < 1:
            raise ShapeError(f"num_channels={self.channels} must be positive")
        return (TensorType((self.channels,), "u64"),)

    def reference_q(
        self,
        call: Call,
        x: np.ndarray,
        weights: np.ndarray,
        unweights: np.ndarray,
        first: np.ndarray,
        start: np.ndarray,
        width: np.ndarray,
    ) -> np.ndarray:
        def total(table: np.ndarray, i: int) -> int:
            bins = range(int(width[i]))
            return sum(int(table[int(start[i]) + j]) * int(x[int(first[i]) + j]) for j in bins)

        sums = [total(weights, i + 1) + total(unweights, i) for i in range(self.channels)]
        return np.array([s % 2**64 for s in sums], np.uint64)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        s16 = np.int16
        made = []
        for k, (first, start, width) in enumerate((([1, 3, 6], [0, 4, 8], [3, 3, 2]), ([0, 2], [0, 0], [0, 4]))):
            tables = [np.array(t, s16) for t in (first, start, width)]
            types = [TensorType((12,), "u32"), TensorType((10,), "s16"), TensorType((10,), "s16")]
            types += [TensorType((len(t),), "s16") for t in tables]
            op = cls(len(first) - 1)
            constants = {1: None, 2: None, **dict(enumerate(tables, 3))}
            made.append(Example(op, tuple(types), op.infer(*types), constants, k))
        return made
