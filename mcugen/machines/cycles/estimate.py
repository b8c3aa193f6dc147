"""Cycles of a program: the cycles of each block of instructions times the number of times it ran, plus branch costs.

A block ("run") is a sequence of instructions of which only the last may jump.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcugen.boards.isa import Operation
from mcugen.errors import ToolError
from mcugen.machines.cycles import flow
from mcugen.machines.cycles.core_model import CycleModel, Pipeline
from mcugen.machines.cycles.core_pipeline import cycles_of
from mcugen.machines.toolchain.disassembly import Listing

Runs = Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Interval:
    """An interval of cycles: the least and the most."""

    low: int
    high: int

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)


@dataclass(frozen=True)
class _Run:
    """A decoded block. low, high: cycles each time it runs. last: address of its last instruction. jumps: whether that
    instruction jumps unconditionally.
    """

    low: float
    high: float
    last: int
    jumps: bool


@dataclass
class Estimator:
    """Estimates cycles for the blocks of one image on one core. Each block is simulated once."""

    model: CycleModel
    listing: Listing
    _known: dict[tuple[int, int], _Run] = field(default_factory=dict)

    def cycles(self, runs: Runs) -> Interval:
        """The cycles of blocks, with memory without wait states. runs: (address, instructions) -> times the
        block ran.
        """
        found = {run: self._run(run) for run in runs}
        taken = flow.taken(runs, {run: r.last for run, r in found.items()}, self.listing)
        low = high = 0.0
        for run, n in runs.items():
            low += n * found[run].low
            high += n * found[run].high
        jumps = sum(n for run, n in runs.items() if found[run].jumps)
        low += jumps * self.model.low.jump
        high += jumps * self.model.high.jump
        left = self._left(runs, found)
        for address, (least, most) in taken.items():
            if self._operation(address).kind == "loop_end":
                continue
            low += least * self.model.low.taken + self._missed(self.model.low, left[address], least, most)
            high += most * self.model.high.taken + self._missed(self.model.high, left[address], least, most)
        return Interval(round(low), round(high))

    @staticmethod
    def _left(runs: Runs, found: Mapping[tuple[int, int], _Run]) -> dict[int, int]:
        left: dict[int, int] = {}
        for run, n in runs.items():
            left[found[run].last] = left.get(found[run].last, 0) + n
        return left

    @staticmethod
    def _missed(pipe: Pipeline, n: int, least: int, most: int) -> int:
        """Cycles lost to mispredictions: at most one misprediction each time a branch goes its rarer way."""
        return pipe.missed * min(most, n - least, n // 2)

    def _run(self, run: tuple[int, int]) -> _Run:
        if run not in self._known:
            self._known[run] = self._walked(run)
        return self._known[run]

    def _walked(self, run: tuple[int, int]) -> _Run:
        address, length = run
        addresses = [address]
        while len(addresses) < length:
            following = self.listing.following.get(addresses[-1])
            if following is None:
                raise ToolError("an executed instruction is not in the listing", where=f"{addresses[-1]:#x}")
            addresses.append(following)
        operations = [self._operation(a) for a in addresses]
        sizes = [self.listing.following.get(a, a + self.listing.isa.longest_bytes) - a for a in addresses]
        last = self.listing.instructions[addresses[-1]]
        repeats = last.flow == "branch" and last.target == address
        low, high = (cycles_of(operations, sizes, p, repeats=repeats) for p in (self.model.low, self.model.high))
        return _Run(low, high, addresses[-1], operations[-1].jumps)

    def _operation(self, address: int) -> Operation:
        instruction = self.listing.instructions.get(address)
        if instruction is None:
            raise ToolError("an executed instruction is not in the listing", where=f"{address:#x}")
        return self.listing.isa.operation(instruction.name, instruction.operands)
