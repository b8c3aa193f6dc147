# SPDX-License-Identifier: Apache-2.0
"""The node tests of the onnx package, through import, oracle and, where asked, emitted C."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case import node

import mcugen
from mcugen.errors import InternalError, McugenError, ToolError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from mcugen.verify import host
from mcugen.verify.cases import Case
from mcugen.verify.runs import runs_of

TYPES = frozenset({
    TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
})  # fmt: skip
LEAST_TOLERANCE = 1e-7
"""Largest error of float results, relative to the largest of them."""
_EXOTIC_LIST = """
    Attention FlexAttention LinearAttention CausalConvWithState RotaryEmbedding SoftmaxCrossEntropyLoss
    NegativeLogLikelihoodLoss AffineGrid CenterCropPad Col2Im DeformConv Det GridSample ImageDecoder MaxUnpool
    NonMaxSuppression RoiAlign DFT STFT BlackmanWindow HammingWindow HannWindow MelWeightMatrix TfIdfVectorizer
    Bernoulli RandomNormalLike RandomUniformLike Multinomial
"""
EXOTIC = frozenset(_EXOTIC_LIST.split())
"""Operators left aside in the narrower count: attention, losses, sampling and geometry of images, windows and spectra,
texts, random numbers, decoding and NMS."""


SHAPING = {
    "Resize": (1, 2), "Upsample": (1,), "Compress": (1,), "STFT": (2,),
    "NonMaxSuppression": (2, 3, 4),
    "QLinearConv": (1, 2, 3, 4, 5, 6, 7, 8), "QLinearMatMul": (1, 2, 4, 5, 6, 7),
}  # fmt: skip
"""Operands of other types than int64 that are constants of networks: shapes, weights, scales and zero points."""
OTHERWISE = frozenset(f"test_resize_downsample_scales_{mode}_align_corners" for mode in ("linear", "cubic"))
"""Cases that ONNX Runtime, whose meaning ONNX files have here, computes in another way: see docs/faq.md."""
TRAINING = "ai.onnx.preview.training"
"""The domain of optimisers, which inference has none of."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: passed, refused or wrong, with the reason."""

    case: str
    operator: str
    verdict: str
    reason: str = ""


@functools.cache
def cases(*, pooling: bool = True) -> Mapping[str, Any]:
    """Name -> the plain cases of inference that are static and of types that mcugen has.

    pooling: whether those of pooling are among them; the onnx package takes 16 s to compute their results.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.iter_modules(node.__path__, f"{node.__name__}."):
            if pooling or not module.name.endswith("pool"):
                importlib.import_module(module.name)
    found = node._NodeTestCases
    plain = (case for case in found if "_expanded" not in case.name and case.name not in OTHERWISE)
    return {case.name: case for case in plain if _is_plain(case.model)}


def _is_plain(model: onnx.ModelProto) -> bool:
    values = (*model.graph.input, *model.graph.output)
    if any(not v.type.HasField("tensor_type") or v.type.tensor_type.elem_type not in TYPES for v in values):
        return False
    if any(node.domain == TRAINING for node in model.graph.node) or not all(map(_is_static, values)):
        return False
    attributes = (a for node in model.graph.node for a in node.attribute)
    return all(a.type not in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in attributes)


def _is_static(value: onnx.ValueInfoProto) -> bool:
    shape = value.type.tensor_type.shape
    return value.type.tensor_type.HasField("shape") and all(d.HasField("dim_value") for d in shape.dim)


def case_of(name: str) -> Any:
    """The case of that name."""
    quick = cases(pooling=False)
    return quick[name] if name in quick else cases()[name]


def operator_of(name: str) -> str:
    """The operator that a case tests."""
    return str(case_of(name).model.graph.node[-1].op_type)


def check(name: str, *, with_c: bool = True) -> Outcome:
    """Run one case; operands that make shapes are taken from the test as constants where nothing else helps."""
    case = case_of(name)
    operator = operator_of(name)
    arrays, wanted = ([np.asarray(a) for a in part] for part in case.data_sets[0])
    reason = ""
    for fixed in (False, True):
        try:
            model, inputs = _static(case.model, arrays, fixed=fixed)
            got = _results(model, inputs, with_c=with_c)
        except McugenError as error:
            if isinstance(error, InternalError | ToolError):
                return Outcome(name, operator, "wrong", str(error).strip())
            reason = str(error).splitlines()[-1].strip()
            continue
        except Exception as error:
            return Outcome(name, operator, "wrong", f"{type(error).__name__}: {error}")
        if operator == "NonMaxSuppression":
            got = [rows[rows[:, 0] >= 0] for rows in got]  # Their number is fixed: the rest is filled with -1.
        problem = _difference(got, wanted, case)
        return Outcome(name, operator, "wrong" if problem else "passed", problem)
    return Outcome(name, operator, "refused", reason)


def _static(
    model: onnx.ModelProto, arrays: Sequence[np.ndarray], *, fixed: bool
) -> tuple[onnx.ModelProto, list[np.ndarray]]:
    """The model with the shapes of the test's inputs; fixed: operands that shape results as constants."""
    made, inputs, ends = onnx.ModelProto(), [], []
    made.CopyFrom(model)
    shaping = {node.input[k] for node in model.graph.node for k in SHAPING.get(node.op_type, ()) if k < len(node.input)}
    for value, array in zip(model.graph.input, arrays, strict=True):
        small = value.name in shaping or (array.ndim <= 1 and (array.dtype == np.int64 or array.ndim == 0))
        if array.size == 0 or (fixed and small):
            made.graph.initializer.append(numpy_helper.from_array(array, value.name))
        else:
            ends.append(helper.make_tensor_value_info(value.name, value.type.tensor_type.elem_type, array.shape))
            inputs.append(array)
    del made.graph.input[:]
    made.graph.input.extend(ends)
    if model.graph.node[-1].op_type == "NonMaxSuppression":  # whose boxes have another number in C
        made.graph.output[0].type.tensor_type.ClearField("shape")
    return made, inputs


def _results(model: onnx.ModelProto, inputs: list[np.ndarray], *, with_c: bool) -> list[np.ndarray]:
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        path = Path(folder) / "node.onnx"
        path.write_bytes(model.SerializeToString())
        if not with_c:
            graph = read.load(path, registry.load())
            values = interpreter.run(graph, inputs, "ort")
            return [values[name] for name in graph.outputs]
        artifact = mcugen.compile(path, name="node")
        program = host.build_program(artifact, Path(folder))
        runs = runs_of(artifact, Case("node", inputs))
        made = next(iter(host.tensors_of(artifact, program, "node", runs)))
        ends = {tensor: array for step, tensor, array in made if step == -1}
        return [ends[name] for name in artifact.graph.outputs]


def _difference(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray], case: Any) -> str:
    """The faults of the results, by the test's own tolerance."""
    for k, (a, b) in enumerate(zip(got, wanted, strict=False)):
        if a.shape != b.shape:
            return f"result {k} has the shape {list(a.shape)}, not {list(b.shape)}"
        x, y = a.astype(np.float64), b.astype(np.float64)
        largest = float(np.abs(y[np.isfinite(y)]).max(initial=1.0))
        close = np.isclose(x, y, case.rtol, max(case.atol or 0.0, LEAST_TOLERANCE * largest), equal_nan=True)
        if not close.all():
            at = tuple(int(i) for i in np.argwhere(~close)[0])
            return f"result {k} at {list(at)} is {a[at]}, not {b[at]}"
    return ""
