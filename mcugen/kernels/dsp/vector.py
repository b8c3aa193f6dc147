"""A matrix times vectors on cores with SMLAD: four outputs at a time, int16 weights or two outputs to a halfword."""

from __future__ import annotations

from functools import partial

import numpy as np

from mcugen.call import Call, Params, Rule
from mcugen.kernel import Form, Kernel
from mcugen.kernels.dsp import scaling
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import activation_of, matrix, pixels, rounds_once

_BLOCK = 4
_STEP = 8
"""Taps that are read together."""

_UNROLLED_STEPS = {16: 4, 8: 16, 4: 4}
"""Bits of weights -> steps in the text, at most; those of 8 bits are what is used unless speed, or flash, is all."""


def _work(call: Call) -> dict[str, float]:
    blocks = pixels(call) * -(-call.input(1).shape[0] // _BLOCK)
    return {"blocks": blocks, "groups": blocks * _steps(call), **scaling.clamp_work(call, activation_of(call))}


def _scales(call: Call) -> scaling.Scales:
    leaves = rounds_once(call) and not _rounding.is_stated(call)
    return scaling.scales_once(call) if leaves else scaling.scales(call)


def _scaled(call: Call) -> bool:
    "every output is constant, or is scaled by a right shift of at most 22 without overflow, or with an FPU by a float"
    return scaling.is_int8(call) and bool(_scales(call).proved.all())


def _variant(call: Call, *, bits: int) -> dict[str, int]:
    steps = _steps(call)
    most = scaling.unrolled(call, _UNROLLED_STEPS[bits], 88, 256)
    unroll = next(n for n in range(most, 0, -1) if steps % n == 0)
    once = scaling.how_once(call) if _rounding.is_stated(call) else int(rounds_once(call))
    linear = int(not once and not scaling.clamps_at_zero_point(call, activation_of(call)))
    return {"unroll": unroll, "loop": int(steps > unroll), "linear": linear, "once": once}


def _params(call: Call, *, bits: int) -> Params:
    w = matrix(call)
    whole = scaling.overlapped(w) if w.shape[1] >= _BLOCK else w
    taps = scaling.padded(whole, _STEP * _steps(call))
    taps = scaling.swapped(taps) if w.shape[1] >= _BLOCK else taps
    blocks = scaling.blocks_of(call, w, taps, _scales(call), _BLOCK)
    bias, words = blocks.packed(bits)
    steps = (
        words.reshape(*words.shape[:2], -1, _STEP // 4 if bits == 4 else _STEP // 2)
        .transpose(0, 2, 1, 3)
        .reshape(len(words), -1)
    )
    return {
        "stream": scaling.stored(np.hstack([bias, steps, blocks.scaling])),
        "in_len": w.shape[1],
        "length": _STEP * _steps(call),
        "out_len": w.shape[0],
        **scaling.clamp(call, activation_of(call)),
    }


def _steps(call: Call) -> int:
    """Groups of eight taps of a vector."""
    w = call.input(1)
    return -(-w.size // (w.shape[0] * _STEP))


def _scratch(call: Call) -> int:
    """Size of a widened vector in bytes."""
    return 2 * _STEP * _steps(call)


def kernels(*rules: Rule) -> tuple[Kernel, ...]:
    """With weights of 16 bits, of 8, also with single loads, and of 4. rules: of the operator."""
    ways = (("dsp16", 16), ("dsp8", 8), ("dsp8_single", 8), ("dsp4", 4))
    return tuple(_kernel(name, rules, bits) for name, bits in ways)


def _kernel(name: str, rules: tuple[Rule, ...], bits: int) -> Kernel:
    proofs = (*rules, scaling.doubled, _scaled, *scaling.PROOFS[bits])
    return Kernel(
        f"mg_fully_connected_s8__{name}",
        Form.POINTWISE,
        accepts=(_filter.int8_outside, _filter.constant_weights, *proofs),
        params=partial(_params, bits=bits),
        count=pixels,
        scratch=_scratch,
        variant=partial(_variant, bits=bits),
        work=_work,
        terms=("blocks", "groups", *scaling.CLAMP_TERMS),
        widened=bits == 16,
        struct="mg_dsp_vector",
        short=f"fc_{name}",
        needs=scaling.DSP,
    )
