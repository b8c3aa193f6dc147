"""A parsed C source file: its functions, objects and types, and which of them are const."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from pycparser import c_ast, c_parser


@dataclass(frozen=True)
class Unit:
    """One translation unit: its syntax tree and the declarations at file scope, by name.

    variables: objects. functions: all declared functions. defined: functions with a body. typedefs: types by name.
    structs: types by tag. enumerators: names of enumeration constants, which are constant expressions.
    """

    filename: str
    ast: c_ast.FileAST
    variables: dict[str, c_ast.Decl] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    defined: dict[str, c_ast.FuncDef] = field(default_factory=dict)
    _locals: dict[str, dict[str, list[c_ast.Decl]]] = field(default_factory=dict, repr=False)
    _bodies: dict[str, list[c_ast.Node]] = field(default_factory=dict, repr=False)

    @cached_property
    def nodes(self) -> list[c_ast.Node]:
        """All nodes of the unit in the order of `walk`. The list is made once for all rules."""
        return list(walk(self.ast))

    def body_of(self, function: c_ast.FuncDef) -> list[c_ast.Node]:
        """The nodes of a function's body, in the order of `walk`."""
        name = function.decl.name
        if name not in self._bodies:
            self._bodies[name] = list(walk(function.body))
        return self._bodies[name]

    @cached_property
    def names(self) -> list[tuple[c_ast.ID, set[str]]]:
        """Names in bodies and initializers, each with the names of variables that hide functions there."""
        bodies = [(self.body_of(f), set(self.locals_of(f))) for f in self.defined.values()]
        initial = [(list(walk(v.init)), set(self.variables)) for v in self.variables.values()]
        return [(n, hidden) for code, hidden in bodies + initial for n in code if isinstance(n, c_ast.ID)]

    @cached_property
    def typedefs(self) -> dict[str, c_ast.Node]:
        return {n.name: n.type for n in self.nodes if isinstance(n, c_ast.Typedef)}

    @cached_property
    def structs(self) -> dict[str, c_ast.Node]:
        found = (n for n in self.nodes if isinstance(n, c_ast.Struct | c_ast.Union))
        return {n.name: n for n in found if n.name and n.decls}

    @cached_property
    def enumerators(self) -> set[str]:
        return {n.name for n in self.nodes if isinstance(n, c_ast.Enumerator)}

    def is_static(self, function: str) -> bool:
        """Whether the function is visible in this file only."""
        return function in self.defined and "static" in self.defined[function].decl.storage

    def locals_of(self, function: c_ast.FuncDef) -> dict[str, list[c_ast.Decl]]:
        """Parameters and local objects by name. A name has several declarations if inner blocks declare it again."""
        name = function.decl.name
        if name not in self._locals:
            self._locals[name] = self._locals_of(function)
        return self._locals[name]

    def _locals_of(self, function: c_ast.FuncDef) -> dict[str, list[c_ast.Decl]]:
        found: dict[str, list[c_ast.Decl]] = {}
        for node in walk(function):
            if isinstance(node, c_ast.Decl) and node is not function.decl and node.name and not is_function(node):
                found.setdefault(node.name, []).append(node)
        return found

    def resolve(self, kind: c_ast.Node) -> c_ast.Node:
        """The type behind typedef names. It lacks qualifiers that the typedefs add; `is_const` follows those."""
        while isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType):
            target = self.typedefs.get(kind.type.names[-1])
            if target is None:
                return kind
            kind = target
        return kind

    def is_const(self, kind: c_ast.Node) -> bool:
        """Whether an object of this type cannot be assigned; an array is const if its elements are."""
        while isinstance(kind, c_ast.ArrayDecl):
            kind = kind.type
        if "const" in (getattr(kind, "quals", None) or []):
            return True
        target = self._typedef_target(kind)
        return target is not None and self.is_const(target)

    def _typedef_target(self, kind: c_ast.Node) -> c_ast.Node | None:
        if isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType):
            return self.typedefs.get(kind.type.names[-1])
        return None

    def is_function_pointer(self, kind: c_ast.Node) -> bool:
        """Whether the type is, or is an array of, pointers to functions."""
        kind = self.resolve(kind)
        while isinstance(kind, c_ast.ArrayDecl):
            kind = self.resolve(kind.type)
        return isinstance(kind, c_ast.PtrDecl) and isinstance(self.resolve(kind.type), c_ast.FuncDecl)

    def member(self, kind: c_ast.Node, name: str) -> c_ast.Node | None:
        """Type of a member of a struct or union; None if it is unknown."""
        kind = self.resolve(kind)
        body = kind.type if isinstance(kind, c_ast.TypeDecl) else None
        if isinstance(body, c_ast.Struct | c_ast.Union):
            body = body if body.decls else self.structs.get(body.name)
        members = (body.decls or []) if body is not None and hasattr(body, "decls") else []
        return next((m.type for m in members if getattr(m, "name", None) == name), None)


def parse(preprocessed: str, filename: str) -> Unit:
    """The unit of a preprocessed source. Raises pycparser's ParseError if the text is not plain C99."""
    unit = Unit(filename, c_parser.CParser().parse(preprocessed, filename))
    for node in unit.ast.ext:
        if isinstance(node, c_ast.FuncDef):
            unit.functions.add(node.decl.name)
            unit.defined[node.decl.name] = node
        elif isinstance(node, c_ast.Decl) and node.name and is_function(node):
            unit.functions.add(node.name)
        elif isinstance(node, c_ast.Decl) and node.name and (node.init or node.name not in unit.variables):
            unit.variables[node.name] = node
    return unit


def walk(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """The node and all nodes below it, in source order. Member names are left out, as they do not name objects."""
    waiting = [] if node is None else [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += reversed(_children(found))


def _children(node: c_ast.Node) -> list[c_ast.Node]:
    if isinstance(node, c_ast.StructRef):
        return [node.name]
    if isinstance(node, c_ast.NamedInitializer):
        return [child for label, child in node.children() if label == "expr" or not isinstance(child, c_ast.ID)]
    return list(node)


def is_function(declaration: c_ast.Decl) -> bool:
    """Whether the declaration declares a function."""
    return isinstance(declaration.type, c_ast.FuncDecl)


def is_dereference(node: c_ast.Node) -> bool:
    """Whether the node is *p."""
    return isinstance(node, c_ast.UnaryOp) and node.op == "*"


def root(expression: c_ast.Node) -> str | None:
    """The variable that an lvalue or access path starts from: p in p->rows[i].n; None for other expressions."""
    while True:
        if isinstance(expression, c_ast.ID):
            return str(expression.name)
        if isinstance(expression, c_ast.StructRef | c_ast.ArrayRef):
            expression = expression.name
        elif isinstance(expression, c_ast.Cast) or is_dereference(expression):
            expression = expression.expr
        else:
            return None
