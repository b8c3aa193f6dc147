"""A matrix times vectors on cores with SMLAD: four outputs at a time, int16 weights or two outputs to a halfword.

Copies unroll what a layer has; those of kernels named shared are for layers of all sizes. Of these the one with nine
bits takes int8 weights of -128 too, which two outputs do not share a halfword with.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mcugen.call import Call, Params, Rule
from mcugen.kernel import Form, Kernel
from mcugen.kernels.dsp import nine, scaling
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import activation_of, matrix, pixels, rounds_once

_BLOCK = 4
_STEP = 8
"""Taps that are read together."""

_CODE = {"dsp16": (552, 84), "dsp8": (576, 108), "dsp8_single": (624, 116), "dsp9": (764, 108), "dsp4": (576, 172)}
_CODE |= {"dsp9_single": (812, 116)}
"""Bytes of code of a copy, besides steps and of each step in the text."""

_UNROLLED_STEPS = {16: 4, 9: 16, 8: 16, 4: 4}
"""Bits of weights -> steps in the text, at most; those of 8 bits are what is used unless speed, or flash, is all."""


def _work(call: Call, *, bits: int) -> dict[str, float]:
    blocks = pixels(call) * -(-call.input(1).shape[0] // _BLOCK)
    return {"blocks": blocks, "groups": blocks * _steps(call, bits), **scaling.clamp_work(call, activation_of(call))}


def _scales(call: Call) -> scaling.Scales:
    leaves = rounds_once(call) and not _rounding.is_stated(call)
    return scaling.scales_once(call) if leaves else scaling.scales(call)


def _scaled(call: Call) -> bool:
    "every output is constant, or is scaled by a right shift of at most 22 without overflow, or with an FPU by a float"
    return scaling.is_int8(call) and bool(_scales(call).proved.all())


def _variant(call: Call, *, bits: int, shared: bool) -> dict[str, int]:
    once = scaling.how_once(call) if _rounding.is_stated(call) else int(rounds_once(call))
    if shared:
        return {"unroll": 1, "loop": 1, "linear": int(not once), "once": once}
    steps = _steps(call, bits)
    most = scaling.unrolled(call, _UNROLLED_STEPS[bits], 88, 256)
    unroll = next(n for n in range(most, 0, -1) if steps % n == 0)
    linear = int(not once and not scaling.clamps_at_zero_point(call, activation_of(call)))
    return {"unroll": unroll, "loop": int(steps > unroll), "linear": linear, "once": once}


def _params(call: Call, *, bits: int) -> Params:
    w = matrix(call)
    whole = scaling.overlapped(w) if w.shape[1] >= _BLOCK else w
    taps = scaling.padded(whole, _STEP * _steps(call, bits))
    taps = scaling.swapped(taps) if w.shape[1] >= _BLOCK else taps
    blocks = scaling.blocks_of(call, w, taps, _scales(call), _BLOCK)
    bias, words = blocks.packed(bits, _sums(call) if bits == 9 else None)
    lead, rest = np.split(words, [1 if bits == 9 else 0], axis=2)
    steps = (
        rest.reshape(*rest.shape[:2], -1, _STEP // 4 if bits == 4 else _STEP // 2)
        .transpose(0, 2, 1, 3)
        .reshape(len(words), -1)
    )
    return {
        "stream": scaling.stored(np.hstack([bias, lead.reshape(len(words), -1), steps, blocks.scaling])),
        "in_len": w.shape[1],
        "length": _length(call, bits),
        "out_len": w.shape[0],
        **scaling.clamp(call, activation_of(call)),
    }


def _code(call: Call, *, name: str, bits: int, shared: bool) -> int:
    """Code size of a copy in bytes."""
    sizes, (besides, each) = _variant(call, bits=bits, shared=shared), _CODE[name.removesuffix("_shared")]
    return besides + each * sizes["unroll"] + 8 * sizes["loop"] + 16 * sizes["linear"]


def _sums(call: Call) -> nine.Sums:
    return nine.Sums(-(-call.input(1).size // (call.input(1).shape[0] * _BLOCK)))


def _steps(call: Call, bits: int) -> int:
    """Groups of eight taps of a vector, with nine bits those of its sums too."""
    sums, taps = _sums(call), call.input(1).size // call.input(1).shape[0]
    return -(-(2 * sums.following if bits == 9 else taps) // _STEP)


def _length(call: Call, bits: int) -> int:
    """Elements of a widened vector, with nine bits those of the sums before it too."""
    return _STEP * _steps(call, bits) + 2 * (bits == 9)


def _scratch(call: Call, *, bits: int) -> int:
    """Size of a widened vector in bytes."""
    return 2 * _length(call, bits)


def four_elements(call: Call) -> bool:
    "vectors have at least 4 elements"
    return bool(matrix(call).shape[1] >= _BLOCK)


def no_helium(call: Call) -> bool:
    "the core has no Helium, whose kernels are short themselves"
    return "mve" not in call.features


def kernels(*rules: Rule) -> tuple[Kernel, ...]:
    """With weights of 16, 8 and 4 bits, and nine in eight; some also with single loads. rules: of the operator."""
    ways = (("dsp16", 16), ("dsp8", 8), ("dsp8_single", 8), ("dsp9", 9), ("dsp9_single", 9), ("dsp4", 4))
    shared = (("dsp8_shared", 8), ("dsp9_shared", 9))
    own = (_kernel(name, rules, bits) for name, bits in ways)
    return (*own, *(_kernel(name, rules, bits, shared=True) for name, bits in shared))


def _kernel(name: str, rules: tuple[Rule, ...], bits: int, *, shared: bool = False) -> Kernel:
    fitting = (scaling.nine_bits_or_eight,) if shared and bits == 9 else scaling.PROOFS[bits]
    fitting += (no_helium,) if shared else ()
    proofs = (*rules, scaling.doubled, _scaled, *fitting, *((four_elements,) if bits == 9 else ()))
    return Kernel(
        f"mg_fully_connected_s8__{name}",
        Form.POINTWISE,
        accepts=(_filter.int8_outside, _filter.constant_weights, *proofs),
        params=partial(_params, bits=bits),
        count=pixels,
        scratch=partial(_scratch, bits=bits),
        variant=partial(_variant, bits=bits, shared=shared),
        work=partial(_work, bits=bits),
        code=partial(_code, name=name, bits=bits, shared=shared),
        terms=("blocks", "groups", *scaling.CLAMP_TERMS),
        widened=bits == 16,
        frugal=shared,
        struct="mg_dsp_vector",
        short=f"fc_{name}",
        needs=scaling.DSP,
    )
