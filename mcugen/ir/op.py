"""The base class of operators: a frozen dataclass with attributes, rules, meaning, imports and kernels.

An operator lives in one file of `mcugen/ops`. Its fields are its attributes; `infer` gives the result types,
`reference` the meaning in float64, `reference_q` the bit-exact integer meaning. `imports` lists the operators of
formats that become it, `kernels` the C functions that compute it, and `examples` the types that it is tested on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir import ranges
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.element import Stated
from mcugen.ir.kernel import Kernel
from mcugen.ir.quant_rule import SHARED, Scales, refused
from mcugen.ir.ranges import Range, Removal
from mcugen.ir.types import WITH_HALVES, TensorType, shape_text

Scaling = Mapping[str, Any]
"""Name -> number, tuple or array, as np.array_equal compares them."""
MAX_FOLDED_ELEMENTS = 1 << 20
MAX_FOLDED_MACS = 1 << 26
Widths = tuple[tuple[int, int], tuple[int, int]]
"""An image's padding: (rows above, rows below), (columns left, columns right)."""


@dataclass(frozen=True, eq=False)
class Slimmed:
    """An operator on fewer channels. constants: index of each new or changed constant operand -> (type, data)."""

    op: Op
    constants: Mapping[int, tuple[TensorType, np.ndarray]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Reordered:
    """An operator on tensors in other orders: the order of each operand (None: absent) and of each result."""

    op: Op
    inputs: tuple[Order | None, ...]
    outputs: tuple[Order, ...]


class Writing(Protocol):
    """The part of `mcugen.ir.writes.Write` that this module needs."""

    @property
    def format(self) -> str: ...


class FormatName(Protocol):
    """The part of `mcugen.ir.imports.Import` that this module needs; that module imports this one."""

    @property
    def format(self) -> str: ...

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Op:
    """Base of all operators: a subclass that adds attributes is a frozen dataclass as well."""

    imports: ClassVar[tuple[FormatName, ...]] = ()
    """`mcugen.ir.imports.Import`s: the operators of formats that become this one."""

    writes: ClassVar[tuple[Writing, ...]] = ()
    """`mcugen.ir.writes.Write`s: how this operator is written into model files."""

    element: ClassVar[Mapping[str, Stated]] = {}
    """Element type of operands and result -> the expression for one element, for elementwise operators."""

    kernels: ClassVar[tuple[Kernel, ...]] = ()
    weight_operands: ClassVar[tuple[int, ...]] = ()
    """Operands that are weights: a legacy uint8 constant there is widened to s16 with its zero point subtracted."""

    scaled_axis: ClassVar[int | None] = None
    """The axis of the weights (operand 1) with a scale per index, for operators that have a bias as operand 2."""

    kept_floats: ClassVar[tuple[int, ...]] = ()
    """Operands that stay constants of float32 if the data are integers."""

    met_axis: ClassVar[int | None] = None
    """The input channel axis of the weights."""

    packed_operands: ClassVar[tuple[int, ...]] = ()
    """Operands whose constants kernels read with several elements per byte. Other constants are unpacked to whole
    bytes.
    """

    takes_unsigned: ClassVar[bool] = False
    """Whether the kernels support quantized uint8. For all other operators, a pass turns uint8 into int8 first."""

    tflm_types: ClassVar[frozenset[str]] = frozenset()
    """Element types of operand 0 for which TensorFlow Lite Micro has a kernel; measured, never guessed."""

    litert_types: ClassVar[frozenset[str]] = WITH_HALVES
    """Element types of operand 0 for which LiteRT has a kernel; f16 is computed as f32."""

    takes_images: ClassVar[bool] = False
    """Whether operand 0 and the results are images [N, H, W, C], of which the last axis is the channels."""

    is_elementwise: ClassVar[bool] = False
    """Whether each element of the result depends only on the elements of the operands at the same index."""

    only_moves: ClassVar[bool] = False
    """Whether the operator only moves elements, so that the runtimes allow any zero point of int16 data."""

    exact_floats: ClassVar[bool] = False
    """Whether C and oracle give equal bits for floats: operations have a fixed order, and no fused multiply-add is
    used.
    """

    repeats_runtime: ClassVar[bool] = False
    """Whether float results equal the runtime's in every bit for equal operands, since both add in the same order."""

    def infer(self, *inputs: Any, **named: Any) -> tuple[TensorType, ...]:
        """The result types; `quant` is ignored, since formats state it. Raises ShapeError on contradictions."""
        raise NotImplementedError

    def reference(self, *inputs: Any, **named: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        """The meaning on real numbers, in float64."""
        raise NotImplementedError

    def reference_q(self, call: Call, *inputs: Any, **named: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        """The bit-exact results on stored integers, as the runtime `call.reference` computes them."""
        raise NotImplementedError

    def scaling(self, call: Call) -> Scaling:
        """The numbers that emitted constants derive from scales, by name: multipliers, bounds, tables."""
        return {}

    def scaling_q(self, call: Call) -> Scaling:
        """The numbers of `scaling`, derived by the oracle's own code; `verify` compares both."""
        return {}

    def fold(self, call: Call) -> tuple[np.ndarray, ...] | None:
        """The results if they are known at build time: by default when every operand is constant.

        Results that are much larger than the constants, or expensive, are computed at run time. Otherwise a small model
        file could make the build allocate or compute without limit.
        """
        if any(t is not None and c is None for t, c in zip(call.inputs, call.constants, strict=True)):
            return None
        given = sum(c.size for c in call.constants if c is not None)
        if sum(t.size for t in call.outputs) > max(MAX_FOLDED_ELEMENTS, 4 * given) or self.macs(call) > MAX_FOLDED_MACS:
            return None
        return evaluate(call, call.constants)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """Bounds of each result's stored integers per channel, for operands within `call.range_of`.

        The default is the range that the type can store. The bounds must hold for the runtime's own rounding,
        saturation and wrapping.
        """
        return tuple(ranges.whole(t) for t in call.outputs)

    def accumulators(self, call: Call) -> Range | None:
        """Bounds of the sum of each output channel before requantization, with bias and zero points.

        They are bounds of the exact sum. If they do not fit 32 bits, the sum may wrap. None for operators without such
        sums, for floats, and if weights are not constant.
        """
        return None

    def removable(self, call: Call, asked: Removal) -> Removal:
        """The largest subset of the requested channels that this operator can drop; by default none.

        A channel of a result can be dropped unless the operator needs it for other results. A channel of an operand can
        be dropped if no remaining result depends on it, or if `call.range_of` gives it one value, which can be folded
        into constants. A smaller request must never drop more.
        """
        return asked.none

    def without(self, call: Call, removed: Removal) -> Slimmed:
        """The operator without channels that `removable` returned. All other channels keep their bits."""
        raise InternalError(f"{self} cannot drop channels")

    def keeps_values(self, call: Call) -> bool:
        """Whether each result is one of the operands' elements, for example a maximum.

        That must also hold for stored integers with equal scales and zero points.
        """
        return self.only_moves

    def rounded(self, call: Call) -> Op | None:
        """The form of this float operator on stored integers, whose results are the exact real values rounded once.

        call: the present call on floats. Halves round to even. None if there is no such form.
        """
        return None

    def quantized(self, call: Call) -> Scales:
        """The integer form of this float operator, with the types in `call` and the same attributes."""
        if self.only_moves:
            return SHARED
        known = self.tflm_types | (frozenset() if self.litert_types is WITH_HALVES else self.litert_types)
        if "s8" in known:
            return refused("the runtimes have an int8 kernel for it, but mcugen has no rule for its scales")
        return refused("it is computed on floats alone: mcugen knows no runtime with an int8 kernel for it")

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This operator on operands that are stored in other orders; None if it needs the original order.

        orders: the order of each computed operand; None for constants, which can be stored in any order.
        """
        return None

    @property
    def collects(self) -> bool:
        """Whether nodes that depend on the result run less often than other nodes if samples are streamed."""
        return False

    def macs(self, call: Call) -> int:
        """Number of multiply-accumulates of one execution."""
        return 0

    def in_words(self, call: Call) -> str:
        """The sizes of a call in words, for comments and reports; by default the shapes of its data."""
        pairs = zip(call.inputs, call.constants, strict=True)
        given = dict.fromkeys(shape_text(t.shape) for t, constant in pairs if t is not None and constant is None)
        made = dict.fromkeys(shape_text(t.shape) for t in call.outputs)
        return " to ".join(" and ".join(shapes) for shapes in ((made,) if given == made else (given, made)) if shapes)

    def refused_by(self, call: Call, runtime: str) -> str:
        """Why a runtime, "tflm" or "litert", does not compute this call; "" if it does.

        `ci/vectors` records what the runtimes accept, and a test compares it with this method.
        """
        dtype = call.input(0).dtype
        if not self.only_moves and has_int16_zero_point(call):
            return "int16 data with a zero point other than 0"
        known = self.tflm_types if runtime == "tflm" else self.litert_types
        return "" if dtype in known else f"no kernel for {dtype}"

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Calls this operator is tested on."""
        return ()


def has_int16_zero_point(call: Call) -> bool:
    """Whether int16 data have a zero point other than 0, which the runtimes' arithmetic does not support."""
    types = [t for t in (*call.inputs, *call.outputs) if t is not None and t.dtype == "s16" and t.quant is not None]
    return any(zero for t in types if t.quant for zero in t.quant.zero_point)


@dataclass(frozen=True, eq=False)
class Example:
    """A call to test. The test draws the data from `seed`.

    constants: index of a constant operand -> its data, or None for data drawn from the type's range without -128.
    """

    op: Op
    inputs: tuple[TensorType | None, ...]
    outputs: tuple[TensorType, ...]
    constants: Mapping[int, np.ndarray | None]
    seed: int = 0


def evaluate(call: Call, arrays: Sequence[np.ndarray | None]) -> tuple[np.ndarray, ...]:
    """Compute a call with the operator's own reference; results have the call's result types.

    Calls with only floats run `reference` in float64 and round once to the result type; operators with `exact_floats`
    get their operands unchanged. All other calls run `reference_q`, in which the operator defines how float operations
    round. Operands with several elements per byte are passed unpacked.
    """
    given = [t for t in (*call.inputs, *call.outputs) if t is not None]
    with np.errstate(all="ignore"):  # infinities and NaN occur without a warning, as in the runtimes
        if all(t.is_float for t in given):
            wide = None if call.op.exact_floats else np.float64
            result = call.op.reference(*(None if a is None else np.asarray(a, wide) for a in arrays))
        else:
            result = call.op.reference_q(call, *arrays)
        results = result if isinstance(result, tuple) else (result,)
        pairs = zip(results, call.outputs, strict=True)
        return tuple(np.asarray(r).astype(t.np_dtype).reshape(t.shape) for r, t in pairs)
