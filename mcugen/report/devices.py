"""What a build for an OpenCL device says of the steps that the host runs."""

from __future__ import annotations

from itertools import pairwise

from mcugen.schedule import Schedule, Step
from mcugen.target import Target

_COPY_BYTES_PER_S = 10e9
"""What a copy between host and device is taken to move a second, where they share no memory."""


def notes(schedule: Schedule, target: Target) -> tuple[str, ...]:
    """For each row of steps in C why it is there, and what the change of side costs."""
    device = target.device
    if device is None:
        return ()
    found = [_note(step) for step in schedule.steps if not step.on_device]
    if not found:
        return ()
    arena = sum(buffer.nbytes for buffer in schedule.buffers())
    copies = f"about {2e3 * arena / _COPY_BYTES_PER_S:.3g} ms of copies"
    cost = "no copy, as memory is shared" if device.unified else copies
    turns = changes(schedule)
    return (*found, f"{turns} changes of side in a run, each waits for the device: {cost}")


def changes(schedule: Schedule) -> int:
    """How often a run goes from device to host or back."""
    sides = [True, *(schedule.steps[event.step].on_device for event in schedule.trace if event.step >= 0), True]
    return sum(a != b for a, b in pairwise(sides))


def _note(step: Step) -> str:
    choice = step.choice
    return f"step {step.index}, {type(choice.node.op).__name__} of {choice.node.source}, is run as C: {choice.why}"
