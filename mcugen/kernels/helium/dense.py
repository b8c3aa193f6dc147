"""Helium kernels that multiply a matrix by each pixel: 1x1 convolutions, fully connected layers."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.ir.types import row_count
from mcugen.kernels.helium import packing
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, pixels, sums_fit, taps_of

SHORT = 15
"""Largest number of steps of 16 inputs in the kernels for short vectors."""

MOST_OUTPUTS = 63
"""Largest number of outputs per pixel, so that one base register reaches the outputs of two pixels."""

TURNED = 4
"""Number of pixels of at most 16 elements that are computed together."""

HELD = 2
"""Number of steps of two pixels that stay in registers while all their outputs are computed."""

LOADS = 8
"""Largest number of steps of a pixel within reach of load offsets."""

MOST_STREAM = 2**16
"""Limit of a stream's bytes, so that its length is a 16-bit constant."""

TURN = 8
"""Number of steps per iteration of the kernels for long vectors."""


TERMS = ("pairs", "pair_blocks", "pair_steps", "alone_blocks", "alone_steps")


def work(call: Call) -> dict[str, float]:
    """Cost terms: pairs of vectors, blocks of four outputs of a pair (pair_blocks) or of a single vector
    (alone_blocks), and steps of both."""
    shape, vectors = matrix(call).shape, pixels(call)
    blocks, steps = -(-shape[0] // packing.BLOCK), -(-shape[1] // packing.LANES)
    pairs = vectors // 2 if shape[0] >= packing.BLOCK else 0
    alone = vectors - 2 * pairs
    return {
        **packing.vector_work(call),
        "pairs": pairs,
        "pair_blocks": pairs * blocks,
        "pair_steps": pairs * blocks * steps,
        "alone_blocks": alone * blocks,
        "alone_steps": alone * blocks * steps,
    }


def _is_dense(call: Call) -> bool:
    return _filter.int8_outside(call) and _filter.constant_weights(call)


def is_short(call: Call) -> bool:
    "vectors have at most 240 elements"
    return _is_dense(call) and _steps(call) <= SHORT


def is_long(call: Call) -> bool:
    "vectors have more than 240 elements"
    return _is_dense(call) and _steps(call) > SHORT


def is_narrow(call: Call) -> bool:
    "vectors have at most 16 elements and 4 to 63 outputs, and a row has at least 16 vectors"
    if not _is_dense(call):
        return False
    outputs, inputs = matrix(call).shape
    in_row = pixels(call) // row_count(call.output.shape)
    return bool(inputs <= packing.LANES <= in_row and packing.BLOCK <= outputs <= MOST_OUTPUTS)


def is_eights(call: Call) -> bool:
    "vectors have 17 to 128 elements and an even number of outputs, at least 8, and a row has at least 2 vectors"
    if not _is_dense(call):
        return False
    outputs, in_row = matrix(call).shape[0], pixels(call) // row_count(call.output.shape)
    stream = -(-outputs // 8) * 2 * (_steps(call) * 64 + 48)
    return bool(
        HELD <= _steps(call) <= LOADS and in_row > 1 and outputs >= 8 and outputs % 2 == 0 and stream < MOST_STREAM
    )


def scratch(call: Call) -> int:
    return (_last(call) + 1) * taps_of(call) + packing.LANES if _last(call) else 0


def _narrow_scratch(call: Call) -> int:
    last = _last(call)
    return (max(last, TURNED) + TURNED - 1) * taps_of(call) + packing.LANES if last else 0


def _narrow_work(call: Call) -> dict[str, float]:
    passes = -(-matrix(call).shape[0] // packing.BLOCK)
    copied = _last(call) > 0
    return {
        **packing.vector_work(call),
        **packing.finish_work(call, 2 * passes * -(-pixels(call) // TURNED)),
        "passes": passes * (1 + copied),
        "copied": copied,
    }


def _eights_scratch(call: Call) -> int:
    return 3 * taps_of(call) + packing.LANES if _last(call) else 0


def _eights_work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of four outputs of two pixels, their loaded steps (pair_steps), pairs of pixels, and 1 if the
    last pixels are copied (copied)."""
    outputs, pairs = matrix(call).shape[0], -(-pixels(call) // 2)
    blocks = pairs * -(-outputs // 8) * 2
    return {
        **packing.vector_work(call),
        **packing.finish_work(call, blocks),
        "pairs": pairs,
        "pair_steps": blocks * _steps(call),
        "copied": _last(call) > 0,
    }


def _eights_params(call: Call) -> Params:
    w = matrix(call)
    order = list(range(_steps(call)))
    return {**params(call), "stream": packing.stream(call, w, packing.padded(w), order, packing.eights_of(len(w)))}


def _narrow_variant(call: Call) -> dict[str, int]:
    outputs, inputs = matrix(call).shape
    return {"inputs": inputs, "outputs": outputs, "finish": packing.finish_of(call) or 0}


def _steps(call: Call) -> int:
    return -(-taps_of(call) // packing.LANES)


def _last(call: Call) -> int:
    """Number of pixels at the end of a tensor whose last vector would reach beyond the tensor."""
    taps = taps_of(call)
    return -(-(-taps % packing.LANES) // taps)


def params(call: Call) -> Params:
    w = matrix(call)
    steps = _steps(call)
    first = steps if steps <= SHORT else (steps - 1) % TURN + 1
    low, high = packing.output_range(call)
    return {
        "stream": packing.stream(call, w, packing.padded(w), packing.step_order(steps, first)),
        "in_c": w.shape[1],
        "out_c": w.shape[0],
        "steps": steps,
        "first": first,
        "out_zero_point": call.output.zero_point,
        "out_min": low,
        "out_max": high,
        "last": _last(call),
    }


def kernels(*rules: Rule) -> tuple[Kernel, ...]:
    """All variants of the kernel mg_dense_s8__mve. rules: rules of the operator."""
    first = (_filter.int8_data, *rules, _filter.constant_weights)
    narrow = replace(
        MODEL,
        symbol=f"{MODEL.symbol}_narrow",
        accepts=(*first, is_narrow, packing.finishes, sums_fit),
        scratch=_narrow_scratch,
        text=replace(MODEL.text, variant=_narrow_variant),
        cost=Cost(_narrow_work, (*packing.VECTOR_TERMS, *packing.FINISH_TERMS, "passes", "copied")),
        short="fc_mve_narrow",
    )
    eights = replace(
        narrow,
        symbol=f"{MODEL.symbol}_eights",
        accepts=(*first, is_eights, packing.finishes, sums_fit),
        params=_eights_params,
        scratch=_eights_scratch,
        cost=Cost(_eights_work, (*packing.VECTOR_TERMS, *packing.FINISH_TERMS, "pairs", "pair_steps", "copied")),
        short="fc_mve_eights",
    )
    general = (
        replace(MODEL, symbol=f"{MODEL.symbol}{finish}{length}", accepts=(*first, fits, finishes, sums_fit))
        for finish, finishes in packing.FINISHES
        for length, fits in (("", is_short), ("_long", is_long))
    )
    return (narrow, *general, eights)


MODEL = Kernel(
    "mg_dense_s8__mve",
    Run(pixels),
    params=params,
    scratch=scratch,
    text=Text(struct="mg_dense_s8__mve"),
    cost=Cost(work, (*packing.VECTOR_TERMS, *TERMS)),
    needs=packing.NEEDS,
)
