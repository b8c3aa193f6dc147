# SPDX-License-Identifier: Apache-2.0
"""Prices of bytes of RAM and flash in time, for goals that weigh all three.

A price is a share of the fastest kernels' time for a reference amount of memory: for RAM, the tensors of the largest
layer; for flash, the constants as wide as the model stores them. So prices depend on the network, but not on a budget
nor on the order of its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.boards.target import Target
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve.candidates import Candidate, Candidates, have_price

RAM_PRICE = 0.04
"""Share of the time that RAM for the largest layer is worth: rows that save half of it may take 2 % more time."""

FLASH_PRICE = 0.25
"""Share of the time that doubling the constants must save: a fifth of the resulting time."""


@dataclass(frozen=True)
class Prices:
    """Prices of a byte, in the units of a candidate's cost; zero for goals that do not weigh them."""

    ram: float = 0.0
    flash: float = 0.0

    def of(self, c: Candidate) -> float:
        """The time of a candidate and the price of its constants."""
        return c.cost + self.flash * c.choice.constant_bytes


FREE = Prices()


def prices_of(graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target) -> Prices:
    """Prices for the goal of `options`; zero for a goal without prices.

    `ram` takes the least RAM at any price; among equals, constants have the same price as with `balanced`.
    """
    if not have_price(options, board):
        return FREE
    time = sum(min(c.cost for c in listed) for listed in candidates)
    constants = sum(min(c.choice.constant_bytes for c in listed) for listed in candidates)
    ram = RAM_PRICE * time / _largest_layer(graph) if options.optimize == "balanced" else 0.0
    return Prices(ram, FLASH_PRICE * time / max(constants, 1))


def _largest_layer(graph: Graph) -> int:
    """Bytes of the operands and results of the node that has the most; at least one."""
    computed = {name: t.type.nbytes for name, t in graph.tensors.items() if not t.is_constant}
    names = ({name for name in (*node.inputs, *node.outputs) if name in computed} for node in graph.nodes)
    return max((sum(computed[name] for name in used if name) for used in names), default=1) or 1
