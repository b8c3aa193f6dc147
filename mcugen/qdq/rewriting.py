"""The search for stored integers behind floats, and for integer operators before a Quantize, node by node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from mcugen.call import Call
from mcugen.errors import McugenError
from mcugen.graph import Graph, Node, Tensor
from mcugen.numeric import INT_RANGE
from mcugen.op import Op, evaluate
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.copy import Copy
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.lookup import Lookup
from mcugen.ops.quantize import Quantize
from mcugen.ops.relu import Relu
from mcugen.qdq.channels import by_channels
from mcugen.qdq.sums import summed
from mcugen.types import QuantParams, TensorType

_BYTES = ("s8", "u8")
_WEIGHTS = ("s4", *_BYTES)
_MAX_DEPTH = 200


@dataclass
class Rewriting:
    """The graph as it is rewritten, node by node; `makers` are those of the original graph."""

    graph: Graph
    reference: str
    by_columns: bool
    tensors: dict[str, Tensor] = field(init=False)
    nodes: list[Node] = field(default_factory=list)
    makers: dict[str, Node] = field(init=False)
    found: dict[str, str | None] = field(default_factory=dict)
    made: dict[tuple[str, str, QuantParams | None], str | None] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    source: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        self.tensors = dict(self.graph.tensors)
        self.makers = {name: node for node in self.graph.nodes for name in node.outputs}

    def take(self, node: Node) -> None:
        """Keep a node, or replace a Quantize by what has the same results without floats."""
        if isinstance(node.op, Quantize) and node.op.rounding == "even" and self.type_of(str(node.inputs[0])).is_float:
            result = node.outputs[0]
            self.source, self.label = node.source, self.tensors[result].label
            stored = self.quantized(str(node.inputs[0]), self.type_of(result), 0)
            if stored is not None:
                self.renamed[result] = stored
                return
        self.nodes.append(replace(node, inputs=tuple(n and self.renamed.get(n, n) for n in node.inputs)))

    def result(self) -> Graph:
        """The rewritten graph; outputs keep their names."""
        for name in dict.fromkeys(self.graph.outputs):
            if name in self.renamed:
                self.nodes.append(Node(f"copy_{name}", Copy(), (self.renamed[name],), (name,), "output"))
        return replace(self.graph, tensors=self.tensors, nodes=tuple(self.nodes))

    def type_of(self, name: str) -> TensorType:
        return self.tensors[name].type

    def stored(self, name: str, depth: int = 0) -> str | None:
        """The tensor of stored integers whose real values a float tensor is; None where it is none."""
        if name not in self.found and depth < _MAX_DEPTH:
            self.found[name] = self._stored(name, depth)
        return self.found.get(name)

    def _stored(self, name: str, depth: int) -> str | None:
        maker = self.makers.get(name)
        if maker is None or not self.type_of(name).is_float:
            return None
        if isinstance(maker.op, Dequantize):
            x = str(maker.inputs[0])
            return self.renamed.get(x, x)
        call = self.graph.call(maker, self.reference)
        if not call.op.keeps_values(call):
            return None
        inputs = [self._moved_operand(n, depth) for n in maker.inputs]
        floats = [k for k, t in enumerate(call.inputs) if t is not None and t.is_float]
        stored = [inputs[k] for k in floats]
        types = [None if n is None else self.type_of(n) for n in stored]
        if not floats or None in types or len({(t.dtype, t.quant) for t in types if t}) != 1:
            return None
        return self._move(maker, call.op, inputs, str(stored[0]), name)

    def _moved_operand(self, name: str | None, depth: int) -> str | None:
        return self.stored(name, depth + 1) if name is not None and self.type_of(name).is_float else name

    def _move(self, maker: Node, op: Op, inputs: Sequence[str | None], first: str, name: str) -> str | None:
        """A move on stored integers: all its results, of which `name` stands for one."""
        quant = self.type_of(first).quant
        if quant is not None and quant.per_channel:
            quant = self._moved_quant(op, first, quant) if len(maker.outputs) == len(inputs) == 1 else None
            if quant is None or self.tensors[first].data is None:
                return None
        olds = [self.type_of(n) for n in maker.outputs]
        types = [TensorType(t.shape, self.type_of(first).dtype, quant) if t.is_float else t for t in olds]
        results = self.node(op, inputs, types)
        for old, result in zip(maker.outputs, results, strict=True):
            self.found |= {old: result} if self.type_of(old).is_float else {}
        return self.found[name]

    def _moved_quant(self, op: Op, name: str, quant: QuantParams) -> QuantParams | None:
        """Scales along the axis to which a move brings theirs; None where they come to lie along several."""
        shape = self.type_of(name).shape
        along = [1] * len(shape)
        along[quant.axis] = -1
        index = np.broadcast_to(np.arange(shape[quant.axis], dtype=np.float64).reshape(along), shape)
        found = np.asarray(op.reference(index))
        for axis in range(found.ndim):
            line = np.moveaxis(found, axis, 0).reshape(found.shape[axis], -1)
            if (line == line[:, :1]).all():
                order = line[:, 0].astype(int)
                scale, zero = (tuple(v[k] for k in order) for v in (quant.scale, quant.zero_point))
                return QuantParams(scale, zero, axis)
        return None

    def node(self, op: Op, inputs: Sequence[str | None], types: Sequence[TensorType]) -> list[str]:
        """Append a node, or fold it where all its operands are constant; the names of its results."""
        folded = op.fold(self._call(op, inputs, types)) or (None,) * len(types)
        names = [f"i{len(self.tensors) + k}" for k in range(len(types))]
        for n, t, value in zip(names, types, folded, strict=True):
            self.tensors[n] = Tensor(n, t, value, self.label)
        if folded[0] is None:
            self.nodes.append(Node(f"q{len(self.nodes)}", op, tuple(inputs), tuple(names), self.source))
        return names

    def _call(self, op: Op, inputs: Sequence[str | None], types: Sequence[TensorType]) -> Call:
        operands = [None if n is None else self.tensors[n] for n in inputs]
        data = tuple(t.data if t else None for t in operands)
        return Call(op, tuple(t.type if t else None for t in operands), tuple(types), data, self.reference)

    def quantized(self, name: str, y: TensorType, depth: int) -> str | None:
        """A tensor with the real values of a float tensor, quantized as y is; None where only floats compute it."""
        key = (name, y.dtype, y.quant)
        if key not in self.made and depth < _MAX_DEPTH:
            self.made[key] = self._quantized(name, y, depth)
        return self.made.get(key)

    def _quantized(self, name: str, y: TensorType, depth: int) -> str | None:
        t = TensorType(self.type_of(name).shape, y.dtype, y.quant)
        stored = self.stored(name)
        if stored is not None:
            return self.rescaled(stored, t)
        maker = self.makers.get(name)
        if maker is None or len(maker.outputs) != 1:
            return None
        call = self.graph.call(maker, self.reference)
        if isinstance(maker.op, Relu):
            below = self.quantized(str(maker.inputs[0]), y, depth + 1)
            if below is not None and y.dtype in _BYTES:
                return self.node(_clamp(maker.op, t), [below], [t])[0]
        found = self._table(name, t)
        if found is None and call.op.keeps_values(call):
            inputs = [self._operand(n, y, depth) for n in maker.inputs]
            if not any(n is None for n, old in zip(inputs, maker.inputs, strict=True) if old is not None):
                return self.node(call.op, inputs, [t])[0]
        found = found or self._rounded(maker, t)
        if found is not None or t.dtype not in _BYTES:
            return found
        return summed(self, maker, t) or by_channels(self, maker, t)

    def _operand(self, name: str | None, y: TensorType, depth: int) -> str | None:
        return self.quantized(name, y, depth + 1) if name is not None and self.type_of(name).is_float else name

    def rescaled(self, stored: str, t: TensorType) -> str | None:
        """Stored integers with another scale: themselves where nothing changes."""
        x = self.type_of(stored)
        if (x.dtype, x.quant) == (t.dtype, t.quant):
            return stored
        if not self.is_bytes(x) or t.dtype not in _BYTES:
            return None
        return self.node(Quantize(t.dtype, "even"), [stored], [t])[0]

    def is_bytes(self, t: TensorType) -> bool:
        """Whether a tensor is of bytes with one scale."""
        return t.dtype in _BYTES and t.quant is not None and not t.quant.per_channel

    def _rounded(self, maker: Node, t: TensorType) -> str | None:
        """The operator on stored integers, with the bias that may be added after it."""
        op, inputs = maker.op, maker.inputs
        if isinstance(op, Add):
            op, inputs = self._with_bias(maker) or (op, inputs)
        types = tuple(None if n is None else self.type_of(n) for n in inputs)
        exact = op.rounded(Call(op, types, (self.type_of(maker.outputs[0]),), (None,) * len(types), self.reference))
        if exact is None:
            return None
        if isinstance(exact, AveragePool2D):
            exact = replace(exact, by_columns=self.by_columns)
        operands = self.operands(op, inputs)
        if operands is None:
            return None
        try:
            made = exact.infer(*(None if n is None else self.type_of(n) for n in operands))[0]
        except McugenError:
            return None
        is_kind = (made.dtype in _BYTES) == (t.dtype in _BYTES)
        if (
            not is_kind
            or made.shape != t.shape
            or not (t.dtype in _BYTES or exact.runs(self._call(exact, operands, [t])))
        ):
            return None  # Of int16 data few operators have a kernel; the others are left as floats.
        return self.node(exact, operands, [t])[0]

    def _with_bias(self, maker: Node) -> tuple[Op, tuple[str | None, ...]] | None:
        """A matrix product whose bias is added by a node of its own."""
        for product, added in (maker.inputs, maker.inputs[::-1]):
            before = self.makers.get(str(product))
            if before is None or not isinstance(before.op, FullyConnected) or len(before.inputs) != 2:
                continue
            data, outputs = self.constant(str(added)), self.type_of(str(product)).shape[-1]
            fits = data is not None and data.size == outputs and data.shape[-1:] == (outputs,)
            if fits and before.op.activation == "NONE" and self.type_of(str(product)) == self.type_of(maker.outputs[0]):
                return before.op, (*before.inputs, added)
        return None

    def constant(self, name: str) -> np.ndarray | None:
        """The data of a float tensor that is constant, deferred or not."""
        data, stored = self.tensors[name].data, self.stored(name)
        if data is None and stored is not None and self.tensors[stored].data is not None:
            return _real(self.tensors[stored])
        return data

    def operands(self, op: Op, inputs: Sequence[str | None]) -> list[str | None] | None:
        """Stored integers for all operands; weights without zero points, a bias in units of the sums or as floats."""
        found: list[str | None] = []
        for k, name in enumerate(inputs):
            if name is None:
                found.append(None)
                continue
            stored = self.stored(name)
            if op.weight_operands and k > max(op.weight_operands):
                stored = self._bias(name, [str(n) for n in found])
            elif stored is not None and k in op.weight_operands:
                stored = self._centred(stored)
            if stored is None:
                return None
            found.append(stored)
        return found

    def _bias(self, name: str, before: Sequence[str]) -> str | None:
        """A bias as int32 where its scale is that of the sums, else as float32."""
        stored = self.stored(name)
        x, w = (self.type_of(n).quant for n in before[:2])
        if stored is not None and self.tensors[stored].data is not None and x is not None and w is not None:
            tensor, quant = self.tensors[stored], self.type_of(stored).quant
            sums = np.float32(x.scale[0]) * np.array(w.scale, np.float32)
            is_sum = quant is not None and not any(quant.zero_point) and tensor.type.dtype == "s32"
            own = np.array(quant.scale if quant else (), np.float32)
            if is_sum and own.size in (1, sums.size) and (own == sums).all():
                return self.new(np.asarray(tensor.data).reshape(-1), "s32", None)
        data = self.constant(name)
        return None if data is None else self.new(data.astype(np.float32).reshape(-1), "f32", None)

    def _centred(self, name: str) -> str | None:
        """Constant weights of bytes without zero points: as they are or as int8 where they fit, else as int16."""
        tensor, quant = self.tensors[name], self.type_of(name).quant
        if tensor.data is None or quant is None or tensor.type.dtype not in _WEIGHTS:
            return None
        if tensor.type.dtype in ("s4", "s8") and not any(quant.zero_point):
            return name
        along = [1] * tensor.data.ndim
        if quant.per_channel:
            along[quant.axis] = -1
        data = tensor.data.astype(np.int16) - np.array(quant.zero_point, np.int16).reshape(along)
        dtype = "s8" if data.min(initial=0) >= -128 and data.max(initial=0) <= 127 else "s16"
        return self.new(data, dtype, replace(quant, zero_point=(0,) * len(quant.scale)))

    def new(self, data: np.ndarray, dtype: str, quant: QuantParams | None) -> str:
        t = TensorType(data.shape, dtype, quant)
        name = f"i{len(self.tensors)}"
        self.tensors[name] = Tensor(name, t, data.astype(t.np_dtype), self.label)
        return name

    def _table(self, name: str, t: TensorType) -> str | None:
        """A table of bytes where all operators between one stored tensor and here work element by element."""
        if t.dtype not in _BYTES:
            return None
        sources: set[str] = set()
        if not self._is_function(name, t.shape, sources, 0) or len(sources) != 1:
            return None
        (x,) = sources
        kind = self.type_of(x)
        if kind.dtype not in _BYTES or kind.quant is None or kind.quant.per_channel:
            return None
        least = INT_RANGE[kind.dtype][0]
        steps = np.arange(256) + least - kind.zero_point
        values = self._values(name, {x: (np.float32(kind.scale) * steps.astype(np.float32))}, {})
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.nan_to_num(values / np.float32(t.scale), nan=-np.inf)
        low, high = INT_RANGE[t.dtype]
        stored = np.clip(np.rint(np.clip(scaled, -(2.0**30), 2.0**30)) + t.zero_point, low, high) - low
        return self.node(Lookup(stored.astype(np.uint8).tobytes(), t.dtype), [x], [t])[0]

    def _is_function(self, name: str, shape: tuple[int, ...], sources: set[str], depth: int) -> bool:
        """Whether a float tensor follows from stored tensors element by element; adds those to `sources`."""
        stored, tensor = self.stored(name), self.tensors[name]
        if tensor.data is not None:
            return tensor.data.size == 1
        if stored is not None and self.tensors[stored].data is None:
            sources.add(stored)
            return self.type_of(stored).shape == shape
        data = self.constant(name)
        if data is not None:
            return data.size == 1
        maker = self.makers.get(name)
        if maker is None or depth > _MAX_DEPTH or tensor.type.shape != shape or len(maker.outputs) != 1:
            return False
        return maker.op.is_elementwise and all(
            n is not None and self._is_function(n, shape, sources, depth + 1) for n in maker.inputs
        )

    def _values(self, name: str, given: dict[str, np.ndarray], done: dict[str, np.ndarray]) -> np.ndarray:
        """The 256 values of a float tensor for those of its source, each operator rounded to float32."""
        if name not in done:
            stored, data = self.stored(name), self.constant(name)
            if stored in given:
                done[name] = given[str(stored)]
            elif data is not None:
                done[name] = data.reshape(())
            else:
                maker = self.makers[name]
                arrays = [self._values(str(n), given, done) for n in maker.inputs]
                types = tuple(
                    TensorType(a.shape, self.type_of(str(n)).dtype) for a, n in zip(arrays, maker.inputs, strict=True)
                )
                call = Call(maker.op, types, maker.op.infer(*types), tuple(arrays), self.reference)
                done[name] = np.broadcast_to(evaluate(call, arrays)[0], (256,))
        return done[name]


def _clamp(op: Relu, t: TensorType) -> Lookup:
    """A clamp of real numbers on the bytes that stand for them: bounds are quantized like all else."""
    least, most = INT_RANGE[t.dtype]
    scale = Fraction(float(np.float32(t.scale)))
    bounds = [
        (least if b < 0 else most) if np.isinf(b) else round(Fraction(float(np.float32(b))) / scale) + t.zero_point
        for b in (op.low, op.high)
    ]
    low, high = (min(max(b, least), most) - least for b in bounds)
    return Lookup(np.clip(np.arange(256), low, high).astype(np.uint8).tobytes(), t.dtype)


def _real(tensor: Tensor) -> np.ndarray:
    """The real values of a constant of stored integers."""
    call = Call(Dequantize(), (tensor.type,), (TensorType(tensor.type.shape, "f32"),), (tensor.data,), "")
    return evaluate(call, call.constants)[0]
