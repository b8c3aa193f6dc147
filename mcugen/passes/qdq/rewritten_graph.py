"""A graph being rewritten: its new nodes, and the stored integers behind its floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op, evaluate
from mcugen.ir.types import QuantParams, Shape, TensorType
from mcugen.ops._filter import symmetric
from mcugen.ops.copy import Copy
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.quantize import Quantize
from mcugen.passes.qdq.block_weights import DequantizeBlocks, as_rows

BYTES = ("s8", "u8")
MAX_DEPTH = 200
"""Limit of recursion: the longest chain of operators that is examined."""
_WEIGHTS = ("s4", *BYTES)


@dataclass
class Draft:
    """The tensors and nodes of the new graph so far.

    makers: tensor -> its producer in the original graph. found: float tensor -> the tensor of stored integers with its
    values. renamed: tensor -> the tensor that its readers read instead. layers: recurrent layer -> its results on
    stored integers, or None. source, label: fields of the next new nodes and tensors.
    """

    graph: Graph
    reference: str
    tensors: dict[str, Tensor] = field(init=False)
    nodes: list[Node] = field(default_factory=list)
    makers: dict[str, Node] = field(init=False)
    found: dict[str, str | None] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    layers: dict[str, list[str] | None] = field(default_factory=dict)
    source: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        self.tensors = dict(self.graph.tensors)
        self.makers = {name: node for node in self.graph.nodes for name in node.outputs}

    def result(self) -> Graph:
        """The rewritten graph. Outputs keep their names; `Graph.values` names the tensors that hold the values now."""
        for name in dict.fromkeys(self.graph.outputs):
            if name in self.renamed:
                self.nodes.append(Node(f"copy_{name}", Copy(), (self.renamed[name],), (name,), "output"))
        values = {value: self.renamed.get(name, name) for value, name in self.graph.values.items()}
        return replace(self.graph, tensors=self.tensors, nodes=tuple(self.nodes), values=values)

    def type_of(self, name: str) -> TensorType:
        return self.tensors[name].type

    def stored(self, name: str, depth: int = 0) -> str | None:
        """The tensor of stored integers whose real values equal a float tensor; None if there is none."""
        if name not in self.found and depth < MAX_DEPTH:
            self.found[name] = self._stored(name, depth)
        return self.found.get(name)

    def _stored(self, name: str, depth: int) -> str | None:
        maker = self.makers.get(name)
        if maker is None or not self.type_of(name).is_float:
            return None
        if isinstance(maker.op, Dequantize):
            x = str(maker.inputs[0])
            return self.renamed.get(x, x)
        if isinstance(maker.op, DequantizeBlocks):
            q, s = (self.tensors[str(n)].data for n in maker.inputs[:2])
            rows = None if q is None or s is None or any(maker.inputs[2:]) else as_rows(maker.op, q, s)
            return None if rows is None else self.constant_of(*rows)
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
        """Repeat the data movement `maker` on stored integers. Returns the stored tensor for its result `name`, or
        None.
        """
        quant = self.type_of(first).quant
        quants: list[QuantParams | None] = [quant] * len(maker.outputs)
        if quant is not None and quant.per_channel:
            if len(inputs) > 1 or self.tensors[first].data is None:
                return None
            shapes = [self.type_of(n).shape for n in maker.outputs]
            quants = [self._moved_quant(op, first, quant, k, shape) for k, shape in enumerate(shapes)]
            if None in quants:
                return None
        olds = [self.type_of(n) for n in maker.outputs]
        dtype = self.type_of(first).dtype
        types = [TensorType(t.shape, dtype, q) if t.is_float else t for t, q in zip(olds, quants, strict=True)]
        results = self.node(op, inputs, types)
        for old, result in zip(maker.outputs, results, strict=True):
            self.found |= {old: result} if self.type_of(old).is_float else {}
        return self.found[name]

    def _moved_quant(self, op: Op, name: str, quant: QuantParams, k: int, result: Shape) -> QuantParams | None:
        """The quantization of result k of a data movement, whose scales lie along another axis; None if that is not a
        single axis. result: the shape of result k.
        """
        shape = self.type_of(name).shape
        along = [1] * len(shape)
        along[quant.axis] = -1
        index = np.broadcast_to(np.arange(shape[quant.axis], dtype=np.float64).reshape(along), shape)
        moved = op.reference(index)
        found = np.asarray(moved[k] if isinstance(moved, tuple) else moved).reshape(result)
        for axis in range(found.ndim):
            line = np.moveaxis(found, axis, 0).reshape(found.shape[axis], -1)
            if (line == line[:, :1]).all():
                order = line[:, 0].astype(int)
                scale, zero = (tuple(v[k] for k in order) for v in (quant.scale, quant.zero_point))
                return QuantParams(scale, zero, axis, quant.block)
        return None

    def node(self, op: Op, inputs: Sequence[str | None], types: Sequence[TensorType]) -> list[str]:
        """Append a node, or fold it if all operands are constant. Returns the names of its results."""
        folded = op.fold(self.call(op, inputs, types)) or (None,) * len(types)
        names = [f"i{len(self.tensors) + k}" for k in range(len(types))]
        for n, t, value in zip(names, types, folded, strict=True):
            self.tensors[n] = Tensor(n, t, value, self.label)
        if folded[0] is None:
            self.nodes.append(Node(f"q{len(self.nodes)}", op, tuple(inputs), tuple(names), self.source))
        return names

    def call(self, op: Op, inputs: Sequence[str | None], types: Sequence[TensorType]) -> Call:
        operands = [None if n is None else self.tensors[n] for n in inputs]
        data = tuple(t.data if t else None for t in operands)
        return Call(op, tuple(t.type if t else None for t in operands), tuple(types), data, self.reference)

    def rescaled(self, stored: str, t: TensorType) -> str | None:
        """The stored integers requantized as t; unchanged if the quantization is equal; None if not possible."""
        x = self.type_of(stored)
        if (x.dtype, x.quant) == (t.dtype, t.quant):
            return stored
        if not self.is_bytes(x) or t.dtype not in BYTES:
            return None
        return self.node(Quantize(t.dtype, "even"), [stored], [t])[0]

    def is_bytes(self, t: TensorType) -> bool:
        """Whether a tensor holds 8-bit integers with a single scale."""
        return t.dtype in BYTES and t.quant is not None and not t.quant.per_channel

    def constant(self, name: str) -> np.ndarray | None:
        """The data of a constant float tensor, also if its folding is deferred; None if it is computed at run time."""
        data, stored = self.tensors[name].data, self.stored(name)
        if data is None and stored is not None and self.tensors[stored].data is not None:
            return _real(self.tensors[stored])
        return data

    def operands(self, op: Op, inputs: Sequence[str | None]) -> list[str | None] | None:
        """Tensors of stored integers for all operands; None if an operand has none.

        Weights are made symmetric (zero point 0). The bias is int32 in units of the sums, or float32.
        """
        found: list[str | None] = []
        for k, name in enumerate(inputs):
            if name is None:
                found.append(None)
                continue
            stored = self.stored(name)
            if k in op.kept_floats:
                data = self.constant(name)
                stored = None if data is None else self.new(data, "f32", None)
            elif op.weight_operands and k > max(op.weight_operands):
                stored = self._bias(name, [str(n) for n in found])
            elif stored is not None and k in op.weight_operands:
                stored = self._centred(stored)
            if stored is None:
                return None
            found.append(stored)
        return found

    def _bias(self, name: str, before: Sequence[str]) -> str | None:
        """A bias as int32 if its scale is that of the sums, else as float32."""
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
        """Constant weights with zero points subtracted: unchanged if these are 0, else int8 if they fit, else int16."""
        tensor, quant = self.tensors[name], self.type_of(name).quant
        if tensor.data is None or quant is None or (tensor.type.dtype not in _WEIGHTS and not quant.block):
            return None
        if quant.block or (tensor.type.dtype in ("s4", "s8") and not any(quant.zero_point)):
            return name
        data, plain = symmetric(tensor.data, quant)
        return self.new(data, "s8" if data.dtype == np.int8 else "s16", plain)

    def new(self, data: np.ndarray, dtype: str, quant: QuantParams | None) -> str:
        return self.constant_of(TensorType(data.shape, dtype, quant), data)

    def constant_of(self, t: TensorType, data: np.ndarray) -> str:
        name = f"i{len(self.tensors)}"
        self.tensors[name] = Tensor(name, t, data.astype(t.np_dtype), self.label)
        return name


def _real(tensor: Tensor) -> np.ndarray:
    """The real values of a constant of stored integers."""
    call = Call(Dequantize(), (tensor.type,), (TensorType(tensor.type.shape, "f32"),), (tensor.data,), "")
    return evaluate(call, call.constants)[0]


def has_own_kernel(call: Call) -> bool:
    """Whether one of the operator's own kernels, which run on every core, accepts the call."""
    return any(all(rule(call) for rule in kernel.accepts) for kernel in call.op.kernels)
