"""The operators of an ONNX file, each run by the onnx package's reference evaluator.

Nothing of mcugen's importer is used: the onnx package parses the file, and operators stay as in the file.
"""

from __future__ import annotations

import functools
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper

Values = Mapping[str, np.ndarray]
_NARROW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_SHOWN = 120
_PER_MAC_NS, _PER_ELEMENT_NS = 1.0, 20.0


class LeftOutError(Exception):
    """The evaluator does not compute an operator, or not as ONNX states; the text gives the reason."""


@dataclass(frozen=True, eq=False)
class FileNode:
    """An operator of the file. reads: its operands, and outer values that its subgraphs read."""

    index: int
    proto: onnx.NodeProto
    reads: tuple[str, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(name for name in self.proto.output if name)

    def __str__(self) -> str:
        name = f" {self.proto.name!r}" if self.proto.name else ""
        return f"node {self.index} {self.proto.op_type}{name}"


class OnnxFile:
    """The constants and operators of a model file."""

    def __init__(self, data: bytes, folder: Path) -> None:
        model = onnx.ModelProto.FromString(data)
        external_data_helper.load_external_data_for_model(model, str(folder))
        for node in _every(model.graph.node):
            _prepare(node)
        self.no_tensors = {v.name for v in model.graph.output if not v.type.HasField("tensor_type")}
        self.inputs = tuple(
            v.name for v in model.graph.input if v.name not in {t.name for t in model.graph.initializer}
        )
        self.constants: Values = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        self.nodes = tuple(FileNode(k, n, tuple(_reads(n))) for k, n in enumerate(model.graph.node))
        self._opsets = {_domain(entry.domain): entry.version for entry in model.opset_import}
        self._functions = _functions(model.functions)
        self._evaluators: dict[int, Any] = {}

    def run(self, node: FileNode, known: Values, dtype: type = np.float64) -> dict[str, np.ndarray]:
        """The results of an operator on known values, computed in a float type. Raises LeftOutError."""
        reason = known_fault(node.proto, self._opsets.get("", 1))
        if reason:
            raise LeftOutError(reason)
        given = {name: _as(known[name], dtype) for name in node.reads}
        if reason := _differs(node.proto, given):
            raise LeftOutError(reason)
        if node.proto.op_type == "QuantizeLinear":
            given[node.proto.input[0]] = _within(given, node.proto)
        return self._results(node.index, node.proto, given)

    def real(self, node: FileNode, known: Values) -> np.ndarray | None:
        """The real numbers that an operator rounds to integers, in steps without the zero point; None for other
        operators.
        """
        proto, reads = node.proto, list(node.proto.input)
        given = {name: _as(known[name], np.float64) for name in node.reads}
        if proto.op_type == "QuantizeLinear":
            scale = _along(given[reads[1]], given[reads[0]].ndim, _axis(proto))
            return np.asarray(given[reads[0]] / scale) if scale.ndim <= given[reads[0]].ndim else None
        if proto.op_type not in ("QLinearConv", "QLinearMatMul"):
            return None
        convolves = proto.op_type == "QLinearConv"
        x, xs, xz, w, ws, wz, ys = (given[name].astype(np.float64) for name in reads[:7])
        along = (w.ndim, 0) if convolves else (w.ndim, w.ndim - 1)
        plain = onnx.NodeProto()
        plain.CopyFrom(proto)
        plain.op_type = proto.op_type.removeprefix("QLinear")
        del plain.input[:]
        plain.input.extend(["x", "w", *(["b"] if len(reads) > 8 and reads[8] else [])])
        factors = xs * ws.reshape(-1)
        operands = {"x": (x - xz) * xs, "w": (w - _along(wz, *along)) * _along(ws, *along)}
        if len(plain.input) > 2:
            operands["b"] = given[reads[8]] * factors
        (found,) = self._results(-1 - node.index, plain, operands).values()
        return np.asarray(found / ys)

    def _results(self, key: int, proto: onnx.NodeProto, given: Values) -> dict[str, np.ndarray]:
        """The evaluator's results for one node. Raises LeftOutError with the evaluator's error text."""
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if key not in self._evaluators:
                    self._evaluators[key] = self._evaluator(proto, given)
                found = self._evaluators[key].run(None, dict(given))
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise LeftOutError(f"the evaluator does not run it ({reason[:_SHOWN]})") from error
        names = [name for name in proto.output if name]
        return {n: np.asarray(v) for n, v in zip(names, found, strict=True) if isinstance(v, np.ndarray | np.generic)}

    def _evaluator(self, proto: onnx.NodeProto, given: Values) -> Any:
        from onnx.reference import ReferenceEvaluator

        inputs = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in given.items()
        ]
        outputs = [onnx.ValueInfoProto(name=name) for name in proto.output if name]
        opsets = dict(self._opsets)
        opsets.setdefault("", onnx.defs.onnx_opset_version())
        if not proto.domain:
            opsets[""] = max(opsets[""], _table()["read_as"].get(proto.op_type, 1))
        graph = helper.make_graph([proto], "node", inputs, outputs)
        return ReferenceEvaluator(graph, opsets=opsets, functions=list(self._functions))


def showing(data: bytes, folder: Path, names: Sequence[str]) -> bytes:
    """The file with the values of these names as its outputs."""
    model = onnx.ModelProto.FromString(data)
    external_data_helper.load_external_data_for_model(model, str(folder))
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    shown: bytes = model.SerializeToString()
    return shown


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _every(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, and the nodes of all graphs inside them."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            yield from _every(attribute.g.node)


def _prepare(node: onnx.NodeProto) -> None:
    """Set a node's canonical domain name. Casts to 16-bit floats become casts to float32, as in mcugen."""
    node.domain = _domain(node.domain)
    for attribute in node.attribute:
        if node.op_type == "Cast" and attribute.name == "to" and attribute.i in _NARROW:
            attribute.i = TensorProto.FLOAT


def _reads(node: onnx.NodeProto) -> Iterator[str]:
    """The names of outer values that a node and its subgraphs read, each once."""
    names = dict.fromkeys(name for name in node.input if name)
    for attribute in node.attribute:
        inner = attribute.g
        own = {v.name for v in inner.input} | {t.name for t in inner.initializer}
        own |= {name for n in inner.node for name in n.output}
        names |= dict.fromkeys(name for n in inner.node for name in _reads(n) if name not in own)
        names |= dict.fromkeys(v.name for v in inner.output if v.name not in own)
    yield from names


def _functions(protos: Sequence[onnx.FunctionProto]) -> tuple[Any, ...]:
    """Evaluators of the file's functions. Nodes that call a function without an evaluator are left out later."""
    from onnx.reference import ReferenceEvaluator

    found: list[Any] = []
    for proto in protos:
        try:
            found.append(ReferenceEvaluator(proto, functions=list(found)))
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            continue
    return tuple(found)


def _as(a: np.ndarray, dtype: type) -> np.ndarray:
    """Floats converted to a type; other values unchanged."""
    return a.astype(dtype) if a.dtype.kind == "f" or a.dtype.name == "bfloat16" else a


def _along(a: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """A vector reshaped along one of `rank` axes. A single number, or blocks, stay unchanged."""
    if a.size == 1:
        return a.reshape(())
    return a.reshape([-1 if k == axis % rank else 1 for k in range(rank)]) if a.ndim == 1 else a


def _within(given: Values, proto: onnx.NodeProto) -> np.ndarray:
    """The data of a QuantizeLinear clamped to 2^30 steps, since the evaluator's steps have 32 bits."""
    x, scale = given[proto.input[0]], given[proto.input[1]]
    most = 2.0**30 * np.abs(_along(scale, x.ndim, _axis(proto)))
    return np.clip(x, -most, most) if most.ndim in (0, x.ndim) and most.size in (1, *x.shape) else x


def _differs(proto: onnx.NodeProto, given: Values) -> str:
    """Why mcugen, which follows ONNX Runtime, gives other results on these operands; "" if it does not."""
    if proto.op_type in ("Resize", "Upsample") and _resizes_unevenly(proto, given):
        return "for scales that give fractional sizes, mcugen follows ONNX Runtime, the evaluator ONNX"
    if proto.op_type == "DynamicQuantizeLinear" and not given[proto.input[0]].any():
        return "ONNX defines no scale for zeros alone"
    if proto.op_type == "MeanVarianceNormalization" and not _varies(proto, given[proto.input[0]]):
        return "if all elements are equal, mcugen divides by zero like ONNX Runtime, the evaluator by 1e-9"
    if _pads_oddly(proto, given):
        return "for unusual windows with SAME, mcugen follows ONNX Runtime, the evaluator does not"
    return ""


def _varies(proto: onnx.NodeProto, x: np.ndarray) -> bool:
    """Whether x varies along the axes of a MeanVarianceNormalization, at each index of the other axes."""
    stated = {a.name: helper.get_attribute_value(a) for a in proto.attribute}
    axes = tuple(k for k in stated.get("axes", (0, 2, 3)) if k < x.ndim)
    return bool((x.max(axis=axes) > x.min(axis=axes)).all())


def _pads_oddly(proto: onnx.NodeProto, given: Values) -> bool:
    """Whether auto_pad SAME is used with dilated pooling windows, or with strides larger than the window."""
    stated = {a.name: helper.get_attribute_value(a) for a in proto.attribute}
    if not _plain(stated.get("auto_pad", "")).startswith("SAME") or proto.op_type == "Conv":
        return False
    kernel = stated.get("kernel_shape") or given[proto.input[1]].shape[2:]
    strides = stated.get("strides") or [1] * len(kernel)
    pools = proto.op_type != "ConvTranspose"
    return (pools and max(stated.get("dilations") or [1]) > 1) or any(
        s > k for s, k in zip(strides, kernel, strict=False)
    )


def _resizes_unevenly(proto: onnx.NodeProto, given: Values) -> bool:
    """Whether a Resize's scales give fractional sizes, or are not exact in float32."""
    operands = [given.get(name) for name in proto.input]
    x, last = operands[0], operands[-1]
    if x is None or last is None or last.size == 0:
        return False
    size = np.array(x.shape[-last.size :], np.float64)
    wanted = last.astype(np.float64) if len(operands) > 3 else size * last.astype(np.float64)
    ratio = wanted / size
    return bool((wanted % 1 != 0).any() or (ratio != ratio.astype(np.float32)).any())


def _axis(proto: onnx.NodeProto) -> int:
    return next((int(a.i) for a in proto.attribute if a.name == "axis"), 1)


@functools.cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("evaluator.toml").read_text(encoding="utf-8"))


def adds(proto: onnx.NodeProto) -> bool:
    """Whether an operator adds numbers in an order that the runtime chooses."""
    return proto.op_type in _table()["adds"]["operators"]


def chooses(proto: onnx.NodeProto) -> bool:
    """Whether an operator's first result is the index or label of the greatest score, and its second result the
    scores.
    """
    return proto.op_type in _table()["chooses"]["operators"]


def known_fault(proto: onnx.NodeProto, version: int) -> str:
    """Why the evaluator is wrong for a node of that opset version; "" if it is right."""
    stated = {a.name: helper.get_attribute_value(a) for a in proto.attribute}
    for fault in _table()["fault"]:
        if proto.op_type not in fault["operators"] or version >= fault.get("before", version + 1):
            continue
        plain = fault.get("plain", {})
        attributes = [n for n in fault.get("attributes", ()) if n in stated and not _repeats(stated[n], plain.get(n))]
        operands = [k for k in fault.get("operands", ()) if k < len(proto.input) and proto.input[k]]
        valued = [name for name, value in fault.get("values", {}).items() if _plain(stated.get(name)) == value]
        always = not any(key in fault for key in ("attributes", "operands", "values"))
        if attributes or operands or valued or always:
            return str(fault["why"])
    return ""


def _repeats(value: Any, plain: Sequence[str] | None) -> bool:
    """Whether a list of texts repeats the plain list, once per direction."""
    return plain is not None and [_plain(item) for item in value] == [*plain] * (len(value) // len(plain))


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def work_ns(proto: onnx.NodeProto, given: Values, size: int) -> float:
    """Estimated processor time of the evaluator for a node, in ns. size: elements of its first result."""
    slow = _table()["slow"].get(proto.op_type)
    kernel = next((a.ints for a in proto.attribute if a.name == "kernel_shape"), ())
    operands = [given[name] for name in proto.input if name in given]
    if slow is not None:
        return float(slow) * size * float(np.prod(kernel, initial=1.0)) * (4.0 if len(kernel) > 2 else 1.0)
    inner = 0.0
    if len(operands) > 1 and proto.op_type in ("Conv", "ConvTranspose", "ConvInteger"):
        inner = operands[1].size / max(operands[1].shape[0], 1) if operands[1].ndim else 0.0
    elif len(operands) > 1 and ("MatMul" in proto.op_type or proto.op_type == "Gemm"):
        inner = float(operands[0].shape[-1]) if operands[0].ndim else 0.0
    return size * (inner * _PER_MAC_NS + _PER_ELEMENT_NS) + _PER_ELEMENT_NS * sum(a.size for a in operands[:1])
