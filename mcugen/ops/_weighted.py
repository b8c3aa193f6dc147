"""Facts of operators with weights that kernels need: the weights as a matrix, the window, the pixels, the rounding.

Their form is the same for all such operators, so that one definition of kernels serves convolutions and dense layers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from mcugen.ir import subbyte
from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, RowWindow, Window
from mcugen.ir.quant_rule import OWN, Scales
from mcugen.ops import _filter, _rounding
from mcugen.ops._activation import Activated
from mcugen.ops._window import SlidingWindow


class Weighted(Activated):
    """Base of operators with weights as operand 1. Convolutions also have a method `window`."""

    def matrix(self, call: Call) -> np.ndarray:
        """The weights as [output channels, taps], zero points removed."""
        raise NotImplementedError

    def quantized(self, call: Call) -> Scales:
        return OWN

    def rounds_once(self, call: Call) -> bool:
        """Whether sums are requantized with one rounding. The TensorFlow Lite runtimes round int8 convolutions twice.
        """
        return _rounding.is_stated(call)


@fact
def matrix(call: Call) -> np.ndarray:
    """The weights as [output channels, taps], zero points removed."""
    return cast(Weighted, call.op).matrix(call)


def taps_of(call: Call) -> int:
    """Number of taps of each output channel, whether the weights are constant or not."""
    return math.prod(call.input(1).shape) // max(call.output.shape[-1], 1)


@fact
def window_of(call: Call) -> SlidingWindow:
    """The window of a convolution."""
    return cast(SlidingWindow, call.op.window(call.input(1).shape))


@fact
def row_window(call: Call) -> RowWindow:
    """The input rows that each output row of a convolution reads."""
    return window_of(call).rows(call.input(0))


def pixels(call: Call) -> int:
    """The number of output pixels of a convolution, or of output vectors of a fully connected layer."""
    return call.output.size // call.input(1).shape[0]


def activation_of(call: Call) -> str:
    """The fused activation."""
    return cast(str, call.op.activation)


def rounds_once(call: Call) -> bool:
    """Whether sums are requantized with one rounding."""
    return cast(Weighted, call.op).rounds_once(call)


def sums_fit(call: Call) -> bool:
    "all sums of products stay within 32 bits"
    if call.input(0).dtype not in _filter.LARGEST or not _filter.constant_weights(call):
        return False
    return bool(_filter.largest_sums(call, matrix(call)).max(initial=0) < _filter.INT32_END)


def four_bits(call: Call) -> bool:
    "all weights are within -8 and 7"
    if not _filter.int8_data(call) or not _filter.constant_weights(call):
        return False
    w = matrix(call)
    return bool(w.min(initial=0) >= -8 and w.max(initial=0) <= 7)


def narrowed(kernels: Sequence[Kernel], *rules: Rule) -> tuple[Kernel, ...]:
    """Variants of portable kernels that store weights as nibbles, bytes or float16. rules: more rules for nibbles."""
    return (*in_nibbles(kernels, *rules), *in_bytes(kernels), *in_halves(kernels))


def in_nibbles(kernels: Sequence[Kernel], *rules: Rule) -> tuple[Kernel, ...]:
    """Variants of the int8 weight kernels in `kernels`, with two 4-bit weights per byte. rules: more rules for them."""
    return tuple(_in_nibbles(kernel).ruled(four_bits, *rules) for kernel in kernels if _reads_bytes(kernel))


def _reads_bytes(kernel: Kernel) -> bool:
    return kernel.symbol.removesuffix("__pointwise").endswith(("_s8", "_s8_line"))


def _in_nibbles(kernel: Kernel) -> Kernel:
    return replace(kernel, symbol=_stored_as(kernel, "nibbles"), params=partial(_packed, kernel))


def _stored_as(kernel: Kernel, how: str) -> str:
    """The kernel's symbol with `how` as the first word after `__`."""
    contract, _, form = kernel.symbol.partition("__")
    return "_".join([f"{contract}__{how}", *([form] if form else [])])


def _packed(kernel: Kernel, call: Call) -> Params:
    """The kernel's struct fields with its weights packed as nibbles."""
    fields = kernel.params(call) if kernel.params else {}
    return {**fields, "weights": subbyte.packed(np.asarray(fields["weights"]), 4).view(np.int8)}


def nine_bits(call: Call) -> bool:
    "weights are int16, and their range, extended to 0, spans at most 255"
    if not _filter.int8_data_wide_weights(call) or not _filter.constant_weights(call):
        return False
    w = matrix(call)
    return bool(w.max(initial=0) - w.min(initial=0) <= 255)


def stored_sums_fit(call: Call) -> bool:
    "all sums of products with the weights stored as bytes stay within 32 bits"
    if not nine_bits(call):
        return False
    w = matrix(call)
    zero, bias = _zero_of(w), np.abs(_filter.folded_bias(call, w.sum(axis=1)))
    stored = _filter.LARGEST["s8"] * ((w + zero).sum(axis=1) + zero * w.shape[1])
    return bool((bias + stored).max(initial=0) < _filter.INT32_END)


def _zero_of(w: np.ndarray) -> int:
    """The number added to nine-bit weights so that they are stored as unsigned bytes."""
    return -int(w.min(initial=0))


def in_bytes(kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """Variants of the int16 weight kernels in `kernels`, with nine-bit weights stored in bytes."""
    ends = ("_s8w16", "_s8w16_line")
    wide = [kernel for kernel in kernels if kernel.symbol.removesuffix("__pointwise").endswith(ends)]
    return tuple(_in_bytes(kernel).ruled(nine_bits, stored_sums_fit) for kernel in wide)


def _in_bytes(kernel: Kernel) -> Kernel:
    symbol = kernel.symbol.replace("_s8w16", "_s8w9")
    return replace(kernel, symbol=symbol, params=partial(_raised, kernel), short=_initials(symbol))


def _initials(symbol: str) -> str:
    """The short name of a kernel with nine-bit weights: mg_depthwise_conv2d_s8w9__acc64 -> dc_w9__acc64."""
    name, _, rest = symbol.removeprefix("mg_").partition("_s8w9")
    return "_".join(["".join(word[0] for word in name.split("_")), f"w9{rest.replace('pointwise', 'p')}"])


def _raised(kernel: Kernel, call: Call) -> Params:
    """The kernel's struct fields with its weights as bytes, and `zero`, the number that was added to them."""
    fields, zero = kernel.params(call) if kernel.params else {}, _zero_of(matrix(call))
    return {**fields, "weights": (np.asarray(fields["weights"]) + zero).astype(np.uint8), "zero": zero}


def half_weights(call: Call) -> bool:
    "all weights are exact in float16"
    if not _filter.float_data(call) or not _filter.constant_weights(call):
        return False
    w = call.constant(1)
    return bool((np.abs(w) <= np.finfo(np.float16).max).all() and np.array_equal(w, w.astype(np.float16)))


def in_halves(kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """Variants of the float kernels in `kernels`, with weights stored as float16."""
    floats = [kernel for kernel in kernels if kernel.symbol.removesuffix("__pointwise").endswith("_f32")]
    return tuple(_in_halves(kernel).ruled(half_weights) for kernel in floats)


def _in_halves(kernel: Kernel) -> Kernel:
    return replace(kernel, symbol=_stored_as(kernel, "halves"), params=partial(_halved, kernel))


def _halved(kernel: Kernel, call: Call) -> Params:
    """The kernel's struct fields with the bits of float16 as weights."""
    fields = kernel.params(call) if kernel.params else {}
    return {**fields, "weights": np.asarray(fields["weights"]).astype(np.float16).view(np.uint16)}


def row_kernels(
    name: str,
    params: Callable[[Call], Params],
    cost: Cost,
    scratch: Callable[[Call], int] | None = None,
) -> tuple[Kernel, ...]:
    """The portable kernels of an operator that slides a window over rows, for all types."""
    model = Kernel("", Window(row_window, _filter.outside), params=params, scratch=scratch, cost=cost)
    return _filter.all_kernels(name, sums_fit, lambda symbol: replace(model, symbol=symbol))
