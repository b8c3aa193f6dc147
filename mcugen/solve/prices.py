# SPDX-License-Identifier: Apache-2.0
"""Prices of a byte of RAM and of flash, in units of time, for goals that weigh time against memory.

A reference amount of memory costs a fixed share of the time of the fastest kernels. For RAM, the reference is the
tensors of the largest layer. For flash, it is the constants in their smallest form. So prices depend on the network,
but not on a budget or on the order of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.boards.target import Target
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve.candidates import Candidate, Candidates, have_price

RAM_PRICE = 0.04
"""Share of the network's time that the RAM of the largest layer costs. Saving half of this RAM is worth 2 %
more time.
"""

FLASH_PRICE = 0.25
"""Share of the network's time that must be saved to be worth twice the bytes of constants."""


@dataclass(frozen=True)
class Prices:
    """Prices of a byte of RAM and of flash, in units of `Candidate.cost`; zero for goals that do not weigh them."""

    ram: float = 0.0
    flash: float = 0.0

    def of(self, c: Candidate) -> float:
        """The time of a candidate and the price of its constants."""
        return c.cost + self.flash * c.constant_bytes


FREE = Prices()


def prices_of(graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target) -> Prices:
    """Prices for the goal of `options`; zero for a goal without prices.

    The goal `ram` takes the least RAM at any price. Of solutions with equal RAM, it weighs constants as `balanced`
    does.
    """
    if not have_price(options, board):
        return FREE
    time = sum(min(c.cost for c in listed) for listed in candidates)
    constants = sum(min(c.constant_bytes for c in listed) for listed in candidates)
    ram = RAM_PRICE * time / _largest_layer(graph) if options.optimize == "balanced" else 0.0
    return Prices(ram, FLASH_PRICE * time / max(constants, 1))


def _largest_layer(graph: Graph) -> int:
    """Bytes of the largest node's operands and results, without constants; at least 1."""
    computed = {name: t.type.nbytes for name, t in graph.tensors.items() if not t.is_constant}
    names = ({name for name in (*node.inputs, *node.outputs) if name in computed} for node in graph.nodes)
    return max((sum(computed[name] for name in used if name) for used in names), default=1) or 1
