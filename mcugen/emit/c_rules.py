"""Rules for emitted C, apart from loops: no jumps, no hidden calls, no heap, no state, nothing of unknown size.

Each rule yields (node, detail) for each violation. A rule's docstring is its error message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from mcugen.emit.c_unit import Unit, is_function, root, walk

Finding = tuple[c_ast.Node, str]
_Test = Callable[[str], bool]
_HEAP = {"malloc", "calloc", "realloc", "free", "aligned_alloc", "alloca", "strdup", "sbrk"}
_SYSTEM = {"setjmp", "longjmp", "signal", "raise", "exit", "abort", "atexit", "system", "getenv", "assert"}
_STDIO = re.compile(
    r"v?(f|s|sn|d|as)?(printf|scanf)|f?(puts|putc|putchar|gets|getc|getchar)|f(open|close|read|write|flush|seek)|perror"
)


def no_goto(unit: Unit) -> Iterator[Finding]:
    """there is no goto, and no label but case and default"""
    for node in unit.nodes:
        if isinstance(node, c_ast.Goto | c_ast.Label):
            yield node, node.name


def no_heap(unit: Unit) -> Iterator[Finding]:
    """memory comes from the caller or the stack, never from a heap"""
    yield from _mentions(unit, lambda name: name in _HEAP)


def no_system_calls(unit: Unit) -> Iterator[Finding]:
    """there is no setjmp, no signal, no input or output, no call of the operating system"""
    yield from _mentions(unit, lambda name: name in _SYSTEM or _STDIO.fullmatch(name) is not None)


def no_varargs(unit: Unit) -> Iterator[Finding]:
    """no function takes a variable number of arguments"""
    for node in unit.nodes:
        if isinstance(node, c_ast.EllipsisParam):
            yield node, "..."
    yield from _mentions(unit, lambda name: name.removeprefix("__builtin_").startswith("va_"))


def calls_declared(unit: Unit) -> Iterator[Finding]:
    """every function called is declared, in this file or a header"""
    for function in unit.defined.values():
        variables = unit.locals_of(function).keys() | unit.variables.keys()
        for node in unit.body_of(function):
            if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
                name = node.name.name
                if name not in unit.functions and name not in variables:
                    yield node, name


def no_function_pointers(unit: Unit) -> Iterator[Finding]:
    """functions are called by name, or through a const table at file scope; no other function pointers exist"""
    for variable in unit.variables.values():
        if unit.is_function_pointer(variable.type) and not unit.is_const(variable.type):
            yield variable, variable.name
        if not unit.is_const(variable.type):
            yield from _functions_as_values(unit, list(walk(variable.init)), set())
    yield from _function_parameters(unit)
    for function in unit.defined.values():
        local = unit.locals_of(function)
        for declarations in local.values():
            yield from ((d, d.name) for d in declarations if unit.is_function_pointer(d.type))
        yield from _functions_as_values(unit, unit.body_of(function), set(local))
        yield from _indirect_calls(unit, function, set(local))


def _function_parameters(unit: Unit) -> Iterator[Finding]:
    """Parameters that are functions or pointers to functions, in definitions and prototypes."""
    for node in unit.nodes:
        for parameter in node.args.params if isinstance(node, c_ast.FuncDecl) and node.args else ():
            kind = getattr(parameter, "type", None)
            if kind is not None and (isinstance(kind, c_ast.FuncDecl) or unit.is_function_pointer(kind)):
                yield parameter, parameter.name or "unnamed parameter"


def _functions_as_values(unit: Unit, nodes: Sequence[c_ast.Node], hidden: set[str]) -> Iterator[Finding]:
    """Function names that are used as values, not called."""
    called = {id(n.name) for n in nodes if isinstance(n, c_ast.FuncCall)}
    for n in nodes:
        if isinstance(n, c_ast.ID) and n.name in unit.functions - hidden and id(n) not in called:
            yield n, n.name


def _indirect_calls(unit: Unit, function: c_ast.FuncDef, hidden: set[str]) -> Iterator[Finding]:
    """Calls through an expression that is neither a function's name nor an element of a const table at file scope."""
    for node in unit.body_of(function):
        if isinstance(node, c_ast.FuncCall) and not isinstance(node.name, c_ast.ID):
            name = root(node.name)
            table = unit.variables.get(name) if name is not None and name not in hidden else None
            if table is None or not unit.is_const(table.type):
                yield node, name or "computed"


def no_variable_arrays(unit: Unit) -> Iterator[Finding]:
    """the length of every array is a constant"""
    for node in unit.nodes:
        if isinstance(node, c_ast.ArrayDecl) and node.dim is not None and not _is_constant(unit, node.dim):
            yield node.dim, "the length is computed when the code runs"


def _is_constant(unit: Unit, node: c_ast.Node) -> bool:
    """Whether an expression is a constant. sizeof always is."""
    if isinstance(node, c_ast.ID):
        return node.name in unit.enumerators
    if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
        return True
    if isinstance(node, c_ast.Cast):
        return _is_constant(unit, node.expr)
    if isinstance(node, c_ast.BinaryOp | c_ast.TernaryOp | c_ast.UnaryOp):
        return all(_is_constant(unit, child) for _, child in node.children())
    return isinstance(node, c_ast.Constant)


def no_mutable_statics(unit: Unit) -> Iterator[Finding]:
    """objects that outlive a call are const: all at file scope, and static locals"""
    for node in unit.ast.ext:
        is_object = isinstance(node, c_ast.Decl) and node.name and not is_function(node)
        if is_object and not unit.is_const(node.type):
            yield node, node.name
    for function in unit.defined.values():
        for declarations in unit.locals_of(function).values():
            for d in declarations:
                if {"static", "extern"} & set(d.storage) and not unit.is_const(d.type):
                    yield d, d.name


def _mentions(unit: Unit, banned: _Test) -> Iterator[Finding]:
    """Every use and declaration of a function with a banned name. Members and local objects may have such a name."""
    for node in unit.ast.ext:
        if isinstance(node, c_ast.Decl) and is_function(node) and banned(node.name):
            yield node, node.name
    for node, hidden in unit.names:
        if node.name not in hidden and banned(node.name):
            yield node, node.name
