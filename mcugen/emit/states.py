"""Values of states for the templates: address in the model object, initial value, and update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mcugen.emit.literals import comment, type_text
from mcugen.emit.memory import element
from mcugen.ir.streams import hop_states
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule


@dataclass(frozen=True)
class StateView:
    """A state: a value that the model object keeps from run to run.

    place, array, moved_from: C expressions of addresses, in which `a` is the arena or the array of arenas. fill: the
    byte that fills the initial value; "" if bytes differ, in which case `array` is a constant with the value.
    moved_from: where a run computes the next value; "" if it is computed at `place`. per_hop: whether it changes with
    each window of a stream of samples.
    """

    title: str
    place: str
    nbytes: int
    fill: str
    array: str
    moved_from: str
    per_hop: bool = False

    @property
    def texts(self) -> list[str]:
        """C text that may name constants."""
        return [self.array]


def states_of(schedule: Schedule, plan: MemoryPlan, constant: Callable[[np.ndarray, str], str]) -> list[StateView]:
    """The states of the model, in order. constant: gives the symbol of an array; its second argument is a comment."""
    graph, moved = schedule.graph, schedule.moved_states
    per_hop = hop_states(graph) if graph.stream else ()
    found = []
    for state in graph.states:
        tensor = graph.tensors[state.before]
        title = f"{type_text(tensor.type)} {comment(tensor.label)}".rstrip()
        fill = _fill(state.initial)
        found.append(
            StateView(
                title=title,
                place=_address(schedule, plan, state.before),
                nbytes=tensor.type.nbytes,
                fill=fill,
                array="" if fill else constant(state.initial, f"initial value of {title}"),
                moved_from=_address(schedule, plan, state.after) if state in moved else "",
                per_hop=state in per_hop,
            )
        )
    return found


def _address(schedule: Schedule, plan: MemoryPlan, tensor: str) -> str:
    at = schedule.places[tensor]
    return f"&a{element(plan, at.buffer, at.start)}"


def _fill(initial: np.ndarray) -> str:
    """The byte that all bytes of a value equal; "" if they differ."""
    stored = set(np.ascontiguousarray(initial).tobytes())
    return str(stored.pop()) if len(stored) == 1 else ""
