# SPDX-License-Identifier: Apache-2.0
"""Refusal of a model that cannot fit, before any search.

The lower bounds used here hold for any choice of kernels, rows and order. `CostCurve.least_bytes` gives a higher bound
that includes the memory of kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.boards import target
from mcugen.boards.target import Target
from mcugen.errors import MemoryBudgetError
from mcugen.ir.graph import Graph
from mcugen.ir.types import TensorType
from mcugen.options import Options
from mcugen.solve.memories import regions_of

SHOWN = 4
"""Largest number of boards and of layers that a refusal names."""


@dataclass(frozen=True)
class Bound:
    """Bytes that every solution needs, and the reason."""

    nbytes: int
    why: str


_Over = tuple[str, Bound, int | None]
"""Name of a memory or an option, the bytes needed, and the bytes available."""


def require_room(graph: Graph, options: Options, board: Target) -> None:
    """Raise MemoryBudgetError if a lower bound exceeds a budget or the board's memory."""
    if board.device or options.weight_regions:
        return
    ram, flash = ram_bound(graph, options), flash_bound(graph, options)
    over = [(what, bound, room) for what, bound, room in _rooms(ram, flash, options, board) if _is_over(bound, room)]
    if over:
        where = "the budget" if board.is_core or budgets_alone([what for what, *_ in over]) else board.name
        lines = [
            f"{what}: at least {bound.nbytes:,} bytes of {room:,} available: {bound.why}" for what, bound, room in over
        ]
        text = "\n  ".join(["whatever kernels and rows are chosen, the model needs", *lines])
        hint = _hint(graph, ram, flash, board, options, over)
        raise MemoryBudgetError(f"{graph.name} does not fit {where}\n  {text}", hint=hint)


def budgets_alone(limits: Sequence[str]) -> list[str]:
    """The options that set these limits; empty if one of the limits is the board's."""
    options = [what for what in dict.fromkeys(limits) if what.startswith("--")]
    return options if len(options) == len(set(limits)) else []


def _is_over(bound: Bound, room: int | None) -> bool:
    return room is not None and bound.nbytes > room


_INPUT = "the whole input"


def _rooms(ram: Bound, flash: Bound, options: Options, board: Target) -> Iterator[_Over]:
    sizes = [region.nbytes for region in regions_of(options, board)]
    room = None if None in sizes else sum(size for size in sizes if size is not None)
    yield "--ram" if options.ram else "--region" if options.regions else f"RAM of {board.name}", ram, room
    yield "--flash", flash, options.flash_bytes
    yield f"flash of {board.name}", flash, board.flash_bytes


def ram_bound(graph: Graph, options: Options) -> Bound:
    """Lower bound of RAM: the states, plus the larger of inputs (unless rows are pushed) and results."""
    states = sum(graph.type(state.before).nbytes for state in graph.states)
    given = [n for n in graph.inputs if n not in graph.unread_inputs] if options.input_mode == "whole" else []
    made = {name for node in graph.nodes for name in node.outputs}
    ends = (
        (given, _INPUT),
        ([n for n in dict.fromkeys(graph.outputs) if n in made], "all results"),
    )
    found = [Bound(states + sum(graph.type(n).nbytes for n in names), why) for names, why in ends]
    return max(found, key=lambda bound: bound.nbytes)


def flash_bound(graph: Graph, options: Options) -> Bound:
    """Lower bound of flash: the weights of multiplying layers, in the fewest bytes that any kernel stores. Equal
    weights count once.
    """
    weights = _weights(graph, options)
    largest = sorted(weights, reverse=True)[:SHOWN]
    named = ", ".join(f"{nbytes:,} of {source}" for nbytes, source, _ in largest)
    return Bound(sum(nbytes for nbytes, *_ in weights), f"weights, the largest {named}")


def _weights(graph: Graph, options: Options) -> list[tuple[int, str, bool]]:
    """For the weights of each multiplying layer: their fewest bytes, the layer's name in the model, whether they are
    floats.
    """
    least: dict[bytes, tuple[int, str, bool]] = {}
    for node in graph.nodes:
        call = graph.call(node, options.reference)
        weights = max((c for c in call.constants if c is not None), key=lambda c: c.nbytes, default=None)
        if weights is not None and call.op.macs(call):
            t = call.input(next(k for k, c in enumerate(call.constants) if c is weights))
            least.setdefault(weights.tobytes(), (_least_bytes(weights, t), node.source, t.is_float))
    return list(least.values())


def with_fewer_bits(graph: Graph, options: Options, needed: int, room: int) -> list[str]:
    """Advice: the quantization that reduces `needed` bytes of constants to at most `room`. [] if none is enough."""
    weights = _weights(graph, options)
    floats = sum(nbytes for nbytes, _, is_float in weights if is_float)
    integers = sum(nbytes for nbytes, _, is_float in weights if not is_float)
    ways = [(needed - floats * 3 // 4, "quantize it with `mcugen quantize`")] if floats else []
    ways.append((needed - floats * 7 // 8 - integers // 2, "quantize the float model with 4-bit weights, --weights 4"))
    return next(
        ([f"{how}, which leaves about {left:,} bytes"] for left, how in ways if left <= room and left < needed), []
    )


def quantized_in_ram(graph: Graph) -> list[str]:
    """Advice to quantize, if most bytes of the tensors in RAM are floats."""
    sizes = {True: 0, False: 0}
    for name in {*graph.inputs, *(name for node in graph.nodes for name in node.outputs)}:
        sizes[graph.type(name).is_float] += graph.type(name).nbytes
    way = "quantize it with `mcugen quantize`: integers take a quarter of the RAM of floats"
    return [way] if sizes[True] > sizes[False] else []


def _least_bytes(weights: np.ndarray, t: TensorType) -> int:
    """Fewest bytes of some weights: half a byte for integers from -8 to 7, else the width of their type."""
    in_nibbles = not t.is_float and weights.min(initial=0) >= -8 and weights.max(initial=0) <= 7
    return min(t.nbytes, -(-weights.size // 2)) if in_nibbles else t.nbytes


def _hint(graph: Graph, ram: Bound, flash: Bound, board: Target, options: Options, over: Sequence[_Over]) -> str:
    """Advice by the bounds: a larger budget if only budgets are exceeded, else other boards.

    If only flash is short, boards with at least this board's RAM come first, since the bound of RAM may be far below
    actual use.
    """
    pushed = options.input_mode == "whole" and ram.why == _INPUT and all(bound is ram for _, bound, _ in over)
    ways = ["push the input with --input-mode rows"] if pushed else []
    short = [room for _, bound, room in over if bound is flash and room is not None]
    ways += with_fewer_bits(graph, options, flash.nbytes, min(short)) if short else []
    ways += quantized_in_ram(graph) if len(short) < len(over) else []
    if budgets := budgets_alone([what for what, *_ in over]):
        return ", ".join([*ways, f"give a larger {' and '.join(budgets)}, or take a smaller model"])
    known = [target.load(name) for name in target.names()]
    able = [b for b in known if (b.total_ram_bytes or 0) >= ram.nbytes and (b.flash_bytes or 0) > flash.nbytes]
    wanted = 0 if any(bound is ram for _, bound, _ in over) else board.total_ram_bytes or 0
    able.sort(key=lambda b: ((b.total_ram_bytes or 0) < wanted, b.total_ram_bytes or 0, b.name))
    names = [b.name for b in able[:SHOWN]]
    boards = f"take a board that may hold it ({', '.join(names)})" if names else "no known board has that much"
    return ", ".join([*ways, boards, "or take a smaller model"])
