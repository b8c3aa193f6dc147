"""Matrix times vectors on cores with SMLAD: four outputs at a time, with int16 weights or two 8-bit weights per
halfword.

The code is unrolled for the sizes of each layer. Kernels named `shared` have one function for layers of all sizes.
The shared kernel for nine-bit weights also serves int8 weights of -128, which cannot share a halfword.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.kernels.dsp import nine, scaling, streams
from mcugen.kernels.dsp.ways import constants
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import activation_of, matrix, pixels, rounds_once, taps_of

BLOCK = 4
_STEP = 8
"""Number of taps that are read together."""

_CODE = {"dsp16": (552, 84), "dsp8": (576, 108), "dsp8_single": (624, 116), "dsp9": (764, 108), "dsp4": (576, 172)}
_CODE |= {"dsp9_single": (812, 116)}
"""Kernel -> code bytes: (fixed part, part per unrolled step)."""

_UNROLLED_STEPS = {16: 4, 9: 16, 8: 16, 4: 4}
"""Bits of weights -> largest number of unrolled steps."""


@fact
def work(call: Call, *, bits: int) -> dict[str, float]:
    blocks = pixels(call) * -(-call.input(1).shape[0] // BLOCK)
    return {"blocks": blocks, "groups": blocks * steps_of(call, bits), **scaling.clamp_work(call, activation_of(call))}


@fact
def scales_of(call: Call) -> scaling.ChannelScales:
    """The requantization constants of sums."""
    leaves = rounds_once(call) and not _rounding.is_stated(call)
    return scaling.scales_once(call) if leaves else scaling.scales(call)


def scaled(call: Call) -> bool:
    "every output is constant, or scaled by a right shift of at most 22 without overflow, or (with an FPU) by a float"
    return scaling.is_int8(call) and bool(scales_of(call).proved.all())


@fact
def variant(call: Call, *, bits: int, shared: bool) -> dict[str, int]:
    once = how_once(call)
    if shared:
        return {"unroll": 1, "loop": 1, "linear": int(not once), "once": once}
    steps = steps_of(call, bits)
    most = scaling.unrolled(call, _UNROLLED_STEPS[bits], 88, 256)
    unroll = next(n for n in range(most, 0, -1) if steps % n == 0)
    return {"unroll": unroll, "loop": int(steps > unroll), "linear": int(needs_sign(call)), "once": once}


@fact
def how_once(call: Call) -> int:
    """MG_ONCE of dsp_vector_block_template.h."""
    return scaling.how_once(call) if _rounding.is_stated(call) else int(rounds_once(call))


@fact
def needs_sign(call: Call) -> bool:
    """Whether negative sums need a rounding of their own, so that halves are rounded away from zero."""
    return not how_once(call) and not scaling.clamps_at_zero_point(call, activation_of(call))


@fact
def _params(call: Call, *, bits: int) -> Params:
    w = matrix(call)
    whole = streams.overlapped(w) if w.shape[1] >= BLOCK else w
    taps = streams.padded(whole, _STEP * steps_of(call, bits))
    return {
        "stream": stream(call, streams.swapped(taps) if w.shape[1] >= BLOCK else taps, bits),
        "in_len": w.shape[1],
        "length": length_of(call, bits),
        "out_len": w.shape[0],
        **scaling.clamp(call, activation_of(call)),
    }


def stream(call: Call, taps: np.ndarray, bits: int, step: int = _STEP) -> np.ndarray:
    """The `stream` of dsp_vector_block_template.h. taps: [outputs, taps] in the order of reading, `step` at a time."""
    blocks = streams.blocks_of(call, taps, scales_of, BLOCK, bits, _sums(call) if bits == 9 else None)
    sums, words = int(bits == 9), blocks.weights
    steps = words[:, :, sums:].reshape(*words.shape[:2], -1, step // 4 if bits == 4 else step // 2).swapaxes(1, 2)
    parts = [part.reshape(len(words), -1) for part in (words[:, :, :sums], steps)]
    return streams.stored(np.hstack([blocks.biases, *parts, blocks.scaling]))


def code(call: Call, *, name: str, bits: int, shared: bool) -> int:
    """Code size in bytes of the kernel for this call."""
    sizes, (besides, each) = variant(call, bits=bits, shared=shared), _CODE[name.removesuffix("_shared")]
    return besides + each * sizes["unroll"] + 8 * sizes["loop"] + 16 * sizes["linear"]


def _sums(call: Call) -> nine.Sums:
    return nine.Sums(-(-call.input(1).size // (call.input(1).shape[0] * BLOCK)))


def steps_of(call: Call, bits: int) -> int:
    """Number of groups of eight taps of a vector; with nine bits, the sums of the data count as taps."""
    sums, taps = _sums(call), call.input(1).size // call.input(1).shape[0]
    return -(-(2 * sums.following if bits == 9 else taps) // _STEP)


def length_of(call: Call, bits: int) -> int:
    """Number of elements of a widened vector; with nine bits, including the sums of the data before and behind it."""
    return _STEP * steps_of(call, bits) + 2 * (bits == 9)


def scratch_of(call: Call, *, bits: int) -> int:
    """Size of a widened vector in bytes."""
    return 2 * length_of(call, bits)


def four_elements(call: Call) -> bool:
    "vectors have at least 4 elements"
    return bool(taps_of(call) >= BLOCK)


def no_helium(call: Call) -> bool:
    "the core has no Helium, whose own kernels have little code"
    return "mve" not in call.features


def kernels(*rules: Rule) -> tuple[Kernel, ...]:
    """The kernels with 16-bit, 8-bit and 4-bit weights, and nine-bit weights in eight bits. rules: rules of the
    operator.
    """
    ways = (("dsp16", 16), ("dsp8", 8), ("dsp8_single", 8), ("dsp9", 9), ("dsp9_single", 9), ("dsp4", 4))
    shared = (("dsp8_shared", 8), ("dsp9_shared", 9))
    own = (_kernel(name, rules, bits) for name, bits in ways)
    return (*own, *(_kernel(name, rules, bits, shared=True) for name, bits in shared))


def _kernel(name: str, rules: tuple[Rule, ...], bits: int, *, shared: bool = False) -> Kernel:
    fitting = (scaling.nine_bits_or_eight,) if shared and bits == 9 else scaling.PROOFS[bits]
    fitting += (no_helium,) if shared else ()
    proofs = (*rules, scaling.doubled, scaled, *fitting, *((four_elements,) if bits == 9 else ()))
    return Kernel(
        f"mg_fully_connected_s8__{name}",
        Run(pixels),
        accepts=(_filter.int8_outside, _filter.constant_weights, *proofs),
        params=partial(_params, bits=bits),
        scratch=partial(scratch_of, bits=bits),
        text=Text(
            partial(variant, bits=bits, shared=shared),
            constants(bits, single="single" in name),
            source="dsp_vector_template.h",
            struct="mg_dsp_vector",
        ),
        cost=Cost(
            partial(work, bits=bits),
            ("blocks", "groups", *scaling.CLAMP_TERMS),
            code=partial(code, name=name, bits=bits, shared=shared),
        ),
        needs=scaling.DSP,
        widened=bits == 16,
        sized=True,
        frugal=shared,
        short=f"fc_{name}",
    )
