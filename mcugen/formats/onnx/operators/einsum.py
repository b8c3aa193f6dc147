"""Einsum as batched matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import operands
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.reshape import Reshape
from mcugen.ops.sum import Sum
from mcugen.ops.transpose import Transpose

_ELLIPSIS = "0123456789"
"""Letters for the axes in an ellipsis, the last axis first."""


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """Multiplies operands from left to right, and sums axes as soon as nothing later needs them. Source: Einsum-12."""
    given = operands(e, len(e.inputs))
    terms, result = _parsed(str(source.attributes["equation"]), [len(e.type(x).shape) for x in given])
    sizes: dict[str, int] = {}
    for term, x in zip(terms, given, strict=True):
        for letter, size in zip(term, e.type(x).shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ShapeError(f"axes named {letter!r} differ in size: {sizes[letter]} and {size}")
    if any(letter not in sizes for letter in result):
        raise ShapeError(f"the result {result!r} names an axis that no operand has")
    letters, y = terms[0], given[0]
    for k, (term, x) in enumerate(zip(terms[1:], given[1:], strict=True), 1):
        needed = set(result).union(*terms[k + 1 :])
        letters, y = _product(e, (letters, y), (term, x), needed, sizes)
    letters, y = _summed(e, letters, y, set(result))
    order = tuple(letters.index(letter) for letter in result)
    return [y if order == tuple(range(len(order))) else e.node(Transpose(order), y)]


def _parsed(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of the axes of each operand, and of the result. ranks: of the operands."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ShapeError(f"the equation {equation[:80]!r} has {len(terms)} terms for {len(ranks)} operands")
    found = [_spelled(term, rank) for term, rank in zip(terms, ranks, strict=True)]
    dots = max((sum(letter in _ELLIPSIS for letter in term) for term in found), default=0)
    if arrow:
        result = _spelled(right, len(right.replace("...", "")) + (dots if "..." in right else 0))
    else:
        every = "".join(found)
        result = _ELLIPSIS[:dots][::-1] + "".join(sorted(c for c in set(every) if every.count(c) == 1 and c.isalpha()))
    for term in (*found, result):
        if len(set(term)) != len(term):
            raise UnsupportedError(f"{equation[:80]!r} names an axis twice in one term, which is not supported")
    return found, result


def _spelled(term: str, rank: int) -> str:
    """A term of the equation with a letter for each axis, also in the ellipsis."""
    before, dots, after = term.partition("...")
    missing = rank - len(before) - len(after)
    letters = before + (_ELLIPSIS[:missing][::-1] if dots else "") + after
    if len(letters) != rank or not (before + after).isascii() or (before + after and not (before + after).isalpha()):
        raise ShapeError(f"the term {term[:80]!r} does not name {rank} axes")
    return letters


def _summed(e: Expansion, letters: str, x: str, needed: set[str]) -> tuple[str, str]:
    """A tensor summed over the axes that are not needed: the remaining letters, and its name."""
    axes = tuple(k for k, letter in enumerate(letters) if letter not in needed)
    return "".join(c for c in letters if c in needed), e.node(Sum(axes), x) if axes else x


def _product(
    e: Expansion, left: tuple[str, str], right: tuple[str, str], needed: set[str], sizes: dict[str, int]
) -> tuple[str, str]:
    """Two tensors multiplied, and summed over the axes that both have and that are not needed."""
    a, x = _summed(e, *left, needed | set(right[0]))
    b, y = _summed(e, *right, needed | set(a))
    shared = [c for c in a if c in b]
    batch, inner = [c for c in shared if c in needed], [c for c in shared if c not in needed]
    rows, columns = [c for c in a if c not in b], [c for c in b if c not in a]

    def matrix(name: str, letters: str, *groups: list[str]) -> str:
        order = tuple(letters.index(c) for group in groups for c in group)
        moved = name if order == tuple(range(len(order))) else e.node(Transpose(order), name)
        return e.node(Reshape(tuple(prod(sizes[c] for c in group) for group in groups)), moved)

    found = e.node(BatchMatmul(), matrix(x, a, batch, rows, inner), matrix(y, b, batch, inner, columns))
    letters = "".join([*batch, *rows, *columns])
    return letters, e.node(Reshape(tuple(sizes[c] for c in letters)), found)


IMPORTS = (Import("onnx", "Einsum", expand=expand),)
