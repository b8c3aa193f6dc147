"""An upper bound on the stack of a function in a linked image, over every path, without running it.

The image is read instruction by instruction, instead of gcc's -fstack-usage and -fcallgraph-info, for three reasons:
* Library functions (memcpy, division, soft float, expf) have no such files, but are handled here like any other.
* Two static functions with one name are kept apart.
* The stack depth at each call is known. A tail call, made after the frame is released, is not added to the frame.

A test checks that both agree on frames that gcc reports.

bound(f) = max over the instructions i that f reaches of depth(i), and of depth(i) + bound(g) where i calls g.
Interrupts are not included: add the stack that the core and the handlers use.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcugen.boards.isa import Instruction
from mcugen.boards.target import Target
from mcugen.errors import ToolError
from mcugen.machines.toolchain.disassembly import Listing, disassemble

_DEEPEST_BYTES = 1 << 20
_END = 1 << 64


@dataclass(frozen=True)
class StackBound:
    """A bound in bytes below the caller's stack pointer. path: the call path with this depth, outermost
    function first.
    """

    nbytes: int
    path: tuple[str, ...]


def bound(elf: Path, target: Target, entry: str) -> StackBound:
    """The bound of the function `entry` of an image.

    Raises ToolError if there is no bound: for recursion, a call through a pointer, a stack pointer that moves by a
    variable amount, or a function that does not exist.
    """
    return Stack(disassemble(elf, target)).bound(entry)


@dataclass
class _Walk:
    """State while following one function's code. before, after: address -> bytes on the stack before and around an
    instruction. work: instructions still to visit.

    computed: function -> stack depth at its table jumps. tables: addresses of table jumps. landed: functions with a
    jump table whose targets were visited.
    """

    before: dict[int, int]
    work: list[int]
    after: dict[int, int] = field(default_factory=dict)
    computed: dict[int, int] = field(default_factory=dict)
    tables: set[int] = field(default_factory=set)
    landed: set[int] = field(default_factory=set)


@dataclass
class Stack:
    """Bounds and frames of the functions of one listing. Each is computed once."""

    listing: Listing
    _known: dict[int, StackBound] = field(default_factory=dict)
    _active: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = sorted(self.listing.labels)
        self._addresses = sorted(self.listing.instructions)

    def bound(self, entry: str) -> StackBound:
        """The bound of a function, by name."""
        return self._bound(self._address(entry))

    def frame(self, entry: str) -> int:
        """The bytes of the function's own frame, without the functions it calls."""
        start, end = self._extent(self._address(entry))
        return max(depth for address, depth in self._depths(start).items() if start <= address < end)

    def _address(self, entry: str) -> int:
        found = [address for address, name in self.listing.labels.items() if name == entry]
        if len(found) != 1:
            which = "several functions" if found else "no function"
            raise ToolError(f"{which} {entry!r} in the image", where="stack bound")
        return found[0]

    def _bound(self, entry: int) -> StackBound:
        if entry in self._active:
            cycle = [self._name(a) for a in (*self._active[self._active.index(entry) :], entry)]
            raise ToolError(f"recursion: {' calls '.join(cycle)}", where="stack bound")
        if entry not in self._known:
            self._active.append(entry)
            self._known[entry] = self._deepest(entry)
            self._active.pop()
        return self._known[entry]

    def _deepest(self, entry: int) -> StackBound:
        best = StackBound(0, (self._name(entry),))
        for address, depth in self._depths(entry).items():
            instruction = self._instruction(address)
            here = tuple(dict.fromkeys((self._name(entry), self._name(address))))
            below = StackBound(0, ())
            if instruction.flow == "call" and instruction.target is not None:
                below = self._bound(instruction.target)
            if depth + below.nbytes > best.nbytes:
                best = StackBound(depth + below.nbytes, here + below.path)
        return best

    def _depths(self, entry: int) -> dict[int, int]:
        """Address -> most bytes on the stack around the instruction, for all code reached without a call."""
        walk = _Walk(before={entry: 0}, work=[entry])
        while walk.work:
            self._visit(walk, walk.work.pop())
            if not walk.work:
                walk.work = self._unreached(walk)
                walk.landed.update(self._extent(place)[0] for place in walk.work)
        for address in walk.tables:
            if self._extent(address)[0] not in walk.landed:
                raise _through_pointer(address, self._name(address))
        return walk.after

    def _visit(self, walk: _Walk, address: int) -> None:
        instruction = self._instruction(address)
        depth = walk.before[address] + instruction.grows
        if not 0 <= depth <= _DEEPEST_BYTES:
            raise ToolError("pushes and pops do not match", where=f"{address:#x}")
        walk.after[address] = max(depth, walk.before[address]) + instruction.passing
        if self._is_computed(address, instruction):
            start = self._extent(address)[0]
            walk.computed[start] = max(depth, walk.computed.get(start, 0))
            walk.tables |= {address} if instruction.flow == "computed" else set()
        for place in self._next(address, instruction):
            if depth > walk.before.get(place, -1):
                walk.before[place] = depth
                walk.work.append(place)

    def _instruction(self, address: int) -> Instruction:
        found = self.listing.instructions.get(address)
        if found is None:
            raise ToolError("the flow of control leaves the code", where="stack bound")
        start, end = self._extent(address)
        if found.flow == "unbounded":
            where = f"{address:#x} in {self._name(address)}"
            raise ToolError("the stack pointer moves by a variable amount", where=where)
        if found.flow == "call" and found.target is not None and start < found.target < end:
            return replace(found, flow="jump")  # Thumb-1 uses BL to jump across a long function
        return found

    def _is_computed(self, address: int, instruction: Instruction) -> bool:
        """Whether an instruction is a table jump, or a call followed by a table, as libgcc's switch helpers for Thumb-1
        use.
        """
        follows = self.listing.following.get(address, self._extent(address)[1]) < self._extent(address)[1]
        return instruction.flow == "computed" or (instruction.flow == "call" and not follows)

    def _next(self, address: int, instruction: Instruction) -> Iterator[int]:
        """The instructions that may run next. After a call, this is the one that it returns to."""
        flow, target = instruction.flow, instruction.target
        if flow == "register":
            raise _through_pointer(address, self._name(address))
        if flow in ("branch", "jump") and target is not None:
            yield target
        follower = self.listing.following.get(address, _END)
        if flow == "pad" and follower >= self._extent(address)[1]:
            return
        goes_on = flow in ("next", "pad", "branch") or instruction.falls_through
        if goes_on or (flow == "call" and not self._is_computed(address, instruction)):
            yield follower

    def _unreached(self, walk: _Walk) -> list[int]:
        """The first unvisited instruction of a function with a table jump. It gets the stack depth of the jump."""
        for start, depth in walk.computed.items():
            end = self._extent(start)[1]
            at = bisect_right(self._addresses, start)
            for address in self._addresses[at:]:
                if address >= end:
                    break
                if address not in walk.before and self.listing.instructions[address].flow != "pad":
                    walk.before[address] = depth
                    return [address]
        return []

    def _extent(self, address: int) -> tuple[int, int]:
        """The addresses [first, end) of the function that contains an address."""
        at = bisect_right(self._starts, address)
        end = self._starts[at] if at < len(self._starts) else _END
        return self._starts[max(at - 1, 0)], end

    def _name(self, address: int) -> str:
        start = self._extent(address)[0]
        return self.listing.labels.get(start, f"{start:#x}")


def _through_pointer(address: int, name: str) -> ToolError:
    return ToolError("a call or jump through a pointer has no stack bound", where=f"{address:#x} in {name}")
