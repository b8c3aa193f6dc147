"""MEAN and SUM of quantized tensors, as the runtimes compute them."""

from __future__ import annotations

import math

import numpy as np

from mcugen.call import Call
from mcugen.oracle.fixed import scaled_twice, wrapped
from mcugen.oracle.quantized import centred, product_multiplier, stored


def summed(call: Call, x: np.ndarray, axes: tuple[int, ...], *, mean: bool) -> np.ndarray:
    """The stored sum or mean over `axes`: a mean divides the multiplier, which keeps as many bits as it can.

    Source: kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """
    a, y = call.input(0), call.output
    mult, shift = product_multiplier((a.scale,), y.scale, in_double=True)
    if mean:
        count = math.prod(x.shape[k] for k in axes)
        more = min(count.bit_length() - 1, 32, 31 + shift)
        mult, shift = mult * (1 << more) // count, shift - more
    total = wrapped(centred(x, a).sum(axis=axes))
    return stored(scaled_twice(total, mult, shift), y)
