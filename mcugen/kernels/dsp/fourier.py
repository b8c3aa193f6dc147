"""Fourier transforms of real int16 numbers on cores with DSP instructions: a complex number in each word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Text, Whole
from mcugen.kernels.dsp import scaling
from mcugen.ops import _fourier, power_spectrum, real_fourier
from mcugen.ops._fourier import RealTransform, transform_of

_STAGES = 6
"""Most stages of a transform that these kernels compute."""


def has_few_stages(call: Call) -> bool:
    "the transform has at most six stages, of 1,024 numbers or fewer"
    t = transform_of(call)
    return len(t.radices) <= _STAGES and t.length <= 1024


def _words(pairs: np.ndarray) -> np.ndarray:
    """s16 [n, 2] as words, u32 [n], with the first number of each pair in the low half."""
    return np.ascontiguousarray(pairs.astype("<i2")).view("<u4").reshape(-1).astype(np.uint32)


def _sources(t: RealTransform) -> np.ndarray:
    """Index of the complex number that is stored at each position before the first stage."""
    return np.argsort(_fourier.places(t.points, t.radices[::-1]))


def _block(t: RealTransform) -> int:
    """Complex numbers per block: the product of the first two radices. Within a block, unrolled code loads them."""
    return t.radices[0] * (t.radices[1] if len(t.radices) > 1 else 1)


def _params(call: Call) -> Params:
    t = transform_of(call)
    sources = _sources(t)
    found: Params = {
        "starts": sources[:: _block(t)].astype(np.uint16),
        "turns": _words(_fourier.stage_turns(t, zero_last=True)),
        "halves": _words(_fourier.split_turns(t, t.pairs)),
    }
    if t.shift is None:
        return found
    window = np.zeros(t.length, np.int16)
    window[: t.samples] = call.constant(1).reshape(-1)
    return {**found, "window": _words(window.reshape(-1, 2)[sources])}


def _variant(call: Call) -> dict[str, int]:
    """Constants of the C template dsp_fourier_template.h for this call."""
    names = ("stages", *_fourier.GROUPS.values())
    found = {name: value for name, value in _fourier.variant(call).items() if name not in names}
    radices = transform_of(call).radices
    return found | {f"radix{k}": radix for k, radix in enumerate([*radices, *[1] * _STAGES][:_STAGES])}


_LIKE = Kernel(
    "",
    Whole(),
    (has_few_stages,),
    _params,
    text=Text(_variant, struct="mg_dsp_fourier"),
    cost=_fourier.COST,
    needs=scaling.DSP,
)
FOURIER = (
    replace(
        _LIKE,
        symbol="mg_real_fourier_s16__dsp",
        accepts=(*real_fourier.STAGED, has_few_stages),
        short="fourier_dsp",
    ),
)
POWER = power_spectrum.methods("__dsp", _LIKE)
