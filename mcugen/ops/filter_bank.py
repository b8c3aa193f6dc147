"""SignalFilterBank: the energy in overlapping bands of a spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, fact
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _signal, _tflite
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number

MOST_WEIGHT = 1 << 16
"""Largest sum of a result's weights: sums of weights * 32-bit energies then fit 48 bits, of 16-bit halves 32 bits."""
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


@dataclass(frozen=True, eq=False)
class BankTables:
    """The tables of a bank in the order in which its kernels read them.

    first: the first bin with a weight. widths: [channels + 1] bins of each channel, without gaps in between.
    weights: [bins, 2] for each bin of channel c, its weight for result c - 1 and its unweight for result c.
    """

    first: int
    widths: np.ndarray
    weights: np.ndarray


@fact
def pairs(call: Call) -> BankTables | None:
    """The tables without bins that no result reads; None if a bin has several channels, or a weight is negative.

    Bins between two channels get weights of 0. None also if weights of a result add up to more than `MOST_WEIGHT`.
    """
    weights, unweights, firsts, starts, widths = (call.constant(k).astype(np.int64).reshape(-1) for k in range(1, 6))
    last, parts, ends = call.output.size, list[np.ndarray](), list[int]()
    first = end = -1
    for c, (bin_, start, width) in enumerate(zip(firsts[: last + 1], starts, widths, strict=False)):
        zero = np.zeros(width, np.int64)
        rise, fall = (t[start : start + width] for t in (weights, unweights))
        both = np.stack([rise if c > 0 else zero, fall if c < last else zero], axis=1)
        used = np.flatnonzero(both.any(axis=1))
        if used.size:
            begin, stop = bin_ + used[0], bin_ + used[-1] + 1
            if first < 0:
                first = end = int(begin)
            if begin < end:
                return None
            parts += [np.zeros((begin - end, 2), np.int64), both[used[0] : used[-1] + 1]]
            end = int(stop)
        ends.append(end - first)
    table = np.concatenate([np.zeros((0, 2), np.int64), *parts])
    found = BankTables(max(first, 0), np.diff([0, *ends]), table)
    return found if table.min(initial=0) >= 0 and _totals(found).max(initial=0) <= MOST_WEIGHT else None


def _totals(found: BankTables) -> np.ndarray:
    """The sum of the weights of each result."""
    sums = [part.sum(axis=0) for part in np.split(found.weights, np.cumsum(found.widths)[:-1])]
    return np.array([low[1] + high[0] for low, high in pairwise(sums)])


def in_pairs(call: Call) -> bool:
    "each bin has one channel; weights are not negative, and the weights of a result add up to at most 65,536"
    return constant_tables(call) and pairs(call) is not None


def pair_params(call: Call) -> Params:
    found = pairs(call)
    assert found is not None
    widths, weights = found.widths.astype(np.uint16), found.weights.astype(np.uint16).reshape(-1)
    return {"channels": call.output.size, "first": found.first, "widths": widths, "weights": weights}


def pair_work(call: Call) -> dict[str, float]:
    """The cost term: bins read."""
    found = pairs(call)
    return {"bins": float(len(found.weights)) if found else 0.0}


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
        Kernel(
            "mg_filter_bank_pairs",
            Whole(),
            (in_pairs,),
            pair_params,
            operands=(0,),
            cost=Cost(pair_work, ("bins",)),
            short="bank_pairs",
        ),
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
        made = []
        for k, (first, start, width) in enumerate((([1, 3, 6], [0, 4, 8], [3, 3, 2]), ([0, 2], [0, 0], [0, 4]))):
            tables = [np.array(t, np.int16) for t in (first, start, width)]
            types = [TensorType((12,), "u32"), TensorType((10,), "s16"), TensorType((10,), "s16")]
            types += [TensorType((len(t),), "s16") for t in tables]
            op = cls(len(first) - 1)
            constants = {1: None, 2: None, **dict(enumerate(tables, 3))}
            made.append(Example(op, tuple(types), op.infer(*types), constants, k))
        return [*made, *(paired(k) for k in range(4))]


def paired(k: int) -> Example:
    """Example k of a bank whose bins have one channel each.

    k = 0: bins without a channel; 1: empty channels; 2: largest sums; 3: channels of equal width.
    """
    width = ([3, 5, 2, 4], [0, 4, 0, 3], [1, 1, 1, 1], [4, 4, 4, 4])[k]
    gaps = ([2, 0, 0, 0], [5, 2, 0, 1], [0, 0, 0, 0], [0, 3, 0, 0])[k]
    rng, total = np.random.default_rng(k), sum(width)
    first = np.cumsum(gaps) + np.cumsum([0, *width[:-1]])
    weights, unweights = ([rng.integers(0, 8192, total), rng.integers(0, 8192, total)], [[32767] * total] * 2)[k == 2]
    zero = np.arange(total) % 4 == 3  # files pad the bins of a channel with zeros to a multiple of four
    tables = [np.where(zero, 0, weights), np.where(zero, 0, unweights), first, np.cumsum([0, *width[:-1]]), width]
    stored = [np.asarray(t, np.int16) for t in tables]
    types = (TensorType((total + sum(gaps) + 2,), "u32"), *(TensorType(t.shape, "s16") for t in stored))
    op = FilterBank(len(width) - 1)
    return Example(op, types, op.infer(*types), dict(enumerate(stored, 1)), k)
