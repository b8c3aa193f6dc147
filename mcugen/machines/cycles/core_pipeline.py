"""Cycles of a straight-line sequence of instructions on a Pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcugen.boards.isa import Operation
from mcugen.machines.cycles.core_model import Pipeline


@dataclass
class _State:
    """State of the pipeline.

    now: cycle in which the last instruction issued. issued: instructions issued in that cycle. free: first cycle in
    which the next instruction can issue alone. ready: register -> cycle in which its value can be read. summing:
    register -> cycle in which its value can be accumulated onto. units: per unit, the cycles when it becomes free.
    lonely: whether the last instruction allows no other in its cycle. extra: fractional cycles to add at the end.
    """

    now: int = 0
    issued: int = 0
    free: int = 0
    ready: dict[str, int] = field(default_factory=dict)
    summing: dict[str, int] = field(default_factory=dict)
    units: dict[str, list[int]] = field(default_factory=dict)
    last: Operation | None = None
    last_bytes: int = 4
    lonely: bool = False
    extra: float = 0.0


def cycles_of(operations: Sequence[Operation], sizes: Sequence[int], pipe: Pipeline, *, repeats: bool = False) -> float:
    """The cycles of a straight-line sequence whose branches are not taken. sizes: bytes of each instruction.

    repeats: the sequence is a loop's body. The result is then the cycles of each iteration after the first.
    """
    state = _State()
    _walk(state, operations, sizes, pipe)
    first = state.free + state.extra
    if not repeats:
        return first
    _walk(state, operations, sizes, pipe)
    return state.free + state.extra - first


def _walk(state: _State, operations: Sequence[Operation], sizes: Sequence[int], pipe: Pipeline) -> None:
    for op, size in zip(operations, sizes, strict=True):
        _issue(state, op, size, pipe)


def _issue(state: _State, op: Operation, size: int, pipe: Pipeline) -> None:
    takes = _cycles(state, op, pipe)
    if takes == 0:
        return
    at = max(state.now if _fits(state, op, size, pipe) else state.free, _operands_ready(state, op))
    at = max(at, _unit_free(state, op, pipe, at))
    together = at == state.now and state.last is not None
    state.issued = state.issued + 1 if together else 1
    state.free = max(state.free, at + takes) if together else at + takes
    state.now = at
    _finish(state, op, pipe, at, takes)
    state.last, state.last_bytes = op, size
    state.lonely = op.kind in pipe.alone
    state.extra += pipe.per_register.get(op.kind, 0.0) * op.count


def _cycles(state: _State, op: Operation, pipe: Pipeline) -> int:
    takes = pipe.cycles.get(op.kind, 1)
    if op.kind in pipe.follows and state.last is not None and state.last.kind in pipe.leads:
        takes -= 1
    return takes


def _fits(state: _State, op: Operation, size: int, pipe: Pipeline) -> bool:
    """Whether the instruction may issue in the cycle of the previous one, as far as operands and units allow."""
    if state.last is None:
        return True
    if state.issued >= pipe.width or state.lonely or op.kind in pipe.alone or state.free > state.now + 1:
        return False
    if pipe.seconds is None:
        return True
    return size == 2 and state.last_bytes == 2 and op.name in pipe.seconds


def _operands_ready(state: _State, op: Operation) -> int:
    at = max((state.ready.get(r, 0) for r in op.reads if r != op.late), default=0)
    return max(at, state.summing.get(op.late, 0)) if op.late in op.reads else at


def _unit_free(state: _State, op: Operation, pipe: Pipeline, at: int) -> int:
    unit = pipe.units.get(op.kind)
    if unit is None:
        return at
    slots = state.units.setdefault(unit, [0] * pipe.has.get(unit, 1))
    return min(slots)


def _finish(state: _State, op: Operation, pipe: Pipeline, at: int, takes: int) -> None:
    unit = pipe.units.get(op.kind)
    if unit is not None:
        slots = state.units[unit]
        slots[slots.index(min(slots))] = at + pipe.busy.get(op.kind, takes)
    latency = pipe.latency.get(op.kind, takes)
    for register in op.writes:
        state.ready[register] = at + latency
        state.summing[register] = at + pipe.late.get(op.kind, latency)
