# SPDX-License-Identifier: Apache-2.0
"""NNEF: operations against plain NumPy, quantization, containers, and the package that may be missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import UnsupportedError, UsageError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from mcugen.verify import checks, golden
from tests.formats import nnef_models as nm

RNG = np.random.default_rng(5)
X = RNG.normal(0, 1, (1, 2, 6, 6)).astype(np.float32)
W = RNG.normal(0, 1, (4, 2, 3, 3)).astype(np.float32)
D = RNG.normal(0, 1, (2, 1, 3, 3)).astype(np.float32)
V = RNG.normal(0, 1, (1, 2)).astype(np.float32)
B = RNG.normal(0, 1, (1, 4)).astype(np.float32)
VX = V[..., None, None]
EDGED = np.pad(X, ((0, 0), (0, 0), (1, 1), (0, 0)), mode="edge")


def windows(x: np.ndarray, size: int, stride: int, pad: tuple[int, int], value: float = 0.0) -> np.ndarray:
    """[N, C, OH, OW, size, size] of all windows."""
    full = np.pad(x, ((0, 0), (0, 0), pad, pad), constant_values=value)
    view = np.lib.stride_tricks.sliding_window_view(full, (size, size), axis=(2, 3))
    return view[:, :, ::stride, ::stride]


def convolved(x: np.ndarray, w: np.ndarray, stride: int, pad: tuple[int, int]) -> np.ndarray:
    return np.einsum("ncijkl,ockl->noij", windows(x, 3, stride, pad), w)


def upsampled() -> np.ndarray:
    found = np.zeros((1, 2, 13, 13), np.float64)
    for i in range(6):
        for j in range(6):
            found[0, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += np.einsum("c,cdkl->dkl", X[0, :, i, j], W[:2])
    return found[:, :, 0:12, 0:12]


OPERATIONS: dict[str, tuple[str, Callable[[], np.ndarray]]] = {
    "conv": ("y = conv(x, W, B, padding = [(1, 1), (1, 1)]);", lambda: convolved(X, W, 1, (1, 1)) + B[..., None, None]),
    "conv automatic": ("y = conv(x, W, stride = [2, 2], padding = []);", lambda: convolved(X, W, 2, (0, 1))),
    "conv depthwise": (
        "y = conv(x, D, padding = [(1, 1), (1, 1)], groups = 0);",
        lambda: np.einsum("ncijkl,ckl->ncij", windows(X, 3, 1, (1, 1)), D[:, 0]),
    ),
    "separable": (
        "y = separable_conv(x, D, P, padding = [(1, 1), (1, 1)]);",
        lambda: np.einsum("ncijkl,ckl,oc->noij", windows(X, 3, 1, (1, 1)), D[:, 0], W[:, :, 0, 0]),
    ),
    "deconv": ("y = deconv(x, Q, stride = [2, 2], padding = []);", upsampled),
    "max_pool": (
        "y = max_pool(x, size = [1, 1, 3, 3], stride = [1, 1, 2, 2], border = 'ignore');",
        lambda: windows(X, 3, 2, (0, 1), -np.inf).max((-1, -2)),
    ),
    "avg_pool": (
        "y = avg_pool(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], border = 'constant');",
        lambda: windows(X, 2, 2, (0, 0)).mean((-1, -2)),
    ),
    "avg_pool padded": (
        "y = avg_pool(x, size = [1, 1, 3, 3], padding = [(0, 0), (0, 0), (1, 1), (1, 1)], border = 'constant');",
        lambda: windows(X, 3, 1, (1, 1)).mean((-1, -2)),
    ),
    "box": ("y = box(x, size = [1, 1, 3, 3], normalize = false);", lambda: windows(X, 3, 1, (1, 1)).sum((-1, -2))),
    "rms_pool": (
        "y = rms_pool(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], border = 'constant');",
        lambda: np.sqrt((windows(X, 2, 2, (0, 0)) ** 2).mean((-1, -2))),
    ),
    "area_downsample": ("y = area_downsample(x, factor = [2, 3]);", lambda: X.reshape(1, 2, 3, 2, 2, 3).mean((3, 5))),
    "nearest_downsample": ("y = nearest_downsample(x, factor = [2, 3]);", lambda: X[:, :, ::2, ::3]),
    "nearest_upsample": ("y = nearest_upsample(x, factor = [2, 2]);", lambda: X.repeat(2, 2).repeat(2, 3)),
    "multilinear_upsample": (
        "y = multilinear_upsample(x, factor = [2, 1]);",
        lambda: (0.75 * X[:, :, :, None] + 0.25 * np.stack([EDGED[:, :, :-2], EDGED[:, :, 2:]], 3)).reshape(
            1, 2, 12, 6
        ),
    ),
    "multilinear_upsample aligned": (
        "y = multilinear_upsample(x, factor = [1, 2], method = 'aligned');",
        lambda: np.stack([np.interp(np.linspace(0, 5, 12), np.arange(6), row) for row in X.reshape(12, 6)]).reshape(
            1, 2, 6, 12
        ),
    ),
    "multilinear_upsample constant": (
        "y = multilinear_upsample(x, factor = [1, 2], method = 'asymmetric', border = 'constant');",
        lambda: np.stack([X, (X + np.pad(X[..., 1:], ((0, 0),) * 3 + ((0, 1),))) / 2], -1).reshape(1, 2, 6, 12),
    ),
    "broadcast": ("y = mul(add(x, V), 2.0);", lambda: (X + V[..., None, None]) * 2),
    "clamp": ("y = clamp(x, -0.5, 0.75);", lambda: X.clip(-0.5, 0.75)),
    "leaky_relu": ("y = leaky_relu(x, alpha = 0.25);", lambda: np.where(X > 0, X, 0.25 * X)),
    "prelu": ("y = prelu(x, V);", lambda: np.where(X > 0, X, V[..., None, None] * X)),
    "silu": ("y = silu(x);", lambda: X / (1 + np.exp(-X))),
    "gelu": ("y = gelu(x);", lambda: X / (1 + np.exp(-1.702 * X))),
    "softmax": ("y = softmax(x, axes = [1]);", lambda: np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    "sum_reduce": ("y = sum_reduce(x, axes = [1, 3]);", lambda: X.sum((1, 3), keepdims=True)),
    "mean_reduce": ("y = mean_reduce(x, axes = [2, 3]);", lambda: X.mean((2, 3), keepdims=True)),
    "max_reduce": ("y = max_reduce(x, axes = [1]);", lambda: X.max(1, keepdims=True)),
    "argmax_reduce": ("y = argmax_reduce(x, axes = [3]);", lambda: X.argmax(3)[..., None]),
    "l2_normalization": (
        "y = l2_normalization(x, axes = [1], bias = 0.5);",
        lambda: X / (np.sqrt((X**2).sum(1, keepdims=True)) + 0.5),
    ),
    "batch_normalization": (
        "y = batch_normalization(x, V, sqr(V), V, V, epsilon = 0.1);",
        lambda: (V + V * (X.transpose(2, 3, 0, 1) - V) / np.sqrt(V**2 + 0.1)).transpose(2, 3, 0, 1),
    ),
    "select": ("y = select(or(lt(x, V), ge(x, 1.0)), x, neg(x));", lambda: np.where((X < VX) | (X >= 1), X, -X)),
    "not": ("y = select(not(gt(x, 0.0)), 1.0, sign(x));", lambda: np.ones_like(X)),
    "elu": ("y = elu(x, alpha = 0.5);", lambda: np.where(X > 0, X, 0.5 * (np.exp(X) - 1))),
    "selu": ("y = selu(x);", lambda: 1.0507010221481323 * np.where(X > 0, X, 1.6732631921768188 * (np.exp(X) - 1))),
    "pow": ("y = pow(abs(x), 1.5);", lambda: np.abs(X) ** 1.5),
    "local_response_normalization": (
        "y = local_response_normalization(x, size = [1, 1, 3, 1], bias = 2.0);",
        lambda: (
            X
            / np.sqrt(
                2
                + (
                    np.pad(X**2, ((0, 0), (0, 0), (1, 1), (0, 0)))[:, :, [0, 1, 2, 3, 4, 5]]
                    + X**2
                    + np.pad(X**2, ((0, 0), (0, 0), (0, 1), (0, 0)))[:, :, 1:]
                )
                / 3
            )
        ),
    ),
    "reshape": ("y = reshape(x, shape = [3, -1], axis_start = 1, axis_count = 2);", lambda: X.reshape(1, 3, 4, 6)),
    "transpose": ("y = transpose(x, axes = [0, 2, 1]);", lambda: X.transpose(0, 2, 1, 3)),
    "squeeze": ("y = unsqueeze(squeeze(x, axes = [0]), axes = [1]);", lambda: X[0][:, None]),
    "slice": ("y = slice(x, axes = [2, 3], begin = [1, -4], end = [0, -1]);", lambda: X[:, :, 1:, 2:5]),
    "split": ("[a, b] = split(x, axis = 2, ratios = [1, 2]); y = concat([b, a], axis = 2);", lambda: np.roll(X, 4, 2)),
    "stack": ("[a, b] = unstack(x, axis = 1); y = stack([b, a], axis = 1);", lambda: X[:, ::-1]),
    "tile": ("y = tile(x, repeats = [1, 2, 1, 1]);", lambda: np.tile(X, (1, 2, 1, 1))),
    "pad": (
        "y = pad(x, padding = [(0, 0), (0, 1), (1, 2), (0, 0)], border = 'constant');",
        lambda: np.pad(X, ((0, 0), (0, 1), (1, 2), (0, 0))),
    ),
    "linear": (
        "r = reshape(x, shape = [-1, 2]); y = linear(r, K, B);",
        lambda: X.reshape(-1, 2) @ W[:, :, 0, 0].T + B,
    ),
    "matmul": ("y = matmul(x, x, transposeB = true);", lambda: X @ X.transpose(0, 1, 3, 2)),
    "constant": (
        "c = constant<scalar>(shape = [1, 2], value = [1.0, -2.0]); y = mul(x, c);",
        lambda: X * [[[[1]], [[-2]]]],
    ),
}
TENSORS = {"W": W, "D": D, "V": V, "B": B, "P": W[:, :, :1, :1].copy(), "Q": W[:2].copy(), "K": W[:, :, 0, 0].copy()}


def used(body: str) -> dict[str, np.ndarray]:
    return {name: array for name, array in TENSORS.items() if f" {name}" in body or f"({name}" in body}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name: str, tmp_path: Path) -> None:
    body, wanted = OPERATIONS[name]
    folder = nm.write(nm.model(body, used(body)), tmp_path / "net")
    graph = read.load(folder, registry.load())
    got = interpreter.run(graph, [X], "tflm")[graph.outputs[0]]
    assert got.shape == wanted().shape
    np.testing.assert_allclose(got, wanted(), rtol=1e-5, atol=1e-5)


def test_fragments_and_expressions_are_expanded(tmp_path: Path) -> None:
    fragments = "fragment twice(a: tensor<scalar>) -> (b: tensor<scalar>) { b = max(a * 2.0 - 1.0, 0.0); }"
    extension = "extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;"
    files = nm.model("y = twice(twice(x));", extension=extension, fragments=fragments)
    graph = read.load(nm.write(files, tmp_path / "net"), registry.load())
    once = np.maximum(X * 2 - 1, 0)
    assert np.allclose(interpreter.run(graph, [X], "tflm")[graph.outputs[0]], np.maximum(once * 2 - 1, 0))


def test_a_quantized_network_in_c_is_the_oracle_and_near_the_real_values(tmp_path: Path) -> None:
    folder = nm.write(nm.small(), tmp_path / "net")
    graph = read.load(folder, registry.load())
    real = {"in0_0": X, "out0_0": np.zeros((1, 4), np.float32)}
    stored = interpreter.run(graph, golden_inputs(tmp_path, real, graph), "tflm")[graph.outputs[0]]
    real["out0_0"] = (np.float32(0.1) * (stored.astype(np.float32) - 5)).astype(np.float32)
    np.savez(tmp_path / "golden.npz", **real)
    result = checks.verify(mcugen.compile(folder, name="net"), 2, tmp_path / "golden.npz", None, lambda text: None)
    assert result.agrees and result.c.exact
    assert result.simulated is not None and result.simulated.furthest <= 1
    assert result.simulated.outputs == 4 and result.simulated.outputs_apart == 0


def test_a_float_constant_beside_integers_is_met_in_floats(tmp_path: Path) -> None:
    form = '"{}": zero_point_linear_quantize(zero_point = 0, scale = 0.05, bits = 8, signed = true, symmetric = false);'
    quant = "\n".join(form.format(name) for name in ("x", "a", "y"))
    body = "a = mul(x, 0.5); y = conv(a, W, padding = []);"
    folder = nm.write(nm.model(body, used(body), quant), tmp_path / "net")
    graph = read.load(folder, registry.load())
    stored = np.clip(np.rint(X / 0.05), -128, 127).astype(np.int8)
    halves = np.trunc(stored * 0.5 + np.copysign(0.5, stored)) * 0.05
    wanted = np.clip(np.rint(convolved(halves, W, 1, (1, 1)) / 0.05), -128, 127)
    got = interpreter.run(graph, [stored], "tflm")[graph.outputs[0]]
    assert graph.type(graph.outputs[0]).dtype == "s8" and np.abs(got - wanted).max() <= 1


@pytest.mark.parametrize("nested", [False, True])
def test_scales_of_channels_along_the_second_axis(nested: bool, tmp_path: Path) -> None:
    """A bias [1, n] of integers, in steps of the products, gives the results of its real values."""
    scales, given = (0.01, 0.02, 0.04), np.int32([[100, -200, 300]])
    steps = tuple(0.05 * s for s in scales)
    form = '"{}": zero_point_linear_quantize(zero_point = 0, scale = {}, bits = {}, signed = true, symmetric = false);'
    kinds = {"x": (0.05, 8), "w": (list(scales), 8), "y": (0.1, 8)}
    stated = {**kinds, "b": ([list(steps)] if nested else list(steps), 32)}
    weights = RNG.integers(-127, 128, (3, 2, 3, 3)).astype(np.int8)
    data, found = RNG.integers(-9, 9, X.shape).astype(np.int8), []
    for quant, bias in ((stated, given), (kinds, np.float32(given * steps))):
        text = "\n".join(form.format(name, *values) for name, values in quant.items())
        files = nm.model("y = conv(x, w, b, padding = []);", {"w": weights, "b": bias}, text)
        graph = read.load(nm.write(files, tmp_path / f"net{len(found)}"), registry.load())
        found.append(interpreter.run(graph, [data], "tflm")[graph.outputs[0]])
    assert np.ptp(found[0]) > 50
    assert np.array_equal(*found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("zero", [3, -120, [0, 4, -90]])
@pytest.mark.parametrize("layer", ["conv(x, w, 0.0, padding = [])", "linear(x, w, 0.0)"])
def test_weights_with_zero_points(layer: str, zero: int | list[int], tmp_path: Path) -> None:
    """They are wider without; the C has the oracle's bits, and these are the real values rounded."""
    image = layer.startswith("conv")
    form = '"{}": zero_point_linear_quantize(zero_point = {}, scale = {}, bits = 8, signed = true, symmetric = false);'
    scale = [0.01] * 3 if isinstance(zero, list) else 0.01
    text = "\n".join(form.format(*row) for row in (("x", -7, 0.05), ("w", zero, scale), ("y", 11, 0.5)))
    weights = RNG.integers(-128, 128, (3, 2, 3, 3) if image else (3, 40)).astype(np.int8)
    x = X if image else RNG.normal(0, 2, (1, 40)).astype(np.float32)
    files = nm.model(f"y = {layer};", {"w": weights}, text, shape=x.shape)
    folder = nm.write(files, tmp_path / "net")
    graph = read.load(folder, registry.load())
    stored = np.clip(np.rint(x / 0.05) - 7, -128, 127).astype(np.int8)
    real = 0.01 * (weights - np.array(zero).reshape(-1, *(1,) * (weights.ndim - 1)))
    data = (stored + 7.0) * 0.05
    products = convolved(data, real, 1, (1, 1)) if image else data @ real.T
    got = interpreter.run(graph, [stored], "tflm")[graph.outputs[0]]
    assert np.ptp(got) > 20
    assert np.abs(got - np.clip(products / 0.5 + 11, -128, 127)).max() <= 0.5 + 1e-3
    assert checks.verify(mcugen.compile(folder, name="net"), 2, None, None, lambda text: None).c.exact


def golden_inputs(tmp_path: Path, arrays: dict[str, np.ndarray], graph: mcugen.ir.graph.Graph) -> list[np.ndarray]:
    np.savez(tmp_path / "golden.npz", **arrays)
    return golden.cases(tmp_path / "golden.npz", graph)[0].inputs


def test_one_graph_from_every_container(tmp_path: Path) -> None:
    files = nm.small()
    nested = {f"deep/{name}": data for name, data in files.items()}
    found = [nm.write(files, tmp_path / "net"), tmp_path / "net" / "graph.nnef"]
    for name, data in {
        "a.tgz": nm.tar(files, "w:gz"),
        "a.tar.gz": nm.tar(nested, "w:gz"),
        "a.tar": nm.tar({f"./{name}": data for name, data in files.items()}),
        "a.zip": nm.zipped(nested),
    }.items():
        (tmp_path / name).write_bytes(data)
        found.append(tmp_path / name)
    dumps = {read.load(path, registry.load()).dump().split("\n", 1)[1] for path in found}
    assert len(dumps) == 1


def test_the_package_is_asked_for_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nnef", None)
    with pytest.raises(UsageError, match="nnef package") as caught:
        mcugen.compile(nm.write(nm.small(), tmp_path / "net"))
    assert caught.value.hint == "pip install 'mcugen[nnef]'"


def test_no_format_is_loaded_before_it_is_read() -> None:
    code = "import sys, mcugen.cli, mcugen.formats.read as f; f._recognised(f.Path('a.tflite'), b'....TFL3');"
    code += "print(sorted({'onnx', 'nnef', 'google.protobuf'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


def test_all_that_is_not_supported_is_listed(tmp_path: Path) -> None:
    body = "y = debox(x, size = [1, 1, 2, 2]);"
    with pytest.raises(UnsupportedError, match="operation 1 debox"):
        mcugen.compile(nm.write(nm.model(body), tmp_path / "net"))
