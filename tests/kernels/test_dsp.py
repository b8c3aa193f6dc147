# SPDX-License-Identifier: Apache-2.0
"""Blocked kernels for cores with SMLAD: what they refuse, why their scaling is exact, and what they share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import multiply_double_rounding, multiply_single_rounding
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams
from mcugen.kernels.dsp import scaling
from mcugen.kernels.dsp.layout import UNROLLED_GROUPS, UNROLLED_WORDS, runs_of, words_of
from mcugen.ops import _filter, _rounding
from mcugen.ops._filter_examples import example
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.solve import costs
from tests.support import draw
from tests.support.copies import code_of_copy

FEATURES = frozenset({"dsp"})
WITH_FPU = FEATURES | {"fpu"}
IN_ROWS = ("mg_conv2d_s8__dsp16", "mg_conv2d_s8__dsp8", "mg_conv2d_s8__dsp16_single", "mg_conv2d_s8__dsp8_single")
GATHERED = tuple(f"{symbol}_gathered" for symbol in IN_ROWS)
PATCHES = tuple(f"mg_conv2d_s8__{way}_patch" for way in ("dsp16", "dsp8", "dsp8_single"))
IN_PLACE = tuple(f"mg_conv2d_s8__{way}_direct" for way in ("dsp16", "dsp8"))
WINDOWS = IN_ROWS + GATHERED + PATCHES + IN_PLACE
RUNS = tuple(f"{symbol}{shared}_pointwise" for shared in ("", "_shared") for symbol in IN_ROWS)
VECTORS = tuple(f"mg_fully_connected_s8__{way}" for way in ("dsp16", "dsp8", "dsp8_single", "dsp8_shared"))
DIRECT = tuple(f"mg_fully_connected_s8__{way}_direct" for way in ("dsp16", "dsp8"))


def drawn(op: Op, weights: tuple[int, ...], shape: tuple[int, ...], reference: str, **types: Any) -> Call:
    made = example(op, 3, shape, weights, 0, **{"gain": 0.01, **types})
    data = [
        draw.constant(t, made.constants[k], made.seed, k) if t is not None and k in made.constants else None
        for k, t in enumerate(made.inputs)
    ]
    return Call(op, made.inputs, made.outputs, tuple(data), reference)


def conv(
    kernel: tuple[int, int] = (3, 3), size: tuple[int, int] = (5, 6), c: int = 8, o: int = 6, groups: int = 1,
    activation: str = "NONE", **types: Any,
) -> Call:  # fmt: skip
    op = Conv2D((1, 1), (1, 1), "SAME", activation)
    return drawn(op, (o, *kernel, c // groups), (1, *size, c), "tflm", **types)


def vectors(
    inputs: int = 20, outputs: int = 6, reference: str = "tflm", activation: str = "NONE", **types: Any
) -> Call:
    op = FullyConnected(activation)
    return drawn(op, (outputs, inputs), (2, inputs), reference, **{"per_channel": False, **types})


def kernel_of(call: Call, symbol: str) -> Kernel:
    return next(k for k in kernels.of(call.op) if k.symbol == symbol)


def with_weights(call: Call, data: np.ndarray) -> Call:
    return replace(call, constants=(None, data.astype(np.int8), *call.constants[2:]))


@pytest.mark.parametrize("symbol", WINDOWS + RUNS + VECTORS + DIRECT)
def test_they_take_usual_layers(symbol: str) -> None:
    call = vectors() if symbol in VECTORS + DIRECT else conv((1, 1) if symbol in RUNS else (3, 3))
    assert not kernel_of(call, symbol).refusals(call, FEATURES)
    assert kernel_of(call, symbol).refusals(call, frozenset()) == ["the core has no dsp"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bias_max": 2**31 - 1}, "2^30"),
        ({"gain": 4.0}, "right shift of at most 22"),
        ({"kind": "s16"}, "int8"),
        ({"groups": 2}, "one group"),
        ({"size": (1, 1), "kernel": (1, 1), "c": 1, "o": 65536}, "no size is above 65535"),
    ],
)
@pytest.mark.parametrize("symbol", WINDOWS)
def test_windows_refuse_what_is_not_exact(symbol: str, changed: dict[str, Any], message: str) -> None:
    call = conv(**changed)
    assert any(message in why for why in kernel_of(call, symbol).refusals(call, FEATURES))
    assert any(not k.refusals(call, FEATURES) for k in kernels.of(call.op) if "__dsp" not in k.symbol)


def test_windows_take_the_tallest_kernel() -> None:
    tall, taller = (conv((rows, 1), (3, 2), 1) for rows in (512, 513))
    assert all(not kernel_of(tall, symbol).refusals(tall, FEATURES) for symbol in IN_ROWS + GATHERED + PATCHES)
    assert all("at most 512 runs" in kernel_of(taller, symbol).refusals(taller, FEATURES)[0] for symbol in IN_ROWS)


@pytest.mark.parametrize("symbol", [s for s in IN_ROWS if "dsp16" in s])
def test_pixels_out_of_reach_are_gathered(symbol: str) -> None:
    call = conv(size=(2, 3), c=260, gain=1e-3)
    why = kernel_of(call, symbol).refusals(call, FEATURES)
    assert why == ["the taps of three pixels are within reach of an instruction, in at most 512 runs"]
    assert not kernel_of(call, f"{symbol}_gathered").refusals(call, FEATURES)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bias_max": 2**31 - 1}, "2^30"),
        ({"gain": 4.0}, "right shift of at most 22"),
        ({"c": 3}, "4 to 65535 channels"),
        ({"kernel": (1, 2)}, "1x1"),
    ],
)
@pytest.mark.parametrize("symbol", RUNS)
def test_runs_refuse_what_is_not_exact(symbol: str, changed: dict[str, Any], message: str) -> None:
    call = conv(**{"kernel": (1, 1), **changed})
    assert any(message in why for why in kernel_of(call, symbol).refusals(call, FEATURES))
    assert any(not k.refusals(call, FEATURES) for k in kernels.of(call.op) if "__dsp" not in k.symbol)


@pytest.mark.parametrize("symbol", [s for s in WINDOWS + VECTORS + DIRECT if "dsp8" in s])
def test_composite_weights_need_room(symbol: str) -> None:
    plain = vectors() if symbol in VECTORS + DIRECT else conv()
    kernel, weights = kernel_of(plain, symbol), plain.constant(1).copy()
    weights.reshape(-1)[0] = -128
    why = kernel.refusals(with_weights(plain, weights), FEATURES)
    assert any("between -127 and 127" in reason for reason in why)
    changed = {"bias_max": 2**26, "gain": 1e-4}
    large = vectors(**changed) if symbol in VECTORS + DIRECT else conv(**changed)
    assert any("2^23" in reason for reason in kernel.refusals(large, FEATURES))
    name = symbol.replace("dsp8_single_patch", "dsp16_patch").replace("dsp8", "dsp16")
    wide = kernel_of(large, VECTORS[0] if symbol in VECTORS else name)
    assert not wide.refusals(large, FEATURES)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("limit", "symbol", "message"),
    [(2**23, "mg_conv2d_s8__dsp8", "2^23"), (2**30, "mg_conv2d_s8__dsp16", "2^30")],
)
def test_the_largest_sum_is_taken_and_the_next_is_not(limit: int, symbol: str, message: str, sign: int) -> None:
    """The second channel's only product goes from -128 to 127; the first one is 0."""
    plain, weights = conv((1, 1), (1, 3), 4, 2, gain=0.1), np.zeros((2, 1, 1, 4), np.int8)
    weights[1, 0, 0, 0] = 1
    most = sign * (limit - 1) - (127 if sign > 0 else -128)
    calls = [replace(plain, constants=(None, weights, np.array([0, bias], np.int32))) for bias in (most, most + sign)]
    kernel = kernel_of(plain, symbol)
    assert not kernel.refusals(calls[0], FEATURES)
    assert any(message in why for why in kernel.refusals(calls[1], FEATURES))


def test_a_multiplier_that_can_tie_is_refused_where_rounding_is_once() -> None:
    call = vectors(reference="litert")
    tie = replace(call, outputs=(replace(call.output, quant=QuantParams((64.0,), (3,))),))
    assert not kernel_of(call, VECTORS[0]).refusals(call, FEATURES)
    assert any("right shift of at most 22" in why for why in kernel_of(tie, VECTORS[0]).refusals(tie, FEATURES))
    twice = replace(tie, reference="tflm")
    assert not kernel_of(twice, VECTORS[0]).refusals(twice, FEATURES)


def scaled(scale: scaling.ChannelScales, sums: np.ndarray, k: int, *, once: bool) -> np.ndarray:
    """The result of the instructions from sums of channel k, before the clamp."""
    product = 2 * sums * scale.mult[k] + (0 if once else 2**31)
    return ((product >> 32) + scale.addend[k] - (0 if once else sums < 0)) >> scale.shift[k]


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("gain", [0.3, 0.02, 1e-3, 3e-5])
def test_the_short_scaling_has_the_runtimes_bits(once: bool, gain: float) -> None:
    call = vectors(gain=gain, reference="litert" if once else "tflm", out_zero=-11)
    found = scaling.scales_once(call) if once else scaling.scales(call)
    assert found.proved.all()
    low, high = scaling.sums(call)
    mult, shift = _filter.multipliers(call, low.size)
    for k in np.flatnonzero(~found.constant):
        near = np.arange(-3, 4)
        steps = np.linspace(low[k], high[k], 5000).astype(np.int64)
        sums = np.clip((steps[:, None] + near).reshape(-1), low[k], high[k])
        multiply = multiply_single_rounding if once else multiply_double_rounding
        want = multiply(sums, mult[k], shift[k]) + call.output.zero_point
        np.testing.assert_array_equal(scaled(found, sums, int(k), once=once), want)


@pytest.mark.parametrize("gain", [0.3, 0.02, 1e-3, 3e-5])
def test_the_wide_scaling_has_the_runtimes_bits_from_the_zero_point_on(gain: float) -> None:
    call = vectors(gain=gain, out_zero=-11)
    found, (low, high) = scaling.scales(call), scaling.sums(call)
    assert scaling.fit_wide(call)
    mult, shift = _filter.multipliers(call, low.size)
    pair = np.array([[0, 0, 0, found.addend[1], 0, found.shift[1]]])
    *_, addend, _, bits = scaling.wide(pair)[0].tolist()
    sums = np.clip(np.linspace(low[1], high[1], 5000).astype(np.int64)[:, None] + np.arange(-3, 4), low[1], high[1])
    got = ((256 * sums * found.mult[1] >> 32) + addend) >> bits
    want = multiply_double_rounding(sums.reshape(-1), mult[1], shift[1]).reshape(sums.shape) - 11
    np.testing.assert_array_equal(np.maximum(got, -11), np.maximum(want, -11))


def test_shifts_without_room_for_seven_bits_more_take_the_other_way() -> None:
    near, far = (conv(gain=gain, out_zero=-128, activation="RELU") for gain in (1e-3, 3e-6))
    assert scaling.fit_wide(near) and not scaling.fit_wide(far)
    for symbol, linear in (("mg_conv2d_s8__dsp8_gathered", [0, 1]), ("mg_conv2d_s8__dsp16_gathered", [5, 5])):
        assert not kernel_of(far, symbol).refusals(far, FEATURES)
        assert [kernel_of(call, symbol).sizes(call)["linear"] for call in (near, far)] == linear
    assert [scaling.scales_alike(call).alike for call in (near, far)] == [12, 20]


def layer(gain: float, rounding: str = "") -> Call:
    """A layer with two gains, rounded twice and clamped at the zero point, or rounded once."""
    op = Conv2D((1, 1), (1, 1), "SAME", "NONE" if rounding else "RELU", rounding=rounding)
    call = drawn(op, (6, 3, 3, 8), (1, 5, 6, 8), "ort" if rounding else "tflm", gain=gain, out_zero=-128)
    assert call.inputs[1] is not None and call.inputs[1].quant is not None
    spread = tuple(scale * 2.0 ** (k % 2) for k, scale in enumerate(call.inputs[1].quant.scale))
    return replace(
        call, inputs=(call.inputs[0], replace(call.inputs[1], quant=QuantParams(spread, (0,) * 6, 0)), *call.inputs[2:])
    )


@pytest.mark.parametrize(("gain", "rounding"), [(0.0313, ""), (0.0091, ""), (3.3e-5, ""), (0.0313, "single")])
def test_one_shift_for_all_channels_has_the_bits_of_their_own(gain: float, rounding: str) -> None:
    call = layer(gain, rounding)
    own, found, (low, high) = scaling.scales(call), scaling.scales_alike(call), scaling.sums(call)
    assert found.alike in scaling.ALIKE and len(set(own.shift[~own.constant].tolist())) > 1
    held = found.held(np.ones(low.size, np.int64))
    for k in range(low.size):
        steps = np.linspace(low[k], high[k], 5000).astype(np.int64)
        sums = np.clip((steps[:, None] + np.arange(-3, 4)).reshape(-1), low[k], high[k])
        got = ((held[k] * sums * found.mult[k] >> 32) + found.addend[k]) >> found.alike
        want = scaled(own, sums, k, once=bool(rounding))
        least = -(2**31) if rounding else -128
        np.testing.assert_array_equal(np.maximum(got, least), np.maximum(want, least))
    for largest, limit in (
        (scaling.largest(call), 2**31),
        (np.abs(call.constant(1)).reshape(6, -1).max(axis=1), 2**15),
    ):
        assert (largest * held)[~found.constant].max() < limit


def test_constant_channels_lose_their_weights() -> None:
    call = conv(gain=1e-8, bias_max=2**29)
    found = scaling.scales(call)
    assert found.constant.all() and found.proved.all()
    low, _ = scaling.sums(call)
    for k in range(low.size):
        want = multiply_double_rounding(low[k], *(v[k] for v in _filter.multipliers(call, low.size)))
        assert scaled(found, np.array([-5, 5]), k, once=False).tolist() == [want + call.output.zero_point] * 2


@pytest.mark.parametrize("rounding", ["even", "single"])
def test_floats_scale_what_no_multiplier_does_where_there_is_an_fpu(rounding: str) -> None:
    tie, other = (
        drawn(Conv2D(rounding=rounding), (6, 3, 3, 8), (1, 5, 6, 8), "ort", gain=gain) for gain in (2.0**-7, 0.0091)
    )
    for symbol, fixed, float_ in (
        ("mg_conv2d_s8__dsp16", 5, 4),
        ("mg_conv2d_s8__dsp8_gathered", 2, 4),
        ("mg_conv2d_s8__winograd", 1, 2),
    ):
        kernel = kernel_of(tie, symbol)
        with_fpu = WITH_FPU | kernel.needs
        assert any("with an FPU" in why for why in kernel.refusals(tie, with_fpu))
        able, unneeded = (replace(call, features=with_fpu) for call in (tie, other))
        assert not kernel.refusals(able, with_fpu) and not kernel.refusals(unneeded, with_fpu)
        key = "linear" if "linear" in kernel.sizes(able) else "once"
        assert (kernel.sizes(unneeded)[key], kernel.sizes(able)[key]) == (fixed, float_)
    found, (low, high) = scaling.scales(able), scaling.sums(able)
    factor, _ = _rounding.floats(able, "NONE")
    for k in range(low.size):
        half = found.mult[k].astype(np.int32).view(np.float32)
        sums = np.linspace(low[k], high[k], 5000).astype(np.int64)
        got = np.rint((2 * sums).astype(np.float32) * half) + found.addend[k]
        np.testing.assert_array_equal(got, np.rint(sums.astype(np.float32) * factor[k]) + able.output.zero_point)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 9, 40, 64, 66, 68, 100, 106, 192, 260, 576, 1000])
def test_runs_hold_all_taps_and_waste_few(length: int, pairs: bool) -> None:
    runs = runs_of(length, pairs=pairs)
    assert runs.quads <= UNROLLED_GROUPS
    assert length <= runs.split * runs.length < length + 4 * runs.split
    assert runs.pair == 0 or runs.split == 1


@pytest.mark.parametrize("total", [1, 2, 15, 36, 37, 54, 64, 72, 74, 144, 150, 288, 1000])
def test_gathered_words_hold_all_taps_and_waste_few(total: int) -> None:
    words = words_of(total)
    assert words.words <= UNROLLED_WORDS
    assert total <= words.total < total + words.times


def variant(symbol: str, call: Call) -> object:
    kernel = kernel_of(call, symbol)
    assert kernel.text.variant is not None
    return kernel.text.variant(call)


def test_a_copy_serves_1x1_convolutions_of_all_sizes() -> None:
    layers = [conv((1, 1), size, c, o) for size, c, o in (((4, 4), 30, 9), ((3, 5), 17, 12), ((12, 12), 106, 64))]
    own, shared = ([variant(symbol, call) for call in layers] for symbol in (RUNS[0], RUNS[4]))
    assert shared[0] == shared[1] == shared[2]
    assert own[0] != own[1] != own[2]


def test_a_copy_of_gathered_taps_serves_windows_of_several_sizes() -> None:
    """With 16, 32 and 64 channels, the same words are used two, four and eight times."""
    layers = [conv((3, 3), (4, 8), c, 16) for c in (16, 32, 64)]
    in_rows, gathered = ([variant(symbol, call) for call in layers] for symbol in (IN_ROWS[0], GATHERED[0]))
    assert gathered[0] == gathered[1] == gathered[2]
    assert in_rows[0] != in_rows[1] != in_rows[2]


def test_a_pixel_at_a_time_is_cheaper_as_a_vector() -> None:
    """A column of 28 pixels, with one pixel an event: a block of three pixels would compute each three times."""
    call = conv((1, 1), (28, 1), 128, 128)
    run, vector = kernel_of(call, RUNS[0]), kernel_of(call, VECTORS[0])
    assert costs.features(run, call)["blocks"] == 10
    assert costs.features(run, call, by_rows=True, batch=1)["blocks"] == 28
    whole, single = ([costs.estimate(k, call, "cortex-m4", r, 1) for k in (run, vector)] for r in (False, True))
    assert whole[0].cycles_high < whole[1].cycles_high
    assert single[0].instructions > 2 * single[1].instructions


def test_a_copy_serves_vectors_of_all_sizes() -> None:
    layers = [vectors(8), vectors(200, 33), vectors(64, activation="RELU", out_zero=-128)]
    own, shared = ([variant(symbol, call) for call in layers] for symbol in VECTORS[1::2])
    assert shared[0] == shared[1] == shared[2]
    assert own[0] != own[1] != own[2]


@pytest.mark.parametrize(
    ("symbol", "changed"),
    [
        ("dsp16", {"inputs": 64}),
        ("dsp8", {"inputs": 8}),
        ("dsp8", {"inputs": 128, "activation": "RELU", "out_zero": -128}),
        ("dsp8_single", {"inputs": 136}),
        ("dsp8_shared", {"inputs": 128}),
        ("dsp9", {"inputs": 32, "kind": "s8w9", "gain": 0.002}),
        ("dsp9_single", {"inputs": 136, "kind": "s8w9", "gain": 0.002}),
        ("dsp9_shared", {"inputs": 64, "kind": "s8w9", "gain": 0.002}),
        ("dsp4", {"inputs": 32, "kind": "s8w4"}),
        ("dsp16_direct", {"inputs": 64}),
        ("dsp8_direct", {"inputs": 62}),
        ("dsp8_direct", {"inputs": 12, "activation": "RELU", "out_zero": -128}),
    ],
)
def test_the_stated_code_of_a_vector_is_near_its_size(symbol: str, changed: dict[str, Any], tmp_path: Path) -> None:
    call = vectors(**changed)
    kernel = kernel_of(call, f"mg_fully_connected_s8__{symbol}")
    assert kernel.cost.code is not None
    assert kernel.cost.code(call) == pytest.approx(code_of_copy(kernel, call, tmp_path), rel=0.03)


def test_vectors_refuse_convolutions_that_move() -> None:
    for moved in (conv((1, 2)), drawn(Conv2D((2, 2)), (4, 1, 1, 8), (1, 5, 5, 8), "tflm")):
        assert any("1x1 with stride 1" in why for why in kernel_of(moved, VECTORS[0]).refusals(moved, FEATURES))


def test_weights_of_four_bits_share_bytes() -> None:
    """Half a byte each beside the biases and scales of a pair of channels, and none where -8 would not fit."""
    symbol = "mg_conv2d_s8__dsp4_gathered"
    call = drawn(Conv2D(), (6, 3, 3, 8), (1, 5, 7, 8), "tflm", kind="s8w4")
    odd = np.array(call.constant(1))
    odd[1, 0, 0, 0] = -8
    kernel = kernel_of(call, symbol)
    assert kernel.params is not None
    stream = kernel.params(call)["stream"]
    assert isinstance(stream, np.ndarray)
    assert stream.nbytes == 6 * (72 // 2 + 16)
    refused = replace(call, constants=(None, odd, *call.constants[2:]))
    assert any("from -7 in odd channels" in why for why in kernel.refusals(refused, FEATURES))
    wide = drawn(Conv2D(), (6, 3, 3, 8), (1, 5, 7, 8), "tflm")
    assert any("from -8 to 7" in why for why in kernel.refusals(wide, FEATURES))
