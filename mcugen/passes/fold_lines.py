"""Replaces chains of integer operators on one value by a line: a multiplication, an addition and a shift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ops._links import INTEGERS, is_link
from mcugen.ops.cast import Cast
from mcugen.ops.integer_line import IntegerLine
from mcugen.passes._trial import replaced, results

_WHY = "for every value of the operand, a line that is rounded down and clamped gives the same integer"
_MOST_VALUES = 1 << 16
_LEAST_OPERATORS = 3
"""Fewest operators for which a line takes fewer instructions. Casts do not count."""
_WORD = 1 << 31


def fold_lines(graph: Graph, reference: str) -> Graph:
    """The graph with an IntegerLine for each such chain, checked for all values that the chain's operand can have."""
    reads = Counter(name for node in graph.nodes for name in node.inputs if name is not None)
    reads.update(graph.kept)
    chains: dict[str, list[Node]] = {}
    for node in graph.nodes:
        operand = _operand(graph, node, reference)
        if operand is None:
            continue
        before = chains.pop(operand, []) if reads[operand] == 1 else []
        chains[node.outputs[0]] = [*before, node]
    return replaced(graph, chains.values(), lambda chain: _folded(graph, chain, reference), "lines", _WHY)


def _operand(graph: Graph, node: Node, reference: str) -> str | None:
    """The only computed operand of an integer operator whose other operands are numbers; None for all other nodes."""
    if len(node.outputs) != 1 or not node.op.is_elementwise:
        return None
    names = {name for name in node.inputs if name is not None and not graph.tensors[name].is_constant}
    call = graph.call(node, reference)
    numbers = all(data is None or data.size == 1 for data in call.constants)
    return names.pop() if len(names) == 1 and numbers and call.output.dtype in INTEGERS and is_link(call) else None


def _folded(graph: Graph, chain: Sequence[Node], reference: str) -> IntegerLine | None:
    """The chain as one operator; None if it does not compute a line, or is too short."""
    name = str(_operand(graph, chain[0], reference))
    if sum(not isinstance(node.op, Cast) for node in chain) < _LEAST_OPERATORS:
        return None
    known = graph.call(chain[0], reference).range_of(chain[0].inputs.index(name))
    dtype = graph.type(chain[-1].outputs[0]).dtype
    if known is None or dtype == "u32":
        return None
    low, high = known.hull
    if high - low >= _MOST_VALUES:
        return None
    x = np.arange(low, high + 1)
    stored = x.astype(graph.type(name).np_dtype)
    return line_of(x, results(graph, chain, reference, stored).astype(np.int64), dtype)


def line_of(x: np.ndarray, y: np.ndarray, dtype: str) -> IntegerLine | None:
    """A line that gives y[k] for every x[k] with 32-bit sums and the least possible shift; None if none was found."""
    low, high = int(y.min()), int(y.max())
    above, below = y > low, y < high  # a result at a bound limits the line on one side alone
    if not (above.any() and below.any()):
        return None
    for shift in range(31):
        floors, ends = (y << shift)[above], ((y + 1) << shift)[below]

        def addends(factor: int, floors: np.ndarray = floors, ends: np.ndarray = ends) -> tuple[int, int]:
            return int((floors - factor * x[above]).max()), int((ends - factor * x[below]).min()) - 1

        factor = _widest(addends, _WORD // 2 // max(1, int(np.abs(x).max())))
        least, most = addends(factor)
        products = x * factor
        least, most = max(least, -_WORD - min(0, products.min())), min(most, _WORD - 1 - max(0, products.max()))
        if least <= most:
            return IntegerLine(factor, _roundest(int(least), int(most)), shift, low, high, dtype)
    return None


def _widest(addends: Callable[[int], tuple[int, int]], most: int) -> int:
    """The factor from -most to most with the widest interval of addends. The width is concave in the factor."""
    low, high = -most, most
    while high - low > 2:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if _width(addends(left)) < _width(addends(right)):
            low = left
        else:
            high = right
    return max(range(low, high + 1), key=lambda factor: _width(addends(factor)))


def _roundest(low: int, high: int) -> int:
    """The number from low to high with the most trailing zero bits, which may fit an instruction as an immediate."""
    for zeros in range(31, 0, -1):
        found = high >> zeros << zeros
        if found >= low:
            return found
    return low


def _width(ends: tuple[int, int]) -> int:
    return ends[1] - ends[0]
