# SPDX-License-Identifier: Apache-2.0
"""Cases of the operators that multiply by weights or slide a window: convolutions, dense layers, pooling."""

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
}
FAMILIES = [(dtype, op, cases) for op, (dtypes, cases) in _ALL.items() for dtype in dtypes.split()]
