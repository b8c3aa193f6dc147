"""Matrix times vectors on cores with SMLAD without scratch memory: as in vector.py, but bytes are widened when they are
read.

A group of four taps takes 13 instructions for four outputs, three of them for the data. It takes 16 if the weights of
two outputs share a halfword.
"""

from __future__ import annotations

from functools import partial

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.kernels.dsp import scaling, streams, vector
from mcugen.kernels.dsp.ways import constants
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, matrix, pixels

_GROUP = 4
_UNROLLED = 8
"""Largest number of groups of four taps that are unrolled."""
_CODE = {16: (376, 52), 8: (400, 64)}
"""Bits of weights -> code bytes of the kernel: (fixed part, part per unrolled group)."""
TERMS = ("blocks", "groups", "loops", *scaling.CLAMP_TERMS)


def _groups(call: Call) -> tuple[int, int]:
    """(number of whole groups of four taps of a vector, taps left over)."""
    return divmod(call.input(1).size // call.input(1).shape[0], _GROUP)


@fact
def _variant(call: Call) -> dict[str, int]:
    groups, tail = _groups(call)
    most = scaling.unrolled(call, _UNROLLED, 60, 256)
    unroll = next(n for n in range(most, 0, -1) if groups % n == 0)
    sizes = {"unroll": unroll, "loop": int(groups > unroll), "tail": tail}
    return {**sizes, "linear": int(vector.needs_sign(call)), "once": vector.how_once(call)}


def _params(call: Call, *, bits: int) -> Params:
    w = matrix(call)
    return {
        "stream": vector.stream(call, streams.swapped(streams.overlapped(w)), bits, _GROUP),
        "in_len": w.shape[1],
        "length": _GROUP * _groups(call)[0],
        "out_len": w.shape[0],
        **scaling.clamp(call, activation_of(call)),
    }


@fact
def _work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of four outputs, groups of taps in them, and iterations of the loop."""
    (groups, tail), sizes = _groups(call), _variant(call)
    blocks = pixels(call) * -(-call.input(1).shape[0] // vector.BLOCK)
    counts = {"blocks": blocks, "groups": blocks * (groups + (tail > 0)), "loops": blocks * groups // sizes["unroll"]}
    return {**counts, **scaling.clamp_work(call, activation_of(call))}


def _code(call: Call, *, bits: int) -> int:
    """Code size in bytes of the kernel for this call."""
    sizes, (besides, each) = _variant(call), _CODE[bits]
    return besides + each * (sizes["unroll"] + (sizes["tail"] > 0)) + 8 * sizes["loop"] + 16 * sizes["linear"]


def kernels(*rules: Rule) -> tuple[Kernel, ...]:
    """The kernels with 16-bit and 8-bit weights. rules: rules of the operator."""
    return tuple(_kernel(bits, rules) for bits in (16, 8))


def _kernel(bits: int, rules: tuple[Rule, ...]) -> Kernel:
    proofs = (*rules, scaling.doubled, vector.scaled, *scaling.PROOFS[bits], vector.four_elements)
    return Kernel(
        f"mg_fully_connected_s8__dsp{bits}_direct",
        Run(pixels),
        accepts=(_filter.int8_outside, _filter.constant_weights, *proofs),
        params=partial(_params, bits=bits),
        text=Text(_variant, constants(bits, single=False), source="dsp_direct_template.h", struct="mg_dsp_vector"),
        cost=Cost(_work, TERMS, code=partial(_code, bits=bits)),
        needs=scaling.DSP,
        widened=bits == 16,
        sized=True,
        short=f"fcd_dsp{bits}",
    )
