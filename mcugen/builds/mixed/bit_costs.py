"""Cost of an assignment of bit widths: constants, and RAM and time on a board as the solver estimates them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from mcugen import pipeline, solve
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.quantize.recipe import Widths

_NIBBLES = "s4"
_PER_CHANNEL = 8
"""Bytes of the multiplier and the shift of one output channel."""


@dataclass(frozen=True)
class AssignmentCost:
    """Cost of an assignment of bit widths.

    flash: bytes of constants as in the file: two 4-bit weights per byte, with the multiplier and shift of each output
    channel. built: bytes of constants in the C. ram: bytes. time: mean of the estimated instructions and cycles.
    """

    flash: int
    ram: int
    time: float
    built: int


@dataclass
class Costs:
    """Costs of assignments for the board and the budgets in `options`. network: builds an integer network for given
    widths.
    """

    options: Options
    network: Callable[[Widths], Graph]
    _known: dict[Widths, AssignmentCost] = field(default_factory=dict)

    def of(self, widths: Widths) -> AssignmentCost:
        """The cost of an assignment. Raises NoKernelError."""
        if widths not in self._known:
            self._known[widths] = self._cost(widths)
        return self._known[widths]

    def _cost(self, widths: Widths) -> AssignmentCost:
        graph = self.network(widths)
        made = pipeline.prepare_graph(pipeline.read_back(graph), replace(self.options, flash=""), "model")
        solution, time = solve.solve_with_time(made.graph, made.board, made.options)
        built = sum(choice.constant_bytes for choice in solution.choices)
        return AssignmentCost(constants(graph), solution.ram_bytes, time, built)

    def fits(self, widths: Widths) -> bool:
        """Whether an assignment is within the budgets."""
        cost, flash, ram = self.of(widths), self.options.flash_bytes, self.options.ram_bytes
        return (flash is None or cost.flash <= flash) and (ram is None or cost.ram <= ram)


def constants(graph: Graph) -> int:
    """Least bytes of constants of an integer network."""
    total = 0
    for node in graph.nodes:
        for k, name in enumerate(node.inputs):
            if name is not None and graph.tensors[name].data is not None:
                t = graph.type(name)
                total += (t.size + 1) // 2 if t.dtype == _NIBBLES else t.nbytes
                total += _PER_CHANNEL * t.size if k == 2 and node.op.scaled_axis is not None else 0
    return total
