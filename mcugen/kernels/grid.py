"""OpenCL kernels generated from elementwise expressions: one work-item computes one element."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from mcugen.ir.alike import keeps
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Line, Loop, Operand, Walk, in_opencl
from mcugen.ir.kernel import Cost, Grid, Kernel, Text
from mcugen.system import resources

TYPES = {
    "f32": "float",
    "s8": "char",
    "u8": "uchar",
    "s16": "short",
    "s32": "int",
    "bool": "uchar",
}
"""Element type -> its storage type in OpenCL C."""

_SCALARS = {"float": "float", "int32_t": "int", "int16_t": "int", "int8_t": "int", "uint32_t": "int"}
_STRUCT = r"typedef struct(?: \w+)? \{([^{}]*)\} NAME;"
_MEMBER = re.compile(r"(?:const )?(\w+) ([^;]*);")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_AXES = 5
"""Number of axes of a broadcast besides the innermost."""


@dataclass(frozen=True)
class GridLoop:
    """A loop over elements as an OpenCL kernel. half_in, half_out: whether float operands and results are float16."""

    loop: Loop
    half_in: bool = False
    half_out: bool = False

    @property
    def digest(self) -> str:
        return self.loop.digest

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of the runtime that the expressions call."""
        return self.loop.headers

    def files(self, function: str) -> dict[str, str]:
        """Name of the file -> text of the kernel."""
        arguments = ",\n    ".join(self._arguments())
        body = "".join(f"    {line}\n" for line in self._body())
        return {f"{function.removeprefix('mg_')}.cl": f"kernel void {function}(\n    {arguments})\n{{\n{body}}}\n"}

    @property
    def _tensors(self) -> list[Operand]:
        return [o for o in self.loop.operands if o.is_tensor]

    def _arguments(self) -> Iterator[str]:
        for k in range(len(self._tensors)):
            yield f"global const uchar *mem_in{k}, const uint at_in{k}"
        yield "global uchar *mem_out, const uint at_out"
        for o in self.loop.operands:
            if o.kind == "vector":
                yield f"global const uchar *mem_{o.name}, const uint at_{o.name}"
            if o.kind == "number":
                yield f"const {_computed(o.dtype)} {o.name}"
        yield from _constants(self.loop)
        if self.loop.walk is Walk.VECTOR:
            yield "const int run"
        if self.loop.walk is Walk.BROADCAST:
            yield "global const uchar *mem_layout__walk, const uint at_layout__walk, const int layout__run"
        yield "const int total"

    def _body(self) -> Iterator[str]:
        yield from ("const int i = (int)get_global_id(0);", "if (i >= total) {", "    return;", "}")
        if self.loop.walk is Walk.BROADCAST:
            yield from self._places()
        yield from _structs(self.loop)
        yield from (self._operand(o) for o in self.loop.operands if o.kind != "number")
        yield from _lines(self.loop)
        last: Line = self.loop.lines[-1]
        if self.half_out and last.dtype == "f32":
            yield f"vstore_half_rte({last.name}, i, (global half *)(mem_out + at_out));"
        else:
            yield f"((global {TYPES[last.dtype]} *)(mem_out + at_out))[i] = ({TYPES[last.dtype]}){last.name};"

    def _places(self) -> Iterator[str]:
        """C code that computes the index of the element of each operand."""
        first, second = (o.name for o in self.loop.operands)
        yield "global const uint *const walk = (global const uint *)(mem_layout__walk + at_layout__walk);"
        yield f"uint rest = (uint)i / (uint)layout__run, from_{first} = 0u, from_{second} = 0u;"
        yield f"for (int axis = {_AXES - 1}; axis >= 0; axis--) {{"
        yield "    const uint k = rest % walk[axis];"
        yield "    rest /= walk[axis];"
        yield f"    from_{first} += k * walk[axis + {_AXES}];"
        yield f"    from_{second} += k * walk[axis + {2 * _AXES}];"
        yield "}"

    def _operand(self, o: Operand) -> str:
        index = {Walk.RUN: "i", Walk.VECTOR: "i"}.get(self.loop.walk, f"from_{o.name} + (uint)i % (uint)layout__run")
        index = "i % run" if o.kind == "vector" else f"from_{o.name}" if o.kind == "repeated" else index
        name = o.name if o.kind == "vector" else f"in{self._tensors.index(o)}"
        if self.half_in and o.dtype == "f32" and o.is_tensor:
            return f"const float {o.name} = vload_half({index}, (global const half *)(mem_{name} + at_{name}));"
        return (
            f"const {_computed(o.dtype)} {o.name} = "
            f"((global const {TYPES[o.dtype]} *)(mem_{name} + at_{name}))[{index}];"
        )


@dataclass(frozen=True)
class Tail:
    """An elementwise operation fused to the end of a kernel. Its operands are the kernel's result and another tensor.

    The kernel's text calls TAIL(result, other) and has TAIL_ARGUMENTS among its arguments. A fused addition thus has
    the same expressions as a separate one. first: whether the kernel's result is the loop's first operand.
    """

    loop: Loop
    first: bool = True

    @property
    def digest(self) -> str:
        """A hash of the expressions and of the order of the operands."""
        return f"{self.loop.digest}{'' if self.first else '-swapped'}"

    @property
    def headers(self) -> tuple[str, ...]:
        return self.loop.headers

    def into(self, text: str, function: str) -> str:
        """The text of a kernel, preceded by the C function that computes the expressions."""
        own, other = self.loop.operands if self.first else self.loop.operands[::-1]
        constants = list(_constants(self.loop))
        arguments = ", ".join([f"const int {own.name}", f"const int {other.name}", *constants])
        body = "".join(f"    {line}\n" for line in (*_structs(self.loop), *_lines(self.loop)))
        given = ", ".join(["own", "other", *(argument.split()[-1] for argument in constants)])
        head = f"static inline int {function}_tail({arguments})\n{{\n{body}    return {self.loop.lines[-1].name};\n}}\n"
        macro = f"#define TAIL(own, other) {function}_tail({given})\n"
        return head + macro + text.replace("TAIL_ARGUMENTS", "".join(f"{argument}, " for argument in constants))


def _constants(loop: Loop) -> Iterator[str]:
    """A loop's constants as kernel arguments."""
    for name, c_type in loop.fields:
        yield from (f"const {scalar} {argument}" for argument, scalar in arguments_of(name, c_type))


def _structs(loop: Loop) -> Iterator[str]:
    """Declarations of the structs that a loop's expressions use, built from kernel arguments."""
    for name, c_type in loop.fields:
        if c_type not in _SCALARS:
            values = ", ".join(f"({t}){argument}" for argument, t in _members(name, c_type))
            yield f"const {c_type} {name} = {{{values}}};"


def _lines(loop: Loop) -> Iterator[str]:
    """A loop's expressions as statements."""
    yield from (f"const {_computed(line.dtype)} {line.name} = {in_opencl(line.text)};" for line in loop.lines)


def arguments_of(name: str, c_type: str) -> list[tuple[str, str]]:
    """(name, type) of the kernel arguments for a constant of a loop: one for a number, one per member for a struct."""
    if c_type in _SCALARS:
        return [(name, _SCALARS[c_type])]
    return [(argument, _SCALARS[t]) for argument, t in _members(name, c_type)]


def _struct_arguments(name: str, c_type: str) -> list[tuple[str, str]]:
    """(name, type) of the kernel arguments for the members of a struct; empty for a number. Members without a value are
    0."""
    return [] if c_type in _SCALARS else arguments_of(name, c_type)


def _members(name: str, c_type: str) -> list[tuple[str, str]]:
    return [(f"{name}__{member}", t) for member, t in members_of(c_type) or ()]


@functools.cache
def members_of(c_type: str) -> tuple[tuple[str, str], ...] | None:
    """The members of a struct of the runtime's headers as (name, C type); None if a member is not a number."""
    for name, file in resources.c_files().items():
        text = file.text if name.endswith(".h") else ""
        found = re.search(_STRUCT.replace("NAME", re.escape(c_type)), text)
        if found:
            return _numbers(_COMMENT.sub("", found[1]))
    return None


def _numbers(text: str) -> tuple[tuple[str, str], ...] | None:
    members: list[tuple[str, str]] = []
    for declared in _MEMBER.finditer(text):
        names = [name.strip() for name in declared[2].split(",")]
        if declared[1] not in _SCALARS or not all(name.isidentifier() for name in names):
            return None
        members += [(name, declared[1]) for name in names]
    return tuple(members)


def _computed(dtype: str) -> str:
    """The OpenCL C type in which values of an element type are computed."""
    return "float" if dtype == "f32" else "int"


def of_loop(kernel: Kernel, needs: frozenset[str]) -> Kernel:
    """The device kernel with the expressions of a generated C kernel."""
    generate, params = kernel.text.generate, kernel.params
    assert generate is not None

    def takes_numbers(call: Call) -> bool:
        "the constants of the expressions are numbers, and tensors have types of OpenCL C"
        if not all(keeps(call, rule) for rule in kernel.accepts):
            return False
        found = generate(call)
        return isinstance(found, Loop) and _is_plain(found)

    def fields(call: Call) -> Params:
        given: dict[str, Any] = dict(params(call)) if params else {}
        named = {name.replace(".", "__"): value for name, value in given.items()}
        unset = dict.fromkeys((a for field in generate(call).fields for a, _ in _struct_arguments(*field)), 0)  # type: ignore[attr-defined]
        return {**unset, **named, "total": call.output.size}

    return replace(
        kernel,
        symbol=f"{kernel.symbol}__cl" if "__" not in kernel.symbol else f"{kernel.symbol}_cl",
        form=Grid(halved=()),
        accepts=(*kernel.accepts, takes_numbers),
        params=fields,
        text=Text(generate=lambda call: GridLoop(generate(call))),  # type: ignore[arg-type]
        cost=Cost(),
        needs=needs,
    )


def _is_plain(loop: Loop) -> bool:
    dtypes = {o.dtype for o in loop.operands} | {line.dtype for line in loop.lines}
    known = all(c_type in _SCALARS or members_of(c_type) is not None for _, c_type in loop.fields)
    return known and dtypes <= TYPES.keys()
