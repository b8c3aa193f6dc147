"""Convolutions on cores with SMLAD: the taps of each pixel are widened into scratch and multiplied as in vector.py.

Image rows stay int8. Taps that are not whole words, or partly outside the image, are first copied to scratch.
"""

from __future__ import annotations

from functools import partial

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.kernels.dsp import scaling, streams, vector
from mcugen.kernels.dsp.ways import constants
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, matrix, pixels, row_window, taps_of, window_of
from mcugen.ops._window import edge_pixels, fields

_CODE = (360, 290)
"""Code bytes of a kernel in addition to vector.py's: [0] if taps are copied first, [1] if they are read as words."""
TERMS = ("blocks", "groups", "gathering", *scaling.CLAMP_TERMS)

_MOST = 2**16 - 1


def sizes_fit(call: Call) -> bool:
    "no size is above 65535"
    return max(*call.output.shape, *call.input(0).shape) <= _MOST


def _runs(call: Call) -> tuple[int, int]:
    """(number of runs of adjacent taps in a kernel row, taps per run)."""
    window, channels = window_of(call), call.input(0).shape[3]
    count = window.kernel[1] if window.dilation[1] > 1 else 1
    return count, window.kernel[1] // count * channels


def _in_words(call: Call) -> bool:
    return _runs(call)[1] % 4 == 0


def _variant(call: Call, *, bits: int) -> dict[str, int]:
    return {**vector.variant(call, bits=bits, shared=False), "whole": int(_in_words(call))}


@fact
def _params(call: Call, *, bits: int) -> Params:
    w, (runs, run), window = matrix(call), _runs(call), window_of(call)
    taps = streams.swapped(streams.padded(w, vector.length_of(call, bits)))
    return {
        **fields(window, call.input(0), call.output, adjacent=False),
        "stream": vector.stream(call, taps, bits),
        "taps": w.shape[1],
        "length": vector.length_of(call, bits),
        "run_length": run,
        "run_stride": window.dilation[1] * call.input(0).shape[3],
        "runs": runs,
        "outside": call.input(0).zero_point,
        **scaling.clamp(call, activation_of(call)),
    }


@fact
def _gathering(call: Call) -> float:
    """Instructions that gather and widen the taps of all pixels."""
    window, (runs, run), taps = window_of(call), _runs(call), taps_of(call)
    edges = edge_pixels(window, call.input(0), call.output, adjacent=False)
    widen, rows = 20 + 0.95 * taps, window.kernel[0]
    edge = widen + rows * window.kernel[1] * _copying(call.input(0).shape[3])
    inside = rows * runs * 25 + 0.95 * taps if _in_words(call) else widen + rows * runs * _copying(run)
    return float(edges * edge + (pixels(call) - edges) * inside)


def _copying(taps: int) -> float:
    return 30 + (1.5 if taps >= 4 else 6.0) * taps


def _work(call: Call, *, bits: int) -> dict[str, float]:
    """Cost terms of vector.py, and the number of instructions that gather taps (gathering)."""
    return {**vector.work(call, bits=bits), "gathering": _gathering(call)}


def _code(call: Call, *, name: str, bits: int) -> int:
    """Code size in bytes of the kernel for this call."""
    return vector.code(call, name=name, bits=bits, shared=False) + _CODE[_in_words(call)]


def kernels(is_dense: Rule) -> tuple[Kernel, ...]:
    """The kernels of a convolution, with 16-bit and 8-bit weights. is_dense: the rule that there is one group."""
    return tuple(_kernel(name, bits, is_dense) for name, bits in (("dsp16", 16), ("dsp8", 8), ("dsp8_single", 8)))


def _kernel(name: str, bits: int, is_dense: Rule) -> Kernel:
    proofs = (scaling.doubled, vector.scaled, *scaling.PROOFS[bits])
    return Kernel(
        f"mg_conv2d_s8__{name}_patch",
        Window(row_window, _filter.outside),
        accepts=(_filter.int8_outside, _filter.constant_weights, is_dense, sizes_fit, *proofs),
        params=partial(_params, bits=bits),
        scratch=partial(vector.scratch_of, bits=bits),
        text=Text(
            partial(_variant, bits=bits),
            constants(bits, single="single" in name),
            source="dsp_patch_template.h",
            struct="mg_dsp_patch",
        ),
        cost=Cost(partial(_work, bits=bits), TERMS, code=partial(_code, name=name, bits=bits)),
        needs=scaling.DSP,
        widened=bits == 16,
        sized=True,
        short=f"cpatch_{name.replace('_single', 's')}",
    )
