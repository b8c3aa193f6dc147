"""The search for integer operators before a Quantize, node by node."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ir.graph import Node
from mcugen.ir.op import Op, evaluate
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.lookup import Lookup
from mcugen.ops.quantize import Quantize
from mcugen.ops.relu import Relu
from mcugen.ops.reshape import Reshape
from mcugen.passes.join_norms import find
from mcugen.passes.qdq.channels import by_channels
from mcugen.passes.qdq.recurrent_layers import recurrent
from mcugen.passes.qdq.rewritten_graph import BYTES, MAX_DEPTH, Draft, has_own_kernel
from mcugen.passes.qdq.runtime_steps import in_runtime_steps
from mcugen.passes.qdq.softmax_steps import in_steps
from mcugen.passes.qdq.sum_chains import summed


@dataclass
class Rewriting(Draft):
    """The new graph, built node by node.

    by_columns: see `with_integers`. made: cache, (float tensor, element type, quantization) -> the quantized tensor, or
    None if there is none.
    """

    by_columns: bool = field(kw_only=True)
    made: dict[tuple[str, str, QuantParams | None], str | None] = field(default_factory=dict)

    def take(self, node: Node) -> None:
        """Keep a node, or replace a Quantize by integer operators with the same results."""
        if isinstance(node.op, Quantize) and node.op.rounding == "even" and self.type_of(str(node.inputs[0])).is_float:
            result = node.outputs[0]
            self.source, self.label = node.source, self.tensors[result].label
            source, t = str(node.inputs[0]), self.type_of(result)
            stored = in_runtime_steps(self, source, t, self._with_bias) if node.op.steps else None
            stored = stored or self.quantized(source, t, 0)
            if stored is not None:
                self.renamed[result] = stored
                return
        self.nodes.append(replace(node, inputs=tuple(n and self.renamed.get(n, n) for n in node.inputs)))

    def quantized(self, name: str, y: TensorType, depth: int) -> str | None:
        """The tensor with the values of a float tensor, quantized as y; None if only float operators can compute it."""
        key = (name, y.dtype, y.quant)
        if key not in self.made and depth < MAX_DEPTH:
            self.made[key] = self._quantized(name, y, depth)
        return self.made.get(key)

    def _quantized(self, name: str, y: TensorType, depth: int) -> str | None:
        t = TensorType(self.type_of(name).shape, y.dtype, y.quant)
        stored = self.stored(name)
        if stored is not None:
            return self.rescaled(stored, t)
        maker = self.makers.get(name)
        if maker is not None and len(maker.outputs) > 1:
            return recurrent(self, maker, name, t)
        if maker is None:
            return None
        call = self.graph.call(maker, self.reference)
        if isinstance(maker.op, Relu):
            below = self.quantized(str(maker.inputs[0]), y, depth + 1)
            if below is not None and y.dtype in BYTES:
                return self.node(_clamp(maker.op, t), [below], [t])[0]
        found = self._table(name, t)
        if found is None and call.op.keeps_values(call):
            inputs = [self._operand(n, y, depth) for n in maker.inputs]
            if not any(n is None for n, old in zip(inputs, maker.inputs, strict=True) if old is not None):
                return self.node(call.op, inputs, [t])[0]
        found = found or in_steps(self, maker, t) or self._rounded(maker, t) or self._normalized(maker, t)
        if found is not None or t.dtype not in BYTES:
            return found
        return summed(self, maker, t) or by_channels(self, maker, t)

    def _operand(self, name: str | None, y: TensorType, depth: int) -> str | None:
        return self.quantized(name, y, depth + 1) if name is not None and self.type_of(name).is_float else name

    def _rounded(self, maker: Node, t: TensorType) -> str | None:
        """The result of `maker` computed on stored integers, quantized as t; None if no integer operator can.

        If `maker` adds a bias to a matrix product, one operator computes both.
        """
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
            inferred = exact.infer(*(None if n is None else self.type_of(n) for n in operands))[0]
        except McugenError:
            return None
        is_kind = (inferred.dtype in BYTES) == (t.dtype in BYTES)
        if (
            not is_kind
            or inferred.shape != t.shape
            or not (t.dtype in BYTES or has_own_kernel(self.call(exact, operands, [t])))
        ):
            return None  # Few operators have a kernel for int16; the others stay float.
        return self.node(exact, operands, [t])[0]

    def _normalized(self, maker: Node, t: TensorType) -> str | None:
        """The result, quantized as t, of a normalization of stored integers that ends in `maker`; None if none does."""
        norm = find(self.graph, maker, self.makers)
        stored = None if norm is None else self.stored(norm.source)
        if norm is None or stored is None or self.tensors[stored].is_constant:
            return None
        x = self.type_of(stored)
        op = norm.op if x.dtype == t.dtype else replace(norm.op, dtype=t.dtype)
        lines = [data for data in (norm.gamma, norm.beta) if data is not None]
        operands = [stored, *(self.new(data, "f32", None) for data in lines)]
        if x.quant is None or not has_own_kernel(self.call(op, operands, [replace(t, shape=x.shape)])):
            return None
        y = self.node(op, operands, [replace(t, shape=x.shape)])[0]
        return y if x.shape == t.shape else self.node(Reshape(t.shape), [y], [t])[0]

    def _with_bias(self, maker: Node) -> tuple[Op, tuple[str | None, ...]] | None:
        """(operator, operands with the bias) of the matrix product to which `maker` adds a bias, or None."""
        for product, added in (maker.inputs, maker.inputs[::-1]):
            before = self.makers.get(str(product))
            if before is None or not isinstance(before.op, FullyConnected) or len(before.inputs) != 2:
                continue
            data, outputs = self.constant(str(added)), self.type_of(str(product)).shape[-1]
            fits = data is not None and data.size == outputs and data.shape[-1:] == (outputs,)
            if fits and before.op.activation == "NONE" and self.type_of(str(product)) == self.type_of(maker.outputs[0]):
                return before.op, (*before.inputs, added)
        return None

    def _table(self, name: str, t: TensorType) -> str | None:
        """The result, quantized as t, of a table in place of elementwise operators on one byte tensor; else None."""
        if t.dtype not in BYTES:
            return None
        sources: set[str] = set()
        if not self._is_function(name, t.shape, sources, 0) or len(sources) != 1:
            return None
        (x,) = sources
        kind = self.type_of(x)
        if kind.dtype not in BYTES or kind.quant is None or kind.quant.per_channel:
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
        """Whether a float tensor is an elementwise function of stored tensors, which are added to `sources`."""
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
        if maker is None or depth > MAX_DEPTH or tensor.type.shape != shape or len(maker.outputs) != 1:
            return False
        return maker.op.is_elementwise and all(
            n is not None and self._is_function(n, shape, sources, depth + 1) for n in maker.inputs
        )

    def _values(self, name: str, given: dict[str, np.ndarray], done: dict[str, np.ndarray]) -> np.ndarray:
        """The 256 values of a float tensor for all values of its byte source. Each operator rounds to float32.

        given: source -> its 256 real values. done: cache by tensor.
        """
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
    """A clamp of real numbers as a table of bytes quantized as t. The bounds are quantized too."""
    least, most = INT_RANGE[t.dtype]
    scale = Fraction(float(np.float32(t.scale)))
    bounds = [
        (least if b < 0 else most) if np.isinf(b) else round(Fraction(float(np.float32(b))) / scale) + t.zero_point
        for b in (op.low, op.high)
    ]
    low, high = (min(max(b, least), most) - least for b in bounds)
    return Lookup(np.clip(np.arange(256), low, high).astype(np.uint8).tobytes(), t.dtype)
