"""Functions of one tensor become one table each, and an .onnx holds them so that the same integers come back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from mcugen.errors import UnsupportedError, UsageError
from mcugen.formats import read, registry
from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops._links import Link
from mcugen.ops.element_function import ElementFunction
from mcugen.ops.float_functions import Exp
from mcugen.oracle import interpreter
from mcugen.quantize import float_model, quantize_model
from tests.formats.onnx_models import Writer, write

_ABOVE, _AROUND = (0.05, 4.0), (-4.0, 4.0)


def _erf_gelu(w: Writer, x: str) -> str:
    inner = w.node("Erf", [w.node("Div", [x, w.constant(np.float32(np.sqrt(2)))])])
    return w.node("Mul", [w.node("Mul", [x, w.node("Add", [inner, w.constant(np.float32(1))])]), _half(w)])


def _half(w: Writer) -> str:
    return w.constant(np.float32(0.5))


def _silu(w: Writer, x: str) -> str:
    return w.node("Mul", [x, w.node("Sigmoid", [x])])


def _mish(w: Writer, x: str) -> str:
    return w.node("Mul", [x, w.node("Tanh", [w.node("Softplus", [x])])])


def _single(name: str, **attributes: object) -> Callable[[Writer, str], str]:
    return lambda w, x: w.node(name, [x], **attributes)


def _with(name: str, number: float, *, last: bool = True) -> Callable[[Writer, str], str]:
    def made(w: Writer, x: str) -> str:
        constant = w.constant(np.float32(number))
        return w.node(name, [x, constant] if last else [constant, x])

    return made


_FUNCTIONS: dict[str, tuple[Callable[[Writer, str], str], tuple[float, float]]] = {
    **{n: (_single(n), _AROUND) for n in ("Abs", "Atan", "Celu", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "Mish")},
    **{n: (_single(n), _AROUND) for n in ("Neg", "Round", "Selu", "Sign", "Sin", "Softplus", "Softsign", "Tanh")},
    **{n: (_single(n), _ABOVE) for n in ("Log", "Reciprocal", "Sqrt")},
    "Gelu": (_single("Gelu"), _AROUND),
    "Gelu by tanh": (_single("Gelu", approximate="tanh"), _AROUND),
    "Gelu of Erf": (_erf_gelu, _AROUND),
    "SiLU": (_silu, _AROUND),
    "Mish of Tanh": (_mish, _AROUND),
    "square": (_with("Pow", 2.0), _AROUND),
    "x^1.5": (_with("Pow", 1.5), _ABOVE),
    "2^x": (_with("Pow", 2.0, last=False), _AROUND),
    "1/x": (_with("Div", 1.0, last=False), _ABOVE),
    "x/3": (_with("Div", 3.0), _AROUND),
}


def _quantized(
    folder: Path, make: Callable[[Writer, str], str], span: tuple[float, float], file_format: str = "onnx"
) -> quantize_model.Quantized:
    w = Writer(22)
    y = make(w, w.input((1, 40)))
    values = np.random.default_rng(1).uniform(*span, (12, 40)).astype(np.float32)
    np.savez(folder / "calib.npz", input0=values)
    choices = quantize_model.QuantizeOptions(method="min-max", file_format=file_format)
    return quantize_model.quantize(write(w.model(y), folder), folder / "calib.npz", choices)


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_a_function_comes_back_from_the_file_as_the_same_integers(name: str, tmp_path: Path) -> None:
    found = _quantized(tmp_path, *_FUNCTIONS[name])
    assert len(found.graph.nodes) == 1
    (tmp_path / "net.int8.onnx").write_bytes(found.written("onnx"))
    graph = read.load(tmp_path / "net.int8.onnx", registry.load(()))
    assert [type(node.op).__name__ for node in graph.nodes if not graph.type(node.outputs[0]).is_float][
        -1
    ] != "Quantize"
    every = np.resize(np.arange(-128, 128, dtype=np.int8), (7, 1, 40))
    for x in every:
        wanted = interpreter.run(found.graph, [x], "tflm")[found.graph.outputs[0]]
        np.testing.assert_array_equal(interpreter.run(graph, [x], "ort")[graph.outputs[0]], wanted)


def test_quotients_of_two_tensors(tmp_path: Path) -> None:
    def make(w: Writer, x: str) -> str:
        return w.node("Div", [x, w.node("Add", [w.node("Abs", [x]), w.constant(np.float32(1))])])

    found = _quantized(tmp_path, lambda w, x: w.node("Div", [w.node("Transpose", [x], perm=[1, 0]), x]), _ABOVE)
    assert "even" in [getattr(node.op, "rounding", "") for node in found.graph.nodes]
    assert len(_quantized(tmp_path, make, _AROUND).graph.nodes) == 1  # x / (|x| + 1) is a function of x alone


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (_single("Reciprocal"), "the operand was seen from -3.98"),
        (_single("Log"), "infinities or NaN"),
        (lambda w, x: w.node("Div", [w.node("Transpose", [x], perm=[1, 0]), x]), "the divisor was seen from -3.98"),
    ],
)
def test_a_range_with_a_pole_is_refused(make: Callable[[Writer, str], str], what: str, tmp_path: Path) -> None:
    with pytest.raises((UnsupportedError, UsageError), match=what):
        _quantized(tmp_path, make, _AROUND)


def test_tflite_asks_for_onnx(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError) as caught:
        _quantized(tmp_path, lambda w, x: w.node("Erf", [w.node("MatMul", [x, w.weights(40, 8)])]), _AROUND, "tflite")
    assert caught.value.hint.startswith("write an .onnx")


def test_layers_without_a_bias_and_results_without_axes(tmp_path: Path) -> None:
    """Neither is taken for a divisor, or for a vector of classes."""
    w = Writer()
    largest = write(w.model(w.node("ReduceMax", [w.input((1, 6))], keepdims=0)), tmp_path)
    layers = Path(__file__).parents[1] / "models" / "f32_fully_connected.tflite"
    for path, bytes_at_least in ((layers, 10000), (largest, 500)):
        graph, rng = float_model.load(path), np.random.default_rng(1)
        shapes = {name: tuple(n for k, n in enumerate(graph.type(name).shape) if k or n > 1) for name in graph.inputs}
        given = {graph.tensors[n].label: rng.standard_normal((12, *s)).astype(np.float32) for n, s in shapes.items()}
        np.savez(tmp_path / "calib.npz", **given)
        choices = quantize_model.QuantizeOptions(method="min-max")
        found = quantize_model.quantize(path, tmp_path / "calib.npz", choices)
        assert len(found.written("tflite")) > bytes_at_least


def test_a_table_rounds_once() -> None:
    """The entries, computed without the oracle, equal the oracle's; with the example's NaN below 0, the least byte."""
    op = ElementFunction.examples()[2].op
    x = TensorType((256,), "s8", QuantParams((0.03,), (-100,)))
    call = Call(op, (x,), (TensorType((256,), "s8", QuantParams((0.02,), (17,))),), (None,), "ort")
    every = np.arange(-128, 128).astype(np.int8)
    found = op.entries(call, every)
    np.testing.assert_array_equal(found, op.reference_q(call, every))
    real = 17 + np.log((every[29:].astype(np.float64) + 100) * np.float32(0.03)) / np.float32(0.02)
    np.testing.assert_array_equal(found[29:], np.clip(np.rint(real), -128, 127))
    assert set(found[:29]) == {-128}


def test_ranges_end_where_a_function_is_flat() -> None:
    """Beyond these bounds a Gelu changes by half a step at most; a logarithm and an exponential never end above."""
    gelu, log = (ElementFunction.examples()[k].op for k in (0, 2))
    exp = ElementFunction((Link(Exp(), (0,)),))
    low, high = gelu.bounds_that_matter(0.0044)
    assert -3.3 < low < -3.1 and np.isinf(high)
    assert (
        np.abs(gelu.reference(np.linspace(-20, low, 100))).max() <= 0.0044 < abs(gelu.reference(np.float64(low + 0.02)))
    )
    assert log.bounds_that_matter(0.01) == (-np.inf, np.inf)
    assert exp.bounds_that_matter(0.01)[1] == np.inf and -4.7 < exp.bounds_that_matter(0.01)[0] < -4.5


def test_tokens_of_64_bits_stay_what_they_are(tmp_path: Path) -> None:
    """An embedding is read by tokens of int64, of which negative ones count from the end."""
    w = Writer(22)
    w.inputs.append(helper.make_tensor_value_info("tokens", TensorProto.INT64, (1, 6)))
    y = w.node("MatMul", [w.node("Gather", [w.weights(10, 8), "tokens"]), w.weights(8, 4)])
    tokens = np.random.default_rng(1).integers(-10, 10, (12, 6))
    np.savez(tmp_path / "calib.npz", tokens=tokens)
    choices = quantize_model.QuantizeOptions(method="min-max", file_format="onnx")
    found = quantize_model.quantize(write(w.model(y), tmp_path), tmp_path / "calib.npz", choices)
    (tmp_path / "net.int8.onnx").write_bytes(found.written("onnx"))
    graph = read.load(tmp_path / "net.int8.onnx", registry.load(()))
    wanted = found.floats.outputs()[0]
    for x, real in zip(tokens, wanted, strict=True):
        stored = interpreter.run(graph, [x.reshape(1, 6)], "ort")[graph.outputs[0]]
        t = graph.type(graph.outputs[0])
        assert np.abs((stored.astype(int) - t.zero_point) * t.scale - real).max() < 3 * t.scale
