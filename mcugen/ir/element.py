"""Expressions for one element of an elementwise operator, and the C functions generated from them.

An expression must be valid C99 and OpenCL C. It calls functions by their OpenCL names (`exp`, not `expf`), or helpers
of the runtime's headers. The loops around it are templates in templates/elements, one for each `Walk`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from string import Template

from mcugen.ir.call import Call, Param, Params
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.system import resources

TERMS = ("clamped", "slow")
"""Names of the counts of `Element.work`."""

OPERANDS = "abcdefgh"
"""Names of operands in expressions; a loop has at most this many."""

_CONSTANT_LIST = (
    ("s8", "int8_t"), ("u8", "uint8_t"), ("bool", "uint8_t"),
    ("s16", "int16_t"), ("s32", "int32_t"), ("u32", "uint32_t"), ("s64", "int64_t"), ("f32", "float"),
)  # fmt: skip
_CONSTANT = dict(_CONSTANT_LIST)
_STORED = _CONSTANT | {"s16": "mg_s16", "s32": "mg_s32", "u32": "mg_u32", "s64": "mg_s64", "f32": "mg_f32"}
_NARROW = frozenset({"s8", "u8", "s16", "bool"})
_NAME = re.compile(r"(?<![.\w>])([A-Za-z_]\w*)(\(?)")
_LIBRARY_LIST = """
    acos acosh asin asinh atan atanh ceil cos cosh expm1 fabs floor fmod log log1p pow rint sin sinh sqrt tan
"""
_LIBRARY = frozenset(_LIBRARY_LIST.split())
"""Functions of OpenCL C whose float versions in the C library have an f appended to the name."""

_CURVES = {"erf": "mg_erf", "exp": "mg_exp", "tanh": "mg_tanh"}
"""Functions of OpenCL C that curves.h has instead of the C library."""

_IN_C = _CURVES | {name: f"{name}f" for name in _LIBRARY}
_IN_OPENCL = {in_c: name for name, in_c in _IN_C.items()}

_LINE = 116


@dataclass(frozen=True)
class Element:
    """One element of a result: an expression in the operands a, b, ... of the operator and in named constants.

    text      the expression; integers are computed as int32_t, u32 as uint32_t, s64 as int64_t
    odd       the expression of elements with an odd index, if it differs
    tables    indices of constant operands that the expression reads as arrays, which `fields` lists
    fields    name of a constant in the expression -> its C type, which may be a pointer to an array
    params    the values of `fields`, or of members of `fields` that are structs
    bounds    bounds that the result is clamped to; no clamp where a bound is infinite
    swapped   whether a is the operator's second operand, and b its first
    commutes  whether the operands may be exchanged, so that one function serves if either of them is constant
    unroll    elements per iteration of the loop; more than one only if the expression is a single function call
    slow      whether the expression takes clearly longer than the operator's other expressions, for estimates of cycles
    headers   headers of the runtime for the functions that the expression calls
    """

    text: str
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)
    params: Callable[[Call], Params] = lambda call: {}
    bounds: Callable[[Call], tuple[float, float]] = lambda call: (-math.inf, math.inf)
    swapped: Callable[[Call], bool] = lambda call: False
    commutes: bool = False
    unroll: int = 1
    slow: bool = False
    headers: tuple[str, ...] = ()
    odd: str = ""
    tables: tuple[int, ...] = ()

    def limits(self, call: Call) -> dict[str, float]:
        """The bounds of the clamp that lie within the range of the result's type, by the names `low` and `high`."""
        lowest, highest = INT_RANGE.get(call.output.dtype, (-math.inf, math.inf))
        low, high = self.bounds(call)
        return {name: v for name, v in (("low", low), ("high", high)) if lowest < v < highest}

    def constants(self, call: Call) -> dict[str, Param]:
        """The fields that the expression and its clamp need."""
        of_type = float if call.output.dtype == "f32" else int
        return {**self.params(call), **{name: of_type(value) for name, value in self.limits(call).items()}}

    def work(self, call: Call) -> dict[str, float]:
        """Counts for estimates of cycles: elements clamped per bound, and elements of slow expressions."""
        size = float(call.output.size)
        return {"clamped": size * len(self.limits(call)), "slow": size * self.slow}

    def order(self, call: Call) -> tuple[int, ...]:
        """For each operand a, b, ... of the expression, the index of the operator's operand."""
        found = tuple(k for k in range(len(call.inputs)) if k not in self.tables)
        constant_first = self.commutes and call.constants[0] is not None
        return found[::-1] if constant_first or self.swapped(call) else found


Stated = Element | Callable[[Call], Element]
"""The element that an operator declares: the same for all calls, or a function of the call."""


def element_of(stated: Stated, call: Call) -> Element:
    """The expression that an operator declares for a call: `stated` itself, or its result for the call."""
    return stated if isinstance(stated, Element) else stated(call)


class Walk(Enum):
    """The way in which a loop pairs the elements of the operands. Each way has a template.

    RUN        n elements of each tensor
    VECTOR     n pixels of `run` elements; constant vectors begin again at each pixel
    BROADCAST  two whole tensors, as mcugen/elementwise.h describes
    """

    RUN = "run"
    VECTOR = "vector"
    BROADCAST = "broadcast"


@dataclass(frozen=True)
class Operand:
    """A value that expressions refer to as `name`.

    kind: "tensor"; "repeated", a tensor whose element BROADCAST repeats along the innermost axis; "vector", a constant
    along the last axis; or "number", a constant.
    """

    name: str
    dtype: str
    kind: str = "tensor"

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("tensor", "repeated")


@dataclass(frozen=True)
class Line:
    """A value and its C expression, which may use operands, constants and values of earlier lines.

    odd: the expression of elements with an odd index, if it differs.
    """

    name: str
    dtype: str
    text: str
    odd: str = ""


@dataclass(frozen=True)
class Loop:
    """A C function over elements: its operands, its constants as (name, C type), and the lines that compute.

    results: names of the lines whose values are stored; () for the last line. size: number of elements if the function
    computes whole tensors (its walk is then RUN); 0 if the caller passes the number.
    """

    walk: Walk
    operands: tuple[Operand, ...]
    fields: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    headers: tuple[str, ...] = ()
    unroll: int = 1
    results: tuple[str, ...] = ()
    size: int = 0

    @property
    def digest(self) -> str:
        """Six hexadecimal digits of a hash of the files' text."""
        return _digest(self)

    def files(self, function: str) -> dict[str, str]:
        """The header and the source that define `function`, by name."""
        stem, outputs = function.removeprefix("mg_"), {line.name: name for name, line in self._stored()}
        values = {
            "function": function,
            "stem": stem,
            "guard": f"MCUGEN_{stem.upper()}_H",
            "lines": "".join(map(_comment, (replace(x, name=outputs.get(x.name, x.name)) for x in self.lines))),
            "includes": "".join(f'#include "mcugen/{name}"\n' for name in self._headers()),
            "library": "\n#include <math.h>\n" if any(_calls_library(line.text) for line in self.lines) else "",
            "params": self._struct(function),
            "head": self._head(function),
            "locals": "".join(f"    {text}\n" for text in self._locals()),
            "loop": self._loop("    " if self.walk is Walk.RUN else "        "),
        }
        names = {"h": "header", "c": self.walk.value}
        return {f"{stem}.{suffix}": _template(name).substitute(values) for suffix, name in names.items()}

    @property
    def has_params(self) -> bool:
        """Whether the function takes constants."""
        return self.walk is not Walk.RUN or bool(self.fields) or any(not o.is_tensor for o in self.operands)

    def _headers(self) -> list[str]:
        first = "elementwise.h" if self.walk is Walk.BROADCAST else "runtime.h"
        own = any(f"{name}(" in line.text for line in self.lines for name in _CURVES.values())
        return list(dict.fromkeys([first, *self.headers, *(["curves.h"] if own else [])]))

    def _struct(self, function: str) -> str:
        if not self.has_params:
            return ""
        members = [f"const {_CONSTANT[o.dtype]} *{o.name};" for o in self.operands if o.kind == "vector"]
        members += [f"{_CONSTANT[o.dtype]} {o.name};" for o in self.operands if o.kind == "number"]
        members += [f"{_declared(c_type, name)};" for name, c_type in self.fields]
        members += {Walk.RUN: [], Walk.VECTOR: ["uint32_t run;"], Walk.BROADCAST: ["mg_elementwise layout;"]}[self.walk]
        return "typedef struct {\n" + "".join(f"    {m}\n" for m in members) + f"}} {function}_params;\n\n"

    def _head(self, function: str) -> str:
        arguments = [f"const {function}_params *p"] if self.has_params else []
        arguments += [f"const {_STORED[o.dtype]} *in_{o.name}" for o in self.operands if o.is_tensor]
        arguments += [f"{_STORED[line.dtype]} *{name}" for name, line in self._stored()]
        arguments += [] if self.walk is Walk.BROADCAST or self.size else ["uint32_t n"]
        return _wrapped(f"void {function}(", arguments)

    def _locals(self) -> Iterator[str]:
        """Declarations that copy the constants to locals, so that the compiler need not reload them after each
        store.
        """
        for o in self.operands:
            if o.kind == "vector":
                yield f"const {_CONSTANT[o.dtype]} *const in_{o.name} = p->{o.name};"
            if o.kind == "number":
                yield f"const {_value(o.dtype)} {o.name} = p->{o.name};"
        for name, c_type in self.fields:
            yield f"{_declared(c_type if c_type.endswith('*') else f'const {c_type}', name, const=True)} = p->{name};"

    def _loop(self, indent: str) -> str:
        """The innermost loop: `unroll` elements in each iteration, and the rest one by one."""
        tensors = [o for o in self.operands if o.is_tensor]
        if self.size:
            return self._whole(indent)
        if self.walk is Walk.RUN and len(tensors) > 1 and tensors[0].dtype in _NARROW:
            return self._moving(tensors, indent)
        count = "n" if self.walk is Walk.RUN else "run"
        first, text = "0u", ""
        if self.unroll > 1:
            first = f"({count} & ~{self.unroll - 1}u)"
            turn = "".join(f"{indent}    {self._inlined('i' if k == 0 else f'i + {k}u')}\n" for k in range(self.unroll))
            text = f"{indent}for (uint32_t i = 0u; i < {first}; i += {self.unroll}u) {{\n{turn}{indent}}}\n"
        body = self._body("i", indent + 4 * " ")
        return f"{text}{indent}for (uint32_t i = {first}; i < {count}; i += 1u) {{\n{body}{indent}}}\n"

    def _whole(self, indent: str) -> str:
        """The loop over whole tensors; two elements per iteration if those with an odd index have other expressions."""
        inside = indent + 4 * " "
        if not any(line.odd for line in self.lines):
            head = f"{indent}for (uint32_t i = 0u; i < {self.size}u; i += 1u) {{\n"
            return f"{head}{self._body('i', inside)}{indent}}}\n"
        deep = inside + 4 * " "
        pairs = [self._body("i", deep), self._body("i + 1u", deep, odd=True)]
        blocks = "".join(f"{inside}{{\n{body}{inside}}}\n" for body in pairs)
        text = f"{indent}for (uint32_t i = 0u; i < {self.size & ~1}u; i += 2u) {{\n{blocks}{indent}}}\n"
        return text + (self._body(f"{self.size - 1}u", indent) if self.size % 2 else "")

    def _moving(self, tensors: Sequence[Operand], indent: str) -> str:
        """The loop of RUN over several tensors, of which the first has elements of 8 or 16 bits.

        The loop moves the pointers and compares the first with its end. This takes fewer registers than an index, which
        matters on Cortex-M0+. For wider elements, compilers would compute the number of iterations in each call.
        """
        first, *others = (f"in_{o.name}" for o in tensors)
        c_type = _STORED[tensors[0].dtype]

        def loop(start: str, end: str, turn: str, step: int) -> str:
            read = turn.replace(f"{first}[", "at[")
            moved = "".join(f"{indent}    {name} += {step};\n" for name in (*others, "out"))
            head = f"{indent}for (const {c_type} *at = {start}; at < {end}; at += {step}) {{\n"
            return f"{head}{read}{moved}{indent}}}\n"

        heads = [f"{indent}const {c_type} *const end = {first} + n;\n"]
        rest = self._body("0", indent + 4 * " ")
        if self.unroll == 1:
            return "".join([*heads, loop(first, "end", rest, 1)])
        heads.append(f"{indent}const {c_type} *const whole = {first} + (n & ~{self.unroll - 1}u);\n")
        turn = "".join(f"{indent}    {self._inlined(str(k))}\n" for k in range(self.unroll))
        return "".join([*heads, loop(first, "whole", turn, self.unroll), loop("whole", "end", rest, 1)])

    def _stored(self) -> list[tuple[str, Line]]:
        """The lines whose values are stored, each with the name of its argument."""
        lines = {line.name: line for line in self.lines}
        found = [lines[name] for name in self.results] or [self.lines[-1]]
        return [(f"out_{k}" if k else "out", line) for k, line in enumerate(found)]

    def _body(self, index: str, indent: str, odd: bool = False) -> str:
        lines = [
            f"const {_value(o.dtype)} {o.name} = {self._element(o.name, index, o.kind)};"
            for o in self.operands
            if o.kind != "number"
        ]
        # A narrow result gets a variable too; else gcc would narrow the operands of its expression, which is slower.
        last, stored = self.lines[-1], self._stored()
        named = self.lines if last.dtype in _NARROW or stored != [("out", last)] else self.lines[:-1]
        texts = [(line, (odd and line.odd) or line.text) for line in self.lines]
        lines += [f"const {_value(line.dtype)} {line.name} = {text};" for line, text in texts if line in named]
        lines += [self._store(line.name if line in named else texts[-1][1], index, name, line) for name, line in stored]
        return "".join(f"{indent}{line}\n" for line in lines)

    def _inlined(self, index: str) -> str:
        """The statement for an element, if the loop has one line: its expression with the operands' elements
        inserted.
        """
        values = {o.name: self._element(o.name, index, o.kind) for o in self.operands if o.kind != "number"}
        return self._store(_renamed(self.lines[0].text, values), index, "out", self.lines[0])

    def _store(self, text: str, index: str, name: str, line: Line) -> str:
        value = f"({_CONSTANT[line.dtype]}){text}" if line.dtype in _NARROW else text
        return f"{self._element('', index).replace('out', name, 1)} = {value};"

    def _element(self, name: str, index: str, kind: str = "tensor") -> str:
        """The C expression of an element of operand `name`, or of the result if `name` is ""."""
        pointer = f"in_{name}" if name else "out"
        if self.walk is Walk.RUN or kind == "vector":
            return f"{pointer}[{index}]"
        if self.walk is Walk.VECTOR or not name:
            return f"{pointer}[at + {index}]"
        return f"{pointer}[from.{name}]" if kind == "repeated" else f"{pointer}[from.{name} + {index}]"


def loop(element: Element, call: Call, walk: Walk, kinds: Sequence[str]) -> Loop:
    """The loop of one operator. kinds: `Operand.kind` of the expression's operands."""
    order = element.order(call)
    operands = [Operand(n, call.input(k).dtype, kind) for n, k, kind in zip(OPERANDS, order, kinds, strict=False)]
    fields, lines = composed(element, call, {}, 0)
    return Loop(walk, tuple(operands), tuple(fields), tuple(lines), element.headers, element.unroll)


def composed(
    element: Element, call: Call, names: Mapping[str, str], after: int
) -> tuple[list[tuple[str, str]], list[Line]]:
    """The constants (name, C type) and the lines of an operator in a loop.

    names: the loop's names for the expression's operands and constants, if they differ. after: number of earlier lines.
    """
    dtype, limits = call.output.dtype, element.limits(call)
    fields = [*element.fields.items(), *((name, _value(dtype)) for name in limits)]
    texts = [f"y {'<' if name == 'low' else '>'} {name} ? {name} : y" for name in limits]
    value = names.get(element.text, element.text)
    if not (texts and element.text in OPERANDS):  # else the operator only clamps an operand
        texts, value = [element.text, *texts], ""
    lines: list[Line] = []
    for k, text in enumerate(texts, after):
        odd = element.odd if text is element.text else ""
        both = [_renamed(_in_c(t), {**names, "y": value}) for t in (text, odd)]
        lines.append(Line(f"y{k}", dtype, *both))
        value = f"y{k}"
    return [(names.get(name, name), c_type) for name, c_type in fields], lines


def _value(dtype: str) -> str:
    """The C type in which values of an element type are computed."""
    return {"f32": "float", "s64": "int64_t", "u32": "uint32_t"}.get(dtype, "int32_t")


def _declared(c_type: str, name: str, const: bool = False) -> str:
    """The declaration of a variable or member. const: whether a pointer, not what it points to, is constant."""
    pointer = c_type.endswith("*")
    return f"{c_type}{'const ' if pointer and const else ''}{name}" if pointer else f"{c_type} {name}"


def _comment(line: Line) -> str:
    """The lines of a header's comment for one value: its name and expression."""
    odd = f" *   {line.name} of elements with an odd index = {line.odd}\n" if line.odd else ""
    return f" *   {line.name} = {line.text}\n{odd}"


def _in_c(text: str) -> str:
    """An expression with OpenCL function names replaced by those of curves.h or of the C library for float."""
    return _NAME.sub(lambda m: f"{_IN_C[m[1]]}(" if m[2] and m[1] in _IN_C else m[0], text)


def in_opencl(text: str) -> str:
    """C text with functions of curves.h or of the C library replaced by those of OpenCL C, such as expf by exp."""
    return _NAME.sub(lambda m: f"{_IN_OPENCL[m[1]]}(" if m[2] and m[1] in _IN_OPENCL else m[0], text)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """An expression with its operands and constants renamed."""
    return _NAME.sub(lambda m: m[0] if m[2] else names.get(m[1], m[1]), text)


def _calls_library(text: str) -> bool:
    return any(f"{name}f(" in text for name in _LIBRARY)


def _wrapped(start: str, arguments: Sequence[str]) -> str:
    """The head of a function, on several lines if it is too long for one line."""
    lines = [start]
    for k, argument in enumerate(arguments, 1):
        text = argument + (")" if k == len(arguments) else ", ")
        if len(lines[-1]) + len(text) > _LINE:
            lines.append(" " * len(start))
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines)


@cache
def _digest(made: Loop) -> str:
    return hashlib.sha256("".join(made.files("mg_").values()).encode()).hexdigest()[:6]


@cache
def _template(name: str) -> Template:
    return Template((resources.templates() / "elements" / f"{name}.txt").read_text(encoding="utf-8"))
