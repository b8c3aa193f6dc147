"""Notes of a build for an OpenCL device on the steps that the host runs."""

from __future__ import annotations

from itertools import pairwise

from mcugen.boards.machine import Device
from mcugen.boards.target import Target
from mcugen.ir.call import Call
from mcugen.oracle.interpreter import HALF_TOLERANCE, tolerance_text
from mcugen.solve.schedule import Schedule, Step

_COPY_BYTES_PER_S = 10e9
"""Assumed speed of copies between host and device without shared memory, in bytes per second."""


def notes(schedule: Schedule, target: Target) -> tuple[str, ...]:
    """Notes: where the time estimates come from; per step that runs as C, the reason; and the cost of switching
    sides.
    """
    device = target.device
    if device is None:
        return ()
    halves = (*_of_halves(schedule), *_of_profile(device, target))
    found = [_note(step) for step in schedule.steps if not step.on_device]
    if not found:
        return halves
    arena = sum(buffer.nbytes for buffer in schedule.buffers())
    copies = f"about {2e3 * arena / _COPY_BYTES_PER_S:.3g} ms of copies"
    cost = "no copy, as memory is shared" if device.unified else copies
    turns = changes(schedule)
    return (*halves, *found, f"{turns} changes of side in a run, each waits for the device: {cost}")


def _of_profile(device: Device, target: Target) -> tuple[str, ...]:
    """A note, for a device that was not measured, that times are estimates; with the figures used and their source."""
    if device.measured:
        return ()
    traits = [name for name, has in (("images", device.images), ("half", device.half)) if has]
    limits = f"{device.local_bytes:,} bytes of local memory, work-groups up to {device.max_group}"
    peaks = f"{device.flops / 1e9:.0f} GFLOP/s, {device.bandwidth / 1e9:.0f} GB/s"
    listed = ", ".join([f"{device.compute_units} compute units", peaks, limits, *traits])
    return (f"times are by the roofline of {target.title}, not measured: {listed}; {device.source}",)


def _of_halves(schedule: Schedule) -> tuple[str, ...]:
    """A note on how float16 storage affects results, and on steps that convert or compute floats."""
    graph = schedule.graph
    if not graph.stores_halves:
        return ()
    casts = sum(_computed(step.choice.call) == {"f16", "f32"} for step in schedule.steps)
    kept = sum(
        "f32" in _computed(step.choice.call) and "f16" not in _computed(step.choice.call) for step in schedule.steps
    )
    near = tolerance_text(HALF_TOLERANCE)
    return (
        f"tensors and weights of floats are stored as half: results are within {near} of the model's, relative to the "
        f"magnitude of the sums; {casts} steps turn float into half or back, {kept} compute floats, as they have "
        "no kernel for halves or numbers too large for them",
    )


def _computed(call: Call) -> set[str]:
    """Element types of a call's operands and results. Constants are left out."""
    given = (t.dtype for t, data in zip(call.inputs, call.constants, strict=True) if t is not None and data is None)
    return {*given, *(t.dtype for t in call.outputs)}


def changes(schedule: Schedule) -> int:
    """How often a run switches from device to host or back."""
    sides = [True, *(schedule.steps[event.step].on_device for event in schedule.trace if event.step >= 0), True]
    return sum(a != b for a, b in pairwise(sides))


def _note(step: Step) -> str:
    choice = step.choice
    return f"step {step.index}, {type(choice.node.op).__name__} of {choice.node.source}, is run as C: {choice.why}"
