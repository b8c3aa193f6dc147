# SPDX-License-Identifier: Apache-2.0
"""Cases of the operators that compute: convolutions, pooling, elementwise, reductions, activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.models.family import Family

Cases = Callable[[Family], None]


def _out(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    """Output length of a window along one axis."""
    if padding == "SAME":
        return -(-size // stride)
    return (size - (kernel - 1) * dilation - 1) // stride + 1


def _window_options(stride: Sequence[int], padding: str, act: str) -> dict[str, object]:
    return {"padding": padding, "stride_h": stride[0], "stride_w": stride[1], "fused_activation_function": act}


def _conv(
    f: Family,
    x: int,
    channels: int,
    kernel: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    act: str = "NONE",
    k: int = 0,
    groups: int = 1,
    per_channel: bool = True,
    multiplier: float | None = None,
    bias: str = "normal",
) -> None:
    n, h, w, c = f.info[x].shape
    size = [_out(s, q, t, d, padding) for s, q, t, d in zip((h, w), kernel, stride, dilation, strict=True)]
    y = f.tensor((n, *size, channels), k=k)
    depth = c // groups
    weights = f.weights(
        x,
        y,
        (channels, *kernel, depth),
        0,
        kernel[0] * kernel[1] * depth,
        per_channel=per_channel and f.dtype != "u8",
        multiplier=multiplier,
        bias=bias,
    )
    options = _window_options(stride, padding, act)
    options |= {"dilation_h_factor": dilation[0], "dilation_w_factor": dilation[1]}
    f.writer.op("CONV_2D", [x, *weights], [y], options)
    f.outputs.append(y)


def conv_2d(f: Family) -> None:
    a, b, c = f.x(1, 7, 5, 3, k=0), f.x(1, 5, 6, 2, k=1), f.x(1, 4, 7, 4, k=2)
    batch, small, column = f.x(2, 4, 6, 1, k=3), f.x(1, 2, 3, 1, k=2), f.x(1, 9, 1, 5, k=0)
    _conv(f, a, 4, (3, 3), k=3)
    _conv(f, b, 5, (2, 3), stride=(2, 2), act="RELU", k=0)
    _conv(f, c, 3, (3, 2), stride=(3, 1), padding="VALID", act="RELU6", k=3)
    _conv(f, a, 4, (3, 3), dilation=(2, 2), act="RELU_N1_TO_1", k=1)
    _conv(f, b, 2, (2, 2), dilation=(3, 2), padding="VALID", k=2)
    _conv(f, a, 2, (1, 1), stride=(2, 2), padding="VALID", k=1)
    _conv(f, c, 6, (1, 1), multiplier=1.7, k=3)
    _conv(f, batch, 3, (1, 1), multiplier=5.3, k=1)
    _conv(f, a, 8, (7, 5), padding="VALID", act="RELU", k=0)
    _conv(f, batch, 3, (4, 4), stride=(2, 3), k=1)
    _conv(f, c, 4, (3, 3), stride=(1, 2), per_channel=False, k=2)
    _conv(f, small, 2, (5, 5), k=3)
    _conv(f, column, 7, (4, 1), stride=(2, 1), k=0)
    _conv(f, b, 3, (3, 3), bias="huge", k=1)
    _conv(f, b, 3, (1, 1), multiplier=2.0**-11, k=3)
    _conv(f, b, 6, (2, 2), multiplier=0.37, k=3)
    _conv(f, c, 6, (1, 1), multiplier=0.17, k=1)
    _conv(f, c, 4, (1, 2), multiplier=0.5, per_channel=False, k=1)


def conv_2d_grouped(f: Family) -> None:
    a, b = f.x(1, 5, 5, 4, k=1), f.x(1, 4, 6, 6, k=3)
    _conv(f, a, 4, (3, 3), groups=2, k=3)
    _conv(f, b, 6, (2, 3), stride=(2, 1), groups=3, padding="VALID", act="RELU", k=0)


def _depthwise(
    f: Family,
    x: int,
    kernel: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    act: str = "NONE",
    k: int = 0,
    multiply: int = 1,
    per_channel: bool = True,
    multiplier: float | None = None,
    bias: str = "normal",
) -> None:
    n, h, w, c = f.info[x].shape
    size = [_out(s, q, t, d, padding) for s, q, t, d in zip((h, w), kernel, stride, dilation, strict=True)]
    y = f.tensor((n, *size, c * multiply), k=k)
    weights = f.weights(
        x,
        y,
        (1, *kernel, c * multiply),
        3,
        kernel[0] * kernel[1],
        per_channel=per_channel and f.dtype != "u8",
        multiplier=multiplier,
        bias=bias,
    )
    options = _window_options(stride, padding, act) | {"depth_multiplier": multiply}
    options |= {"dilation_h_factor": dilation[0], "dilation_w_factor": dilation[1]}
    f.writer.op("DEPTHWISE_CONV_2D", [x, *weights], [y], options)
    f.outputs.append(y)


def depthwise_conv_2d(f: Family) -> None:
    a, b, c = f.x(1, 7, 5, 3, k=0), f.x(1, 5, 6, 2, k=1), f.x(1, 6, 7, 5, k=2)
    batch, small = f.x(2, 4, 5, 1, k=3), f.x(1, 2, 3, 4, k=2)
    _depthwise(f, a, (3, 3), k=3)
    _depthwise(f, b, (2, 3), stride=(2, 2), act="RELU", k=0)
    _depthwise(f, c, (3, 2), stride=(3, 3), padding="VALID", act="RELU6", k=3)
    _depthwise(f, a, (3, 3), multiply=2, act="RELU_N1_TO_1", k=1)
    _depthwise(f, b, (4, 2), multiply=3, padding="VALID", k=2)
    _depthwise(f, batch, (3, 3), multiply=8, stride=(2, 2), act="RELU", k=0)
    _depthwise(f, c, (3, 3), dilation=(2, 2), k=1)
    _depthwise(f, a, (2, 2), dilation=(3, 2), padding="VALID", k=3)
    _depthwise(f, c, (1, 1), multiplier=1.9, k=3)
    _depthwise(f, a, (1, 3), multiplier=3.1, bias="none", act="RELU6", k=0)
    _depthwise(f, a, (7, 5), padding="VALID", k=1)
    _depthwise(f, c, (3, 3), stride=(2, 2), per_channel=False, k=2)
    _depthwise(f, small, (5, 5), k=3)
    _depthwise(f, b, (3, 3), bias="huge", k=1)
    _depthwise(f, b, (2, 2), multiply=2, multiplier=0.37, k=3)
    _depthwise(f, c, (1, 1), multiplier=0.17, k=1)
    _depthwise(f, c, (1, 2), multiplier=0.5, per_channel=False, k=1)


def _dense(
    f: Family,
    x: int,
    depth: int,
    units: int,
    shape: Sequence[int],
    *,
    act: str = "NONE",
    k: int = 0,
    keep: bool = False,
    per_channel: bool = False,
    multiplier: float | None = None,
    bias: str = "normal",
) -> None:
    y = f.tensor(shape, k=k)
    weights = f.weights(x, y, (units, depth), 0, depth, per_channel=per_channel, multiplier=multiplier, bias=bias)
    absent = [-1] if bias == "none" else []
    f.writer.op(
        "FULLY_CONNECTED", [x, *weights, *absent], [y], {"fused_activation_function": act, "keep_num_dims": keep}
    )
    f.outputs.append(y)


def fully_connected(f: Family) -> None:
    a, b, c, d = f.x(1, 33, k=0), f.x(3, 10, k=1), f.x(2, 3, 5, k=2), f.x(1, 2, 3, 4, k=3)
    _dense(f, a, 33, 10, (1, 10), k=3)
    _dense(f, b, 10, 7, (3, 7), act="RELU", k=0)
    _dense(f, c, 5, 4, (2, 3, 4), keep=True, act="RELU6", k=3)
    _dense(f, c, 5, 4, (6, 4), k=1)
    _dense(f, d, 24, 3, (1, 3), act="RELU_N1_TO_1", k=1)
    _dense(f, a, 33, 1, (1, 1), bias="none", k=2)
    _dense(f, b, 10, 5, (3, 5), multiplier=1.6, k=1)
    _dense(f, b, 10, 6, (3, 6), bias="huge", k=3)
    _dense(f, a, 33, 16, (1, 16), k=2)
    _dense(f, b, 10, 16, (3, 16), multiplier=0.37, k=3)
    _dense(f, b, 10, 16, (3, 16), multiplier=0.17, k=1)
    _dense(f, a, 33, 16, (1, 16), multiplier=0.06, k=1)
    _dense(f, c, 5, 9, (6, 9), multiplier=0.5, k=1)


def fully_connected_per_channel(f: Family) -> None:
    a, b = f.x(1, 33, k=0), f.x(3, 10, k=1)
    _dense(f, a, 33, 10, (1, 10), per_channel=True, k=3)
    _dense(f, b, 10, 7, (3, 7), per_channel=True, act="RELU", k=0)
    _dense(f, b, 10, 5, (3, 5), per_channel=True, multiplier=1.4, bias="none", k=1)
    _dense(f, b, 10, 16, (3, 16), per_channel=True, multiplier=0.26, k=3)


def _transpose_conv(
    f: Family,
    x: int,
    channels: int,
    kernel: tuple[int, int],
    *,
    size: tuple[int, int],
    stride: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    k: int = 0,
    bias: str = "normal",
    per_channel: bool = True,
    multiplier: float | None = None,
    shape_input: bool = False,
) -> None:
    n, _, _, c = f.info[x].shape
    y = f.tensor((n, *size, channels), k=k)
    if shape_input:
        shape = f.x(4, dtype="s32", name=f"shape_{n}_{size[0]}_{size[1]}_{channels}")
    else:
        shape = f.const((n, *size, channels))
    fan_in = max(1, kernel[0] * kernel[1] // (stride[0] * stride[1])) * c
    per_channel = per_channel and f.dtype != "u8"
    weights = f.weights(
        x, y, (channels, *kernel, c), 0, fan_in, per_channel=per_channel, multiplier=multiplier, bias=bias
    )
    options = {"padding": padding, "stride_h": stride[0], "stride_w": stride[1]}
    f.writer.op("TRANSPOSE_CONV", [shape, weights[0], x, *weights[1:]], [y], options)
    f.outputs.append(y)


def transpose_conv(f: Family) -> None:
    a, b, c = f.x(1, 3, 4, 3, k=0), f.x(1, 2, 3, 2, k=1), f.x(1, 3, 3, 4, k=2)
    _transpose_conv(f, a, 2, (3, 3), size=(3, 4), k=3)
    _transpose_conv(f, b, 3, (2, 3), size=(4, 6), stride=(2, 2), k=0)
    _transpose_conv(f, c, 2, (3, 2), size=(9, 4), stride=(3, 1), padding="VALID", k=1)
    _transpose_conv(f, b, 2, (4, 4), size=(3, 5), stride=(2, 2), bias="none", k=3)
    _transpose_conv(f, a, 1, (2, 2), size=(6, 8), stride=(2, 2), padding="VALID", per_channel=False, k=2)
    _transpose_conv(f, a, 4, (2, 1), size=(3, 4), multiplier=0.37, k=3)
    _transpose_conv(f, c, 4, (1, 2), size=(3, 3), multiplier=0.5, per_channel=False, k=1)


def transpose_conv_shape_input(f: Family) -> None:
    a = f.x(1, 1, 5, 4, k=3)
    _transpose_conv(f, a, 3, (3, 3), size=(3, 7), padding="VALID", shape_input=True)


def _pool(
    f: Family,
    op: str,
    x: int,
    window: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    act: str = "NONE",
) -> None:
    n, h, w, c = f.info[x].shape
    size = [_out(s, q, t, 1, padding) for s, q, t in zip((h, w), window, stride, strict=True)]
    options = _window_options(stride, padding, act) | {"filter_height": window[0], "filter_width": window[1]}
    f.op(op, [x], (n, *size, c), options, like=x)


def _pools(op: str) -> Cases:
    def cases(f: Family) -> None:
        a, b, c = f.x(1, 7, 5, 3, k=0), f.x(1, 5, 6, 2, k=1), f.x(2, 6, 7, 1, k=3)
        _pool(f, op, a, (3, 3))
        _pool(f, op, b, (2, 3), stride=(2, 2), act="RELU")
        _pool(f, op, c, (3, 2), stride=(3, 3), padding="VALID")
        _pool(f, op, c, (5, 5))
        _pool(f, op, c, (2, 1), act="RELU_N1_TO_1")
        _pool(f, op, a, (7, 5), padding="VALID")
        _pool(f, op, b, (1, 2), stride=(2, 2), padding="VALID", act="RELU6")
        _pool(f, op, b, (1, 1), stride=(3, 2), padding="VALID")
        _pool(f, op, a, (1, 5), stride=(1, 2))

    return cases


def _act(name: str) -> dict[str, object]:
    return {"fused_activation_function": name}


def _binary(op: str) -> Cases:
    """Equal shapes: one tensor with itself, constants on both sides, every activation, scales far apart."""

    def cases(f: Family) -> None:
        shape = (1, 3, 5, 4)
        a, b, c = f.x(*shape, k=0), f.x(*shape, k=1), f.x(*shape, k=2)
        fine = f.x(*shape, k=3, scale=0.0011 if f.dtype != "s16" else 0.0000041)
        product = 3.0 if op == "MUL" else 1.0
        scale = None if f.dtype == "f32" else product * (0.04 if f.dtype != "s16" else 0.00031)
        f.op(op, [a, b], shape, _act("NONE"), k=3, scale=scale)
        f.op(op, [b, a], shape, _act("RELU"), k=0, scale=scale)
        f.op(op, [b, c], shape, _act("RELU6"), k=1, scale=scale)
        f.op(op, [c, fine], shape, _act("RELU_N1_TO_1"), k=2)
        f.op(op, [fine, a], shape, _act("NONE"), k=1)
        f.op(op, [a, a], shape, _act("NONE"), k=3, scale=scale)
        f.op(op, [a, f.random(shape, k=3)], shape, _act("NONE"), k=3, scale=scale)
        f.op(op, [f.random(shape, k=1), c], shape, _act("RELU"), k=0, scale=scale)
        f.op(
            op,
            [fine, f.random(shape, like=fine)],
            shape,
            _act("NONE"),
            k=3,
            scale=None if scale is None else scale / 200,
        )

    return cases


def _broadcast(op: str) -> Cases:
    """One operand smaller than the other, on either side; one-dimensional, scalar and middle axes."""

    def cases(f: Family) -> None:
        a, row, column = f.x(1, 3, 5, 4, k=0), f.x(1, 1, 5, 1, k=1), f.x(1, 3, 1, 4, k=2)
        matrix, single, b = f.x(3, 4, k=3), f.x(1, k=1), f.x(1, 3, 5, 4, k=1)
        full = (1, 3, 5, 4)
        scale = None if f.dtype == "f32" else (0.25 if op == "MUL" else 0.09) * (1 if f.dtype != "s16" else 0.007)
        f.op(op, [a, f.random((1, 1, 1, 4), k=1)], full, _act("NONE"), k=3, scale=scale)
        f.op(op, [f.random((4,), k=2), a], full, _act("NONE"), k=1, scale=scale)
        f.op(op, [a, f.random((), k=3)], full, _act("NONE"), k=1, scale=scale)
        f.op(op, [single, b], full, _act("RELU6"), k=3)
        f.op(op, [row, column], full, _act("NONE"), k=3, scale=scale)
        f.op(op, [column, b], full, _act("RELU_N1_TO_1"), k=1)
        f.op(op, [matrix, f.random((4,), k=1)], (3, 4), _act("RELU"), k=3, scale=scale)
        f.op(op, [f.random((3, 1), k=1), matrix], (3, 4), _act("NONE"), k=1, scale=scale)
        f.op(op, [f.random((2, 1, 1, 4), k=3), b], (2, 3, 5, 4), _act("NONE"), k=2, scale=scale)

    return cases


def power_of_two_scales(f: Family) -> None:
    a, b = f.x(1, 3, 5, 4, scale=2.0**-12), f.x(1, 3, 5, 4, scale=2.0**-11)
    f.op("ADD", [a, b], (1, 3, 5, 4), _act("NONE"), scale=2.0**-11)
    f.op("SUB", [a, b], (1, 3, 5, 4), _act("NONE"), scale=2.0**-11)


def mean(f: Family) -> None:
    a, b, c = f.x(1, 3, 5, 4, k=0), f.x(2, 3, 7, k=2), f.x(1, 6, 6, 3, k=3)
    keep, drop = {"keep_dims": True}, {"keep_dims": False}
    f.op("MEAN", [a, f.const([1, 2])], (1, 1, 1, 4), keep, k=3)
    f.op("MEAN", [a, f.const([1, 2])], (1, 4), drop, like=a)
    f.op("MEAN", [a, f.const([2, 1])], (1, 4), drop, k=1)
    f.op("MEAN", [c, f.const([1, 2])], (1, 1, 1, 3), keep, like=c)
    f.op("MEAN", [a, f.const([3])], (1, 3, 5), drop, k=0)
    f.op("MEAN", [b, f.const([-1])], (2, 3, 1), keep, k=3)
    f.op("MEAN", [b, f.const([0, 2])], (3,), drop, k=1)
    f.op("MEAN", [b, f.const([1])], (2, 7), drop, like=b)
    f.op("MEAN", [b, f.const([0, 1, 2])], (1, 1, 1), keep, k=3)


def reduce_max(f: Family) -> None:
    a, b = f.x(1, 3, 5, 4, k=0), f.x(2, 3, 7, k=2)
    f.op("REDUCE_MAX", [a, f.const([1, 2])], (1, 1, 1, 4), {"keep_dims": True}, like=a)
    f.op("REDUCE_MAX", [a, f.const([3])], (1, 3, 5), {"keep_dims": False}, like=a)
    f.op("REDUCE_MAX", [b, f.const([-3, 2])], (3,), {"keep_dims": False}, like=b)
    f.op("REDUCE_MAX", [b, f.const([1])], (2, 1, 7), {"keep_dims": True}, like=b)


def _extremum(op: str) -> Cases:
    def cases(f: Family) -> None:
        a, b = f.x(1, 3, 5, 4, k=1), f.x(1, 3, 5, 4, k=1)
        f.op(op, [a, b], (1, 3, 5, 4), like=a)
        f.op(op, [a, f.random((4,), like=a)], (1, 3, 5, 4), like=a)
        f.op(op, [f.random((1, 3, 1, 1), like=a), b], (1, 3, 5, 4), like=a)
        f.op(op, [a, f.random((), like=a)], (1, 3, 5, 4), like=a)

    return cases


_SOFTMAX_OUT = {"s8": (1 / 256, -128), "u8": (1 / 256, 0), "s16": (1 / 32768, 0), "f32": (None, None)}


def softmax(f: Family) -> None:
    scale, zero = _SOFTMAX_OUT[f.dtype]
    coarse, fine = (None, None) if f.dtype == "f32" else (0.6, 0.004) if f.dtype != "s16" else (0.003, 0.00002)
    xs = [f.x(1, 10, k=0), f.x(3, 7, k=3), f.x(1, 2, 3, 5, k=1), f.x(2, 12, k=2, scale=coarse), f.x(2, 12, scale=fine)]
    for x, beta in zip(xs, (1.0, 1.0, 0.5, 1.0, 2.0), strict=True):
        f.op("SOFTMAX", [x], f.info[x].shape, {"beta": beta}, scale=scale, zero_point=zero)
    f.op("SOFTMAX", [f.x(2, 1, k=3)], (2, 1), {"beta": 1.0}, scale=scale, zero_point=zero)


def _unary(op: str, out: dict[str, tuple[float, int]] | None = None, options: dict[str, object] | None = None) -> Cases:
    """Inputs large enough to hold most s8 values; `out` is the quantization that the operator demands."""

    def cases(f: Family) -> None:
        scales = (None,) * 3 if f.dtype in ("f32", "s8", "u8") else (0.0003, 0.0001, 0.00071)
        for k, scale in enumerate(scales):
            x = f.x(1, 8, 8, 4, k=3 if k == 0 and "RELU" in op else k, scale=scale)
            if f.dtype == "f32":
                f.op(op, [x], (1, 8, 8, 4), options)
            elif out:
                f.op(op, [x], (1, 8, 8, 4), options, scale=out[f.dtype][0], zero_point=out[f.dtype][1])
            else:
                f.op(op, [x], (1, 8, 8, 4), options, k=(3, 0, 1)[k])
                f.op(op, [x], (1, 8, 8, 4), options, like=x)

    return cases


def logistic_coarse(f: Family) -> None:
    for scale in (1.3, 0.011):
        f.op("LOGISTIC", [f.x(4, 64, k=1, scale=scale)], (4, 64), scale=1 / 256, zero_point=-128)
        f.op("TANH", [f.x(4, 64, k=3, scale=scale)], (4, 64), scale=1 / 128, zero_point=0)


_LOGISTIC_OUT = {"s8": (1 / 256, -128), "u8": (1 / 256, 0), "s16": (1 / 32768, 0)}
_TANH_OUT = {"s8": (1 / 128, 0), "u8": (1 / 128, 128), "s16": (1 / 32768, 0)}

_ALL: dict[str, tuple[str, Cases]] = {
    "conv_2d": ("s8 s16 u8 f32", conv_2d),
    "conv_2d_grouped": ("s8 f32", conv_2d_grouped),
    "depthwise_conv_2d": ("s8 s16 u8 f32", depthwise_conv_2d),
    "fully_connected": ("s8 s16 u8 f32", fully_connected),
    "fully_connected_per_channel": ("s8 s16", fully_connected_per_channel),
    "transpose_conv": ("s8 s16 f32", transpose_conv),
    "transpose_conv_shape_input": ("s16", transpose_conv_shape_input),
    "average_pool_2d": ("s8 s16 u8 f32", _pools("AVERAGE_POOL_2D")),
    "max_pool_2d": ("s8 s16 u8 f32", _pools("MAX_POOL_2D")),
    "add": ("s8 s16 u8 f32", _binary("ADD")),
    "sub": ("s8 s16 f32", _binary("SUB")),
    "mul": ("s8 s16 f32", _binary("MUL")),
    "add_broadcast": ("s8 s16 u8 f32", _broadcast("ADD")),
    "sub_broadcast": ("s8 s16 f32", _broadcast("SUB")),
    "mul_broadcast": ("s8 s16 f32", _broadcast("MUL")),
    "add_sub_power_of_two": ("s16", power_of_two_scales),
    "mean": ("s8 f32", mean),
    "reduce_max": ("s8 f32", reduce_max),
    "maximum": ("s8 f32", _extremum("MAXIMUM")),
    "minimum": ("s8 f32", _extremum("MINIMUM")),
    "softmax": ("s8 s16 u8 f32", softmax),
    "relu": ("s8 f32", _unary("RELU")),
    "relu6": ("s8 f32", _unary("RELU6")),
    "logistic": ("s8 s16 u8 f32", _unary("LOGISTIC", _LOGISTIC_OUT)),
    "logistic_tanh_scales": ("s8", logistic_coarse),
    "tanh": ("s8 s16 f32", _unary("TANH", _TANH_OUT)),
    "leaky_relu": ("s8 s16 f32", _unary("LEAKY_RELU", options={"alpha": 0.17})),
    "hard_swish": ("s8 f32", _unary("HARD_SWISH")),
}
FAMILIES = [(dtype, op, cases) for op, (dtypes, cases) in _ALL.items() for dtype in dtypes.split()]
