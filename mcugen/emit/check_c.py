"""Checks on the text of emitted C and kernels: loops that end, known calls only, no hidden memory.

The caller preprocesses each file: `gcc CHECK_FLAGS -I <stubs()> -I <folder> file.c`, with the kernels' headers in
<folder>/mcugen. The stub headers declare only functions that the code may use. The flags hide compiler extensions, so
the result is plain C99.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from pycparser import c_ast, c_parser

from mcugen.emit import c_loops, c_rules
from mcugen.emit.c_unit import Unit, parse, walk

Finding = tuple[c_ast.Node, str]
Rule = Callable[[Unit], Iterator[Finding]]

CHECK_FLAGS = ("-E", "-std=c99", "-nostdinc", "-undef", "-DMCUGEN_CHECK_TEXT")
INTEGER_HEADERS = frozenset({"stdint.h", "stddef.h", "string.h", "stdbool.h", "limits.h"})
FLOAT_HEADERS = INTEGER_HEADERS | {"math.h", "float.h"}

RULES: tuple[Rule, ...] = (
    c_loops.only_for_loops,
    c_loops.loop_form,
    c_loops.loop_counter_kept,
    c_loops.loop_bound_kept,
    c_rules.no_goto,
    c_rules.no_heap,
    c_rules.no_system_calls,
    c_rules.no_varargs,
    c_rules.calls_declared,
    c_rules.no_function_pointers,
    c_rules.no_variable_arrays,
    c_rules.no_mutable_statics,
)

_LINE_MARKER = re.compile(r'^#\s*(?:line\s+)?\d+\s+"([^"]*)"((?:\s+\d+)*)', re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(include\w*|import)\b[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_HEADERS = "only listed headers are included"
_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@dataclass(frozen=True)
class Violation:
    """One violation of a rule. rule: the rule function's name; text: its docstring and the detail."""

    line: int
    rule: str
    text: str
    file: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text} [{self.rule}]"


def check_source(
    preprocessed: str, filename: str, *, allowed_headers: Collection[str] = INTEGER_HEADERS
) -> list[Violation]:
    """Rule violations in one preprocessed source file and its headers, in source order.

    allowed_headers: as for `check_includes`. Text that does not parse as C99 is a violation, `plain_c99`.
    """
    return _examined(preprocessed, filename, allowed_headers)[1]


def check_includes(
    raw_text: str, filename: str, *, allowed_headers: Collection[str] = INTEGER_HEADERS
) -> list[Violation]:
    """#include lines of a source file that name a header which is not allowed.

    allowed_headers: names as written between brackets or quotes, including the model's own headers. Headers of the
    runtime, "mcugen/...", are always allowed.
    """
    text = _without_comments(raw_text)
    found = []
    for match in _INCLUDE.finditer(text):
        directive, target = match.groups()
        name = target[1:-1]
        lawful = (
            directive == "include" and target[:1] + target[-1:] in ("<>", '""') and _is_listed(name, allowed_headers)
        )
        if not lawful:
            line = text.count("\n", 0, match.start()) + 1
            found.append(Violation(line, "listed_headers", f"{_HEADERS}: {directive} {target}", filename))
    return found


def check_recursion(units: Sequence[Unit]) -> list[Violation]:
    """Cycles in the call graph of all units. A call through a const table counts as a call of every function in it."""
    calls: dict[str, set[str]] = {}
    for unit in units:
        for name in unit.defined:
            calls.setdefault(_key(unit, name), set()).update(_callees(unit, unit.defined[name].body, set()))
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][::-1]
        unit, name = next((u, n) for u in units for n in u.defined if _key(u, n) == cycle[0])
        place = unit.defined[name].decl.coord
        path = " -> ".join(key.rpartition(":")[2] for key in cycle)
        return [Violation(place.line, "no_recursion", f"no function calls itself, directly or not: {path}", place.file)]
    return []


def check_files(sources: dict[str, str], *, allowed_headers: Collection[str] = INTEGER_HEADERS) -> list[Violation]:
    """All checks on the preprocessed sources of one model, by file name: each file, then recursion across files."""
    found: list[Violation] = []
    units = []
    for filename, text in sources.items():
        unit, violations = _examined(text, filename, allowed_headers)
        found += [v for v in violations if v not in found]
        units += [unit] if unit is not None else []
    return found + check_recursion(units)


def _examined(text: str, filename: str, allowed_headers: Collection[str]) -> tuple[Unit | None, list[Violation]]:
    """The parsed file, or None if it does not parse, and the violations in it."""
    found = _entered_headers(text, filename, allowed_headers)
    try:
        unit = parse(text, filename)
    except c_parser.ParseError as error:
        return None, [*found, _unparsed(error, filename)]
    for rule in RULES:
        found += [_violation(rule, node, detail, filename) for node, detail in rule(unit)]
    return unit, sorted(set(found), key=lambda v: (v.file, v.line, v.rule, v.text))


def _is_listed(name: str, allowed: Collection[str]) -> bool:
    return name in allowed or (name.startswith("mcugen/") and ".." not in name)


def _entered_headers(preprocessed: str, filename: str, allowed: Collection[str]) -> list[Violation]:
    """Headers that the preprocessor entered (flag 1 of its line markers) and that are not allowed."""
    found = []
    for path, flags in dict.fromkeys(match.groups() for match in _LINE_MARKER.finditer(preprocessed)):
        parts = Path(path).parts
        listed = path.startswith("<") or parts[-1] in allowed or "mcugen" in parts[-2:-1]
        if "1" in flags.split() and not listed:
            found.append(Violation(1, "listed_headers", f"{_HEADERS}: {parts[-1]}", filename))
    return found


def _without_comments(text: str) -> str:
    """The text with comments replaced by blanks. Lines and strings are kept, since strings may contain comment
    signs.
    """

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return _COMMENT_OR_STRING.sub(blank, text)


def _unparsed(error: c_parser.ParseError, filename: str) -> Violation:
    where = re.match(r"(.*?):(\d+)", str(error))
    file, line = (where[1], int(where[2])) if where else (filename, 1)
    return Violation(line, "plain_c99", f"the text is plain C99 without extensions: {error}", file)


def _violation(rule: Rule, node: c_ast.Node, detail: str, filename: str) -> Violation:
    coord = node.coord
    line, file = (coord.line, coord.file) if coord is not None else (1, filename)
    return Violation(line, rule.__name__, f"{rule.__doc__}: {detail}", file)


def _key(unit: Unit, function: str) -> str:
    """Unique name of a function across files. Static functions of two files may share a name."""
    return f"{unit.filename}:{function}" if unit.is_static(function) else function


def _callees(unit: Unit, node: c_ast.Node | None, tables: set[str]) -> set[str]:
    """Functions that code names, directly or in tables that it names. `tables`: tables already followed."""
    found: set[str] = set()
    for name in {n.name for n in walk(node) if isinstance(n, c_ast.ID)}:
        if name in unit.functions:
            found.add(_key(unit, name))
        elif name in unit.variables and name not in tables:
            found |= _callees(unit, unit.variables[name].init, tables | {name})
    return found
