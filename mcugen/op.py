"""What an operator is: a frozen dataclass with its attributes, rules, meaning, imports and kernels.

An operator lives in one file of `mcugen/ops`. Its fields are its attributes; `infer` gives the result types,
`reference` the meaning in float64, `reference_q` the bit-exact integer meaning; `imports` say which operators of which
formats become it; `kernels` say which C functions compute it, and when; `examples` are the types it is tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from mcugen import channels
from mcugen.channels import Range, Removal
from mcugen.errors import CorruptModelError, InternalError
from mcugen.types import TensorType

MAX_FOLDED_ELEMENTS = 1 << 20
MAX_FOLDED_MACS = 1 << 26
Param = int | float | np.ndarray
Params = Mapping[str, Param]
Widths = tuple[tuple[int, int], tuple[int, int]]
"""What is added to an image: rows (above, below), columns (left, right)."""


@dataclass(frozen=True, eq=False)
class Call:
    """An operator applied: its operand and result types, the data of constant operands, and the runtime to equal.

    reference is "tflm" or "litert": the two runtimes round differently in places.
    input_range: bounds of each operand's stored integers per channel, None where nothing is known; see `range_of`.
    loop_bytes: code that the core runs again without waiting for flash, None where that is not known or no matter; a
    kernel may unroll less for it, not compute otherwise.
    """

    op: Op
    inputs: tuple[TensorType | None, ...]
    outputs: tuple[TensorType, ...]
    constants: tuple[np.ndarray | None, ...]
    reference: str
    input_range: tuple[Range | None, ...] = ()
    loop_bytes: int | None = None

    def input(self, k: int) -> TensorType:
        """The type of operand k, which must be there."""
        found = self.inputs[k] if k < len(self.inputs) else None
        if found is None:
            raise InternalError(f"operand {k} of {self.op} is missing")
        return found

    def has(self, k: int) -> bool:
        """Whether the optional operand k is given."""
        return k < len(self.inputs) and self.inputs[k] is not None

    def constant(self, k: int) -> np.ndarray:
        """The data of operand k, which must be constant."""
        data = self.constants[k] if k < len(self.constants) else None
        if data is None:
            raise InternalError(f"operand {k} of {self.op} is not constant")
        return data

    def range_of(self, k: int) -> Range | None:
        """Bounds of operand k's stored integers, per channel, for every input of the model; of its type at worst.

        None for floats, booleans, 64 bit integers, and more than `channels.MAX_CHANNELS` channels.
        """
        found = self.input_range[k] if k < len(self.input_range) else None
        return found or channels.whole(self.input(k))

    @property
    def output(self) -> TensorType:
        """The type of the only (or first) result."""
        return self.outputs[0]


Rule = Callable[[Call], bool]
"""A kernel's precondition. Its docstring is both the message on refusal and the line in the manual."""


class Form(Enum):
    """How a kernel walks its tensors; the emitter knows the call of each form.

    POINTWISE   f(params, in..., out, [scratch,] n): a run of n pixels or elements
    WINDOW      f(params, rows, y, out, [scratch]): kernel-height row pointers to output row y
    RING        f_row(params, in or NULL, row): an input row, or one outside the image, converted for the step's ring;
                f(params, rows, out, [scratch]): kernel-height pointers to converted rows to one output row
    ACCUMULATE  f_begin(params, acc); f_rows(params, in, y, n, acc); f_end(params, acc, out)
    WHOLE       f(params, in..., out..., [scratch]): whole tensors, for data movement across rows
    ALIAS       no code: each result is bytes of the operand
    JOIN        no code: the operands are bytes of the result, written where they lie in it
    """

    POINTWISE = "pointwise"
    WINDOW = "window"
    RING = "ring"
    ACCUMULATE = "accumulate"
    WHOLE = "whole"
    ALIAS = "alias"
    JOIN = "join"


@dataclass(frozen=True)
class RowWindow:
    """Which input rows an output row reads: first = y * stride - pad, then every `dilation`-th, `size` of them.

    firsts: the first input row of each output row, never descending, where no stride gives it: images made taller.
    """

    size: int
    stride: int
    dilation: int
    pad: int
    in_rows: int
    out_rows: int
    firsts: tuple[int, ...] = ()

    @classmethod
    def of_firsts(cls, size: int, firsts: Sequence[int], in_rows: int) -> RowWindow:
        """The window whose output row y reads `size` rows from firsts[y] on: by a stride, where one gives them."""
        stride = firsts[1] - firsts[0] if len(firsts) > 1 else 1
        even = stride > 0 and all(first == firsts[0] + y * stride for y, first in enumerate(firsts))
        return cls(size, stride, 1, -firsts[0], in_rows, len(firsts), () if even else tuple(firsts))

    def first(self, y: int) -> int:
        """Index of the first input row of output row y; negative above the image."""
        return self.firsts[y] if self.firsts else y * self.stride - self.pad

    def last(self, y: int) -> int:
        """Index of the last input row of output row y; at or past in_rows below the image."""
        return self.first(y) + (self.size - 1) * self.dilation

    @property
    def extent(self) -> int:
        """Rows from the first one that an output row reads to the last, inclusive."""
        return (self.size - 1) * self.dilation + 1

    @property
    def walked_rows(self) -> int:
        """Rows from the first one that the first output row reads to the last, padding and steps between included."""
        return (self.out_rows - 1) * self.stride + self.extent

    @property
    def leaves_image(self) -> bool:
        """Whether any output row reads a row outside the image."""
        return self.first(0) < 0 or self.last(self.out_rows - 1) >= self.in_rows


@dataclass(frozen=True)
class Ring:
    """How a RING kernel stores a converted input row: `length` elements of `dtype`.

    pitch: elements from a row's start to the next one's, 0: length; less where parts of all rows lie side by side.
    """

    dtype: str
    length: int
    pitch: int = 0


@dataclass(frozen=True)
class Kernel:
    """One C function that computes an operator, with its rules and its build-time work.

    symbol    mg_<op>_<dtype>[__<how>]; its source is c_runtime/src/<symbol less mg_>.c, or `source`
    params    fields of the C struct <symbol less __how>_params; arrays become constants in flash
    count     POINTWISE: n for the whole output (pixels or elements); a multiple of the output's rows
    operands  inputs passed as pointers; None: every input that is not constant
    scratch   bytes of working memory, 16-aligned, or None where the C function takes none
    in_place  inputs whose memory the output may take over, element by element
    window    WINDOW, RING: the row geometry;   outside: WINDOW: the value of rows beyond the image
    ring      RING: what a converted row is
    variant   constants of the C text: each set of them is a copy of its own of <symbol less mg_>_template.h
    starts    ALIAS: the byte of the operand at which each result begins; JOIN: that of the result at which each operand
              does; None: all at the first
    widened   whether the constants hold the weights wider than the model does: faster, for flash
    struct    names the header and the params struct where they are not those of the contract: the whole symbol
    work      what a call takes beside what select/costs.py counts of any kernel, by name, for estimates of its cycles
    code      bytes of the code of a call's copy, where copies differ much; else ci/fit measured their mean
    helpers   sources of c_runtime/src that the function calls, beside its own
    files     C files that come with an operator from outside: name -> text, the source and the header <contract>.h of
              the kernel among them; empty for kernels of c_runtime
    """

    symbol: str
    form: Form
    accepts: tuple[Rule, ...] = ()
    params: Callable[[Call], Params] | None = None
    count: Callable[[Call], int] | None = None
    operands: tuple[int, ...] | None = None
    scratch: Callable[[Call], int] | None = None
    in_place: tuple[int, ...] = ()
    window: Callable[[Call], RowWindow] | None = None
    outside: Callable[[Call], int | float] | None = None
    ring: Callable[[Call], Ring] | None = None
    variant: Callable[[Call], Mapping[str, int]] | None = None
    starts: Callable[[Call], Sequence[int]] | None = None
    widened: bool = False
    struct: str = ""
    needs: frozenset[str] = frozenset()
    work: Callable[[Call], Mapping[str, float]] | None = None
    code: Callable[[Call], int] | None = None
    source: str = ""
    helpers: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def contract(self) -> str:
        """What names the header and the params struct: left of `__`, unless they are the kernel's own."""
        return self.struct or self.symbol.split("__")[0]

    @property
    def has_code(self) -> bool:
        """Whether the operator is a step; without, its results are bytes of others."""
        return self.form not in (Form.ALIAS, Form.JOIN)

    @property
    def slides(self) -> bool:
        """Whether the kernel makes an output row from a window of input rows."""
        return self.form in (Form.WINDOW, Form.RING)

    def function(self, call: Call) -> str:
        """The C function that computes the call: the symbol, with the constants of its variant."""
        values = self.variant(call) if self.variant else {}
        return "_".join([self.symbol, *(f"{name}{value}".replace("-", "m") for name, value in values.items())])

    @property
    def source_name(self) -> str:
        return self.source or f"{self.symbol.removeprefix('mg_')}.c"

    def refusals(self, call: Call, features: frozenset[str]) -> list[str]:
        """Why this kernel cannot run the call; empty if it can."""
        missing = sorted(self.needs - features)
        found = [f"the core has no {feature}" for feature in missing]
        return found + [(rule.__doc__ or rule.__name__).strip() for rule in self.accepts if not rule(call)]

    def pointer_operands(self, call: Call) -> tuple[int, ...]:
        """Indices of the inputs that the C call passes as pointers."""
        if self.operands is not None:
            return self.operands
        return tuple(k for k, t in enumerate(call.inputs) if t is not None and call.constants[k] is None)


@dataclass(frozen=True)
class Source:
    """An operator as a format describes it: neutral names, for an Import's build function.

    attributes: see Attributes; inputs, constants, outputs: types and data as declared in the file.
    """

    name: str
    attributes: Attributes
    inputs: tuple[TensorType | None, ...]
    constants: tuple[np.ndarray | None, ...]
    outputs: tuple[TensorType, ...]

    def constant(self, k: int) -> np.ndarray | None:
        return self.constants[k] if k < len(self.constants) else None

    def ints(self, k: int) -> tuple[int, ...] | None:
        """Operand k as integers if it is constant, None if it is missing or computed at run time."""
        data = self.constant(k)
        return None if data is None else tuple(int(v) for v in data.reshape(-1))


class Attributes:
    """The attributes of an imported operator. Remembers which were read: an unread one that matters is an error."""

    def __init__(self, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._defaults = dict(defaults)
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        """The value of an attribute. Raises CorruptModelError where the file carries options of another operator."""
        if name not in self._values and name not in self._defaults:
            raise CorruptModelError(f"carries no attribute {name}", hint="the file is damaged")
        self._read.add(name)
        return self._values.get(name, self._defaults.get(name))

    def unread(self) -> dict[str, Any]:
        """Attributes that differ from the schema's default and that nobody looked at."""
        return {
            name: value
            for name, value in self._values.items()
            if name not in self._read and name in self._defaults and value != self._defaults[name]
        }


@dataclass(frozen=True)
class Imported:
    """What an Import builds: the operator, which of the source's inputs it reads (None: all of them), and whether
    TensorFlow Lite Micro refuses these attributes, whatever the types.
    """

    op: Op
    inputs: tuple[int, ...] | None = None
    tflm_refuses: bool = False


@dataclass(frozen=True)
class Import:
    """`name` of `format` becomes this operator; `build` translates the attributes (None: there are none)."""

    format: str
    name: str
    build: Callable[[Source], Imported] | None = None
    since: int = 1


@dataclass(frozen=True, eq=False)
class Slimmed:
    """An operator on fewer channels, and the constant operands that changed or came: operand -> (type, data)."""

    op: Op
    constants: Mapping[int, tuple[TensorType, np.ndarray]] = field(default_factory=dict)


class Op:
    """Base of all operators: subclasses are frozen dataclasses."""

    imports: ClassVar[tuple[Import, ...]] = ()
    kernels: ClassVar[tuple[Kernel, ...]] = ()
    weight_operands: ClassVar[tuple[int, ...]] = ()
    """Operands that are weights: a legacy uint8 constant there is widened to s16 with its zero point subtracted."""

    takes_unsigned: ClassVar[bool] = False
    """Whether the kernels read and write uint8 themselves; for all other operators it is turned into int8 first."""

    tflm_refuses: ClassVar[frozenset[str]] = frozenset({"u8"})
    """Element types, of operands or results, that TensorFlow Lite Micro has no kernel for."""

    def infer(self, *inputs: TensorType | None) -> tuple[TensorType, ...]:
        """The result types; `quant` is ignored, since formats state it. Raises ShapeError on contradictions."""
        raise NotImplementedError

    def reference(self, *inputs: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        """The meaning on real numbers, in float64."""
        raise NotImplementedError

    def reference_q(self, call: Call, *inputs: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        """The bit-exact meaning on the stored integers, as `call.reference` computes it."""
        raise NotImplementedError

    def fold(self, call: Call) -> tuple[np.ndarray, ...] | None:
        """The results if they are known at build time: by default when every operand is constant.

        Results much larger than the constants, or costly ones, are left to the run: a few bytes of a model file must
        not make the build allocate or compute without bound.
        """
        if any(t is not None and c is None for t, c in zip(call.inputs, call.constants, strict=True)):
            return None
        given = sum(c.size for c in call.constants if c is not None)
        if sum(t.size for t in call.outputs) > max(MAX_FOLDED_ELEMENTS, 4 * given) or self.macs(call) > MAX_FOLDED_MACS:
            return None
        return evaluate(call, call.constants)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """Bounds of each result's stored integers per channel, for operands within `call.range_of`.

        By default what the type can store. They must hold for the runtime's own rounding, saturation and wrapping.
        """
        return tuple(channels.whole(t) for t in call.outputs)

    def accumulators(self, call: Call) -> Range | None:
        """Bounds of the sum, bias and zero points included, that each output channel's requantization gets.

        They are of the exact sum: where they leave 32 bits, the sum may wrap. None for operators without such sums,
        for floats, and where weights are not constant.
        """
        return None

    def removable(self, call: Call, asked: Removal) -> Removal:
        """Of the channels asked for, the most that this operator can do without; by default none.

        A result's channel may always go if nothing else stands against it: nobody reads it. An operand's may go where
        no result that stays depends on it, or where `call.range_of` has one value for it that can be worked into
        constants. Asking for less must never give more.
        """
        return asked.none

    def without(self, call: Call, removed: Removal) -> Slimmed:
        """The operator without channels that `removable` has agreed to: the same bits in all others."""
        raise InternalError(f"{self} cannot do without channels")

    def byte_table(self, call: Call) -> np.ndarray | None:
        """The result byte for each byte of operand 0, at its unsigned value, where that alone decides; or None."""
        return None

    def is_identity(self, call: Call) -> bool:
        """Whether the only result is operand 0, in type and in all values that it can have."""
        return False

    def clamped(self, call: Call, low: int, high: int) -> Op | None:
        """This operator with its results clamped to [low, high] as stored, if an activation of it says that."""
        return None

    def unmoved(self, call: Call) -> Op | None:
        """This operator with the operands lying in the result, or the results in the operand: the same bytes, and a
        kernel without code. None where bytes have to move, or change.
        """
        return None

    def padded(self, call: Call, widths: Widths, value: int | float) -> Op | None:
        """This operator on an image to which `widths` rows and columns of `value` were added to make operand 0.

        call: as it is, on the larger image. None where it cannot see to the padding itself, with the same bits.
        """
        return None

    def macs(self, call: Call) -> int:
        """Multiply-accumulates of one execution; 0 for operators without."""
        return 0

    def refused_by_tflm(self, call: Call) -> bool:
        """Whether TensorFlow Lite Micro refuses this call, so that only LiteRT's bits exist."""
        types = [t for t in (*call.inputs, *call.outputs) if t is not None]
        return any(t.dtype in self.tflm_refuses for t in types)

    def flipped(self) -> Op:
        """This operator on int8 data made from uint8 by flipping the top bit; itself where nothing depends on it."""
        return self

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Calls this operator is tested on."""
        return ()


@dataclass(frozen=True, eq=False)
class Example:
    """A call to test: types only, data is drawn by the test from `seed`.

    constants: operand index -> None (drawn over the type's range, avoiding the weight -128) or the data itself.
    """

    op: Op
    inputs: tuple[TensorType | None, ...]
    outputs: tuple[TensorType, ...]
    constants: Mapping[int, np.ndarray | None]
    seed: int = 0


def evaluate(call: Call, arrays: Sequence[np.ndarray | None]) -> tuple[np.ndarray, ...]:
    """Compute a call with the operator's own reference; results have the call's result types.

    Float calls run `reference` in float64 and round once to the result type; all others run `reference_q`.
    """
    given = [t for t in (*call.inputs, *call.outputs) if t is not None]
    if all(t.is_float for t in given):
        widened = [None if a is None else np.asarray(a, np.float64) for a in arrays]
        result = call.op.reference(*widened)  # type: ignore[arg-type]
    else:
        result = call.op.reference_q(call, *arrays)  # type: ignore[arg-type]
    results = result if isinstance(result, tuple) else (result,)
    with np.errstate(over="ignore"):
        pairs = zip(results, call.outputs, strict=True)
        return tuple(np.asarray(r).astype(t.np_dtype).reshape(t.shape) for r, t in pairs)
