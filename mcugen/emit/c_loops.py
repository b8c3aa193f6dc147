"""Rules for loops in emitted C: the number of iterations is fixed before the first one.

Each rule yields (node, detail) for each violation. A rule's docstring is its error message.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pycparser import c_ast

from mcugen.emit.c_unit import Unit, is_dereference, root, walk

Finding = tuple[c_ast.Node, str]
_PLAIN = (
    c_ast.Constant,
    c_ast.ID,
    c_ast.BinaryOp,
    c_ast.UnaryOp,
    c_ast.Cast,
    c_ast.TernaryOp,
    c_ast.StructRef,
    c_ast.ArrayRef,
)
_PURE_UNARY = ("+", "-", "~", "!", "*", "sizeof")


@dataclass(frozen=True)
class _Loop:
    """The parts of a loop that has the required form: for (T counter = ...; counter `compare` bound; counter += step).

    rising: whether the counter counts up.
    """

    counter: c_ast.Decl
    compare: str
    bound: c_ast.Node
    rising: bool
    step: c_ast.Node | None  # None is 1
    body: c_ast.Node


def only_for_loops(unit: Unit) -> Iterator[Finding]:
    """there is no while and no do"""
    for node in unit.nodes:
        if isinstance(node, c_ast.While | c_ast.DoWhile):
            yield node, "while" if isinstance(node, c_ast.While) else "do"


def loop_form(unit: Unit) -> Iterator[Finding]:
    """a loop is for (T i = a; i < b; i += c), or counts down by one to a bound: for (T i = a; i > b; --i)"""
    for node in unit.nodes:
        if isinstance(node, c_ast.For):
            loop = _parts(node)
            fault = loop if isinstance(loop, str) else _form_fault(unit, loop)
            if fault:
                yield node, fault


def loop_counter_kept(unit: Unit) -> Iterator[Finding]:
    """the body of a loop does not assign to its counter, nor take its address"""
    for _, loop in _loops(unit):
        changed = _Changes(loop.body)
        yield from ((node, loop.counter.name) for node in changed.whole.get(loop.counter.name, ()))


def loop_bound_kept(unit: Unit) -> Iterator[Finding]:
    """the bound and the step of a loop are plain values that its body does not assign to, nor take the address of"""
    for function, loop in _loops(unit):
        changed = _Changes(loop.body)
        for expression in (loop.bound, *([loop.step] if loop.step is not None else [])):
            for name in _names(expression):
                yield from ((node, name) for node in changed.whole.get(name, ()))
            yield from _memory_faults(unit, function, expression, changed)


def _loops(unit: Unit) -> Iterator[tuple[c_ast.FuncDef, _Loop]]:
    for function in unit.defined.values():
        for node in unit.body_of(function):
            if isinstance(node, c_ast.For):
                loop = _parts(node)
                if not isinstance(loop, str):
                    yield function, loop


def _parts(node: c_ast.For) -> _Loop | str:
    """The loop's parts, or the fault of its form."""
    declared = node.init.decls if isinstance(node.init, c_ast.DeclList) else []
    if len(declared) != 1 or declared[0].init is None:
        return "it must declare and set one counter of its own"
    counter = declared[0]
    cond = node.cond
    if not isinstance(cond, c_ast.BinaryOp) or not _is(cond.left, counter.name):
        return f"its condition must compare {counter.name} with a bound"
    step = _step(node.next, counter.name)
    if step is None:
        return f"it must step by {counter.name} += c, ++{counter.name} or --{counter.name}"
    rising, amount = step
    return _Loop(counter, cond.op, cond.right, rising, amount, node.stmt)


def _step(node: c_ast.Node | None, counter: str) -> tuple[bool, c_ast.Node | None] | None:
    """Whether the counter rises, and the expression added (None for 1). None if this is not a step of the counter."""
    if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "p++", "--", "p--") and _is(node.expr, counter):
        return "++" in node.op, None
    if isinstance(node, c_ast.Assignment) and node.op in ("+=", "-=") and _is(node.lvalue, counter):
        return node.op == "+=", node.rvalue
    return None


def _form_fault(unit: Unit, loop: _Loop) -> str:
    name = loop.counter.name
    if _is_float(unit, loop.counter.type):
        return f"the counter {name} is a floating-point number"
    if loop.compare not in (("<", "<=") if loop.rising else (">", ">=")):
        return f"{name} {loop.compare} does not end a counter that goes {'up' if loop.rising else 'down'}"
    if not loop.rising and loop.step is not None and not _is_one(loop.step):
        return f"{name} counts down by more than one and may pass its bound"
    if loop.compare == ">=" and not _is_signed(unit, loop.counter.type):
        return f"{name} >= never ends an unsigned counter at 0"
    if loop.step is not None and _is_not_positive(loop.step):
        return f"the step of {name} is not positive"
    return _expression_fault(loop)


def _expression_fault(loop: _Loop) -> str:
    name = loop.counter.name
    for what, expression in (("bound", loop.bound), ("step", loop.step)):
        for node in _values(expression):
            impure = isinstance(node, c_ast.UnaryOp) and node.op not in _PURE_UNARY
            if impure or not isinstance(node, _PLAIN):
                return f"the {what} of {name} calls, assigns or takes an address"
            if _is(node, name):
                return f"the {what} of {name} depends on {name}"
    return ""


class _Changes:
    """Variables that a loop's body may change, with the nodes that may change them.

    whole: variables that are assigned, incremented, or have their address taken. mentioned: every variable named, so
    that an element or member of it may change.
    """

    def __init__(self, body: c_ast.Node) -> None:
        self.whole: dict[str, list[c_ast.Node]] = {}
        self.mentioned: dict[str, list[c_ast.Node]] = {}
        for node in walk(body):
            self._note(node)

    def _note(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.ID):
            self.mentioned.setdefault(node.name, []).append(node)
        target = None
        if isinstance(node, c_ast.Assignment):
            target = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "p++", "--", "p--", "&"):
            target = node.expr
        if isinstance(target, c_ast.ID):
            self.whole.setdefault(target.name, []).append(node)


def _values(expression: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """The parts of an expression that are evaluated. Types and operands of sizeof are not."""
    if expression is None:
        return
    unseen = {
        id(below)
        for node in walk(expression)
        if isinstance(node, c_ast.Typename) or (isinstance(node, c_ast.UnaryOp) and node.op == "sizeof")
        for below in walk(node)
        if below is not node or isinstance(node, c_ast.Typename)
    }
    yield from (node for node in walk(expression) if id(node) not in unseen)


def _names(expression: c_ast.Node) -> set[str]:
    return {str(n.name) for n in _values(expression) if isinstance(n, c_ast.ID)}


def _memory_faults(unit: Unit, function: c_ast.FuncDef, expression: c_ast.Node, changed: _Changes) -> Iterator[Finding]:
    """Reads of memory that the body might write to: memory that is neither const nor a local that the body leaves
    alone.
    """
    scope = _Scope(unit, function)
    for node in _values(expression):
        if not isinstance(node, c_ast.StructRef | c_ast.ArrayRef) and not is_dereference(node):
            continue
        name = root(node)
        if name is None or scope.is_const_access(node):
            continue
        if scope.is_pointer_access(node):
            yield node, f"{name} does not point to const"
        else:
            yield from ((n, f"{name}, which is not const") for n in changed.mentioned.get(name, [])[:1])


class _Scope:
    """Types of access paths, such as p->rows[i].n, inside one function."""

    def __init__(self, unit: Unit, function: c_ast.FuncDef) -> None:
        self._unit = unit
        self._locals = unit.locals_of(function)

    def is_const_access(self, node: c_ast.Node) -> bool:
        """Whether the object that a path refers to cannot be assigned through this path."""
        kind = self._type(node)
        if kind is not None and self._unit.is_const(kind):
            return True
        if isinstance(node, c_ast.StructRef) and node.type == ".":
            return self.is_const_access(node.name)
        if isinstance(node, c_ast.StructRef):
            return self._points_to_const(node.name)
        if isinstance(node, c_ast.ArrayRef) and not self._is_pointer(node.name):
            return self.is_const_access(node.name)
        return False

    def is_pointer_access(self, node: c_ast.Node) -> bool:
        """Whether the path goes through a pointer."""
        if isinstance(node, c_ast.StructRef):
            return node.type == "->" or self.is_pointer_access(node.name)
        if isinstance(node, c_ast.ArrayRef):
            return self._is_pointer(node.name) or self.is_pointer_access(node.name)
        return is_dereference(node)

    def _is_pointer(self, node: c_ast.Node) -> bool:
        kind = self._type(node)
        return kind is None or isinstance(self._unit.resolve(kind), c_ast.PtrDecl)

    def _points_to_const(self, node: c_ast.Node) -> bool:
        target = self._target(node)
        return target is not None and self._unit.is_const(target)

    def _target(self, node: c_ast.Node) -> c_ast.Node | None:
        """Target type of a pointer, or element type of an array."""
        kind = self._type(node)
        kind = self._unit.resolve(kind) if kind is not None else None
        return kind.type if isinstance(kind, c_ast.PtrDecl | c_ast.ArrayDecl) else None

    def _type(self, node: c_ast.Node) -> c_ast.Node | None:
        """Declared type of a path; None if it is unknown."""
        if isinstance(node, c_ast.ID):
            return self._declared(node.name)
        if isinstance(node, c_ast.Cast):
            return node.to_type.type
        if isinstance(node, c_ast.ArrayRef):
            return self._target(node.name)
        if is_dereference(node):
            return self._target(node.expr)
        if isinstance(node, c_ast.StructRef):
            base = self._target(node.name) if node.type == "->" else self._type(node.name)
            return self._unit.member(base, node.field.name) if base is not None else None
        return None

    def _declared(self, name: str) -> c_ast.Node | None:
        """Type of a variable. None if it is unknown, or if blocks declare the name both with and without const."""
        found = self._locals.get(name) or [d for d in [self._unit.variables.get(name)] if d is not None]
        kinds = [d.type for d in found]
        agree = len({self._unit.is_const(k) for k in kinds}) == 1
        return kinds[0] if agree else None


def _is(node: c_ast.Node | None, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _is_one(node: c_ast.Node) -> bool:
    return _constant(node) == 1


def _is_not_positive(node: c_ast.Node) -> bool:
    value = _constant(node)
    return (value is not None and value <= 0) or (isinstance(node, c_ast.UnaryOp) and node.op == "-")


def _constant(node: c_ast.Node) -> int | None:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    if not isinstance(node, c_ast.Constant):
        return None
    digits = node.value.rstrip("uUlL")
    return int(digits, 8 if digits.startswith("0") and digits.isdigit() and digits != "0" else 0)


def _scalar_names(unit: Unit, kind: c_ast.Node) -> list[str]:
    kind = unit.resolve(kind)
    is_scalar = isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)
    return list(kind.type.names) if is_scalar else []


def _is_float(unit: Unit, kind: c_ast.Node) -> bool:
    return bool({"float", "double"} & set(_scalar_names(unit, kind)))


def _is_signed(unit: Unit, kind: c_ast.Node) -> bool:
    names = _scalar_names(unit, kind)
    return bool(names) and not {"unsigned", "char", "_Bool"} & (set(names) - ({"char"} if "signed" in names else set()))
