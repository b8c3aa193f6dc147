"""Kernels for cores with Helium of what is a matrix times each pixel: 1x1 convolutions, fully connected layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mcugen.call import Call, Params, Rule
from mcugen.kernel import Form, Kernel
from mcugen.kernels.helium import packing
from mcugen.ops import _filter
from mcugen.types import row_count

SHORT = 15
"""Most steps of 16 inputs that the kernels for short vectors take."""

MOST_OUTPUTS = 63
"""Whose pixels are in reach of a store, two at a time."""

TURN = 8
"""Steps that the kernels for long vectors take at a time."""


TERMS = ("pairs", "pair_blocks", "pair_steps", "alone_blocks", "alone_steps")


def dense_kernels(
    matrix: packing.Matrix, count: Callable[[Call], int], rules: tuple[Rule, ...] = ()
) -> tuple[Kernel, ...]:
    """mg_dense_s8__mve in its variants. count: vectors; rules: of the operator."""

    def params(call: Call) -> Params:
        return _params(call, matrix)

    def is_short(call: Call) -> bool:
        "vectors have at most 240 elements"
        return _is_dense(call) and _steps(call, matrix) <= SHORT

    def is_long(call: Call) -> bool:
        "vectors have more than 240 elements"
        return _is_dense(call) and _steps(call, matrix) > SHORT

    def scratch(call: Call) -> int:
        return (_last(call, matrix) + 1) * _taps(call, matrix) + packing.LANES if _last(call, matrix) else 0

    def is_narrow(call: Call) -> bool:
        "vectors have at most 16 elements, there are at least 16 of them in a row, and 4 to 63 outputs of each"
        if not _is_dense(call):
            return False
        outputs, inputs = matrix(call).shape
        in_row = count(call) // row_count(call.output.shape)
        return bool(inputs <= packing.LANES <= in_row and packing.BLOCK <= outputs <= MOST_OUTPUTS)

    def narrow_scratch(call: Call) -> int:
        outputs, inputs = matrix(call).shape
        return int((max(_last(call, matrix), 2) + 1) * inputs + packing.LANES + 2 * outputs)

    def narrow_work(call: Call) -> dict[str, float]:
        passes = -(-matrix(call).shape[0] // packing.BLOCK)
        copied = _last(call, matrix) > 0
        return {
            **packing.vector_work(call),
            **packing.finish_work(call, passes * -(-count(call) // 2)),
            "passes": passes * (1 + copied),
            "copied": copied,
        }

    def variant(call: Call) -> dict[str, int]:
        outputs, inputs = matrix(call).shape
        return {"inputs": inputs, "outputs": outputs, "finish": packing.finish_of(call) or 0}

    def work(call: Call) -> dict[str, float]:
        return {**packing.vector_work(call), **_work(matrix(call).shape, count(call))}

    first = (_filter.int8_data, *rules, _filter.constant_weights)
    model = Kernel(
        "mg_dense_s8__mve",
        Form.POINTWISE,
        params=params,
        count=count,
        scratch=scratch,
        work=work,
        terms=(*packing.VECTOR_TERMS, *TERMS),
        struct="mg_dense_s8__mve",
        needs=packing.NEEDS,
    )
    narrow = replace(
        model,
        symbol=f"{model.symbol}_narrow",
        accepts=(*first, is_narrow, packing.finishes, _filter.sums_fit(matrix)),
        scratch=narrow_scratch,
        work=narrow_work,
        terms=(*packing.VECTOR_TERMS, *packing.FINISH_TERMS, "passes", "copied"),
        variant=variant,
    )
    general = (
        replace(
            model,
            symbol=f"{model.symbol}{finish}{length}",
            accepts=(*first, fits, finishes, _filter.sums_fit(matrix)),
        )
        for finish, finishes in packing.FINISHES
        for length, fits in (("", is_short), ("_long", is_long))
    )
    return (narrow, *general)


def _work(shape: tuple[int, ...], vectors: int) -> dict[str, float]:
    """Blocks of four outputs, of two vectors and of one, their steps, and pairs. shape: outputs, inputs."""
    blocks, steps = -(-shape[0] // packing.BLOCK), -(-shape[1] // packing.LANES)
    pairs = vectors // 2 if shape[0] >= packing.BLOCK else 0
    alone = vectors - 2 * pairs
    return {
        "pairs": pairs,
        "pair_blocks": pairs * blocks,
        "pair_steps": pairs * blocks * steps,
        "alone_blocks": alone * blocks,
        "alone_steps": alone * blocks * steps,
    }


def _is_dense(call: Call) -> bool:
    return _filter.int8_data(call) and _filter.constant_weights(call)


def _taps(call: Call, matrix: packing.Matrix) -> int:
    return int(matrix(call).shape[1])


def _steps(call: Call, matrix: packing.Matrix) -> int:
    return -(-_taps(call, matrix) // packing.LANES)


def _last(call: Call, matrix: packing.Matrix) -> int:
    """Pixels at the end of a tensor whose last step would read beyond it."""
    taps = _taps(call, matrix)
    return -(-(-taps % packing.LANES) // taps)


def _params(call: Call, matrix: packing.Matrix) -> Params:
    w = matrix(call)
    steps = _steps(call, matrix)
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
        "last": _last(call, matrix),
    }
