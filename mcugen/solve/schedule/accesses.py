"""Estimated reads and writes of each buffer in an inference, from the work of the steps, to rank memories by."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.solve.schedule import Schedule
from mcugen.solve.schedule.steps import Step


def accesses(schedule: Schedule) -> dict[str, int]:
    """Buffer name -> element reads and writes per inference; when streaming, per frame.

    Each multiply-accumulate counts as one read of its activation: from the converted rows if the kernel has any, else
    from the scratch if it gathers its inputs there, else from the tensor. Filling the scratch counts one read of the
    tensor per pixel and tap. Other operands are read once, and results are written once. Savings by registers and
    caches are not counted.
    """
    found = dict.fromkeys([b.name for b in schedule.buffers()], 0)
    for step in schedule.steps:
        for name, count in _of_step(schedule, step).items():
            found[name] += count
    return found


def _of_step(schedule: Schedule, step: Step) -> dict[str, int]:
    call, node = step.choice.call, step.choice.node
    share = step.walked_rows if schedule.streams and step.by_rows else 1
    macs = schedule.macs(step)
    found: dict[str, int] = {}
    for k, name in enumerate(node.inputs):
        if name is None or name not in schedule.buffer_name:
            continue
        reads = call.input(k).size // share
        if k == 0 and not step.ring_bytes:
            reads = max(reads, macs // max(call.output.shape[-1], 1) if step.scratch_bytes and macs else macs)
        found[schedule.buffer_name[name]] = found.get(schedule.buffer_name[name], 0) + reads
    for name, t in zip(node.outputs, call.outputs, strict=True):
        found[schedule.buffer_name[name]] = found.get(schedule.buffer_name[name], 0) + t.size // share
    if step.ring_bytes:
        found[step.ring_name] = macs + call.input(0).size // share
    if step.scratch_bytes:
        found[step.scratch_name] = max(macs, sum(t.size for t in call.outputs) // share)
    return found


def constant_accesses(schedule: Schedule, step: Step, sizes: Sequence[int]) -> list[int]:
    """Element reads of each constant of a step, per inference; when streaming, per frame.

    sizes: number of elements of each constant. The largest constant is read once per multiply-accumulate, the others
    once per element of the result. Each element is read at least once.
    """
    share = step.walked_rows if schedule.streams and step.by_rows else 1
    results = sum(t.size for t in step.choice.call.outputs) // share
    largest = max(sizes, default=0)
    return [max(size, results, schedule.macs(step) if size == largest else 0) for size in sizes]
