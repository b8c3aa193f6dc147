"""Sizes in firmware's sources: expressions of integers and constants, as far as they can be evaluated."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_MOST = 1 << 40
_DEEPEST = 16


def value_of(expression: str, constants: Mapping[str, Sequence[str]], depth: int = 0) -> int | None:
    """The value of a C expression of integers; None if it cannot be evaluated, or if a name has several values."""
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlLzZ]+\b", r"\1", expression.replace("'", ""))
    text = re.sub(r"\b0+(?=\d)", "0o", text).replace("::", "").replace("/", "//").strip()
    try:
        found = _value(ast.parse(text, mode="eval").body, constants, depth)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError, MemoryError):
        return None
    return found if 0 <= found < _MOST else None


def _value(node: ast.expr, constants: Mapping[str, Sequence[str]], depth: int) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and depth < _DEEPEST:
        values = {value_of(text, constants, depth + 1) for text in constants[node.id]}
        only = values.pop() if len(values) == 1 else None
        if only is not None:
            return only
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        return _value(node.operand, constants, depth)
    if isinstance(node, ast.BinOp):
        left, right = (_value(side, constants, depth) for side in (node.left, node.right))
        if isinstance(node.op, ast.LShift | ast.RShift) and right < 40 and left < _MOST:
            return left << right if isinstance(node.op, ast.LShift) else left >> right
        return _OPERATIONS[type(node.op)](left, right)
    raise ValueError
