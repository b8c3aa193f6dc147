"""MEAN and SUM of quantized tensors, as the runtimes compute them."""

from __future__ import annotations

import math

import numpy as np

from mcugen.ir.call import Call
from mcugen.oracle.fixed import scaled_twice, wrapped
from mcugen.oracle.quantized import Multiplier, centred, product_multiplier, stored


def summed(call: Call, x: np.ndarray, axes: tuple[int, ...], *, mean: bool) -> np.ndarray:
    """The stored sum or mean over `axes`. For a mean, the multiplier is divided by the number of elements.

    Source: kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """
    total = wrapped(centred(x, call.input(0)).sum(axis=axes))
    return stored(scaled_twice(total, *multiplier(call, axes, mean=mean)), call.output)


def multiplier(call: Call, axes: tuple[int, ...], *, mean: bool) -> Multiplier:
    """(mult, shift) of scale_x / scale_y. For a mean it is divided by the number of elements, rounded down, after a
    left shift by as many bits as possible.
    """
    mult, shift = product_multiplier((call.input(0).scale,), call.output.scale, in_double=True)
    if not mean:
        return mult, shift
    count = math.prod(call.input(0).shape[k] for k in axes)
    more = min(count.bit_length() - 1, 32, 31 + shift)
    return mult * (1 << more) // count, shift - more
