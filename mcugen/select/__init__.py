"""Chooses a kernel for every node, and says why."""

from __future__ import annotations

from mcugen import schedule
from mcugen.errors import NoKernelError
from mcugen.graph import Graph, Node
from mcugen.op import Call, Kernel
from mcugen.options import Options
from mcugen.schedule import Choice, Schedule
from mcugen.target import Target


def solve(graph: Graph, target: Target, options: Options) -> Schedule:
    """A schedule with one kernel per node. Raises NoKernelError that lists every node without one."""
    choices: list[Choice] = []
    problems: list[str] = []
    for node in graph.nodes:
        call = graph.call(node, options.reference)
        refused = [(kernel, kernel.refusals(call, target.features)) for kernel in node.op.kernels]
        fitting = [kernel for kernel, why in refused if not why]
        if fitting:
            choices.append(Choice(node, call, fitting[0], _why(fitting[0], refused)))
        else:
            problems.append(_problem(node, call, refused))
    if problems:
        raise NoKernelError(
            "no kernel runs these nodes:\n" + "\n".join(problems),
            hint="`mcugen ops` lists the kernels and what each accepts",
        )
    return schedule.build(graph, choices, keep_input=options.keep_input)


def _why(chosen: Kernel, refused: list[tuple[Kernel, list[str]]]) -> str:
    """Why `chosen`, in the order of preference: what stood before it and was refused."""
    before = [(k, why) for k, why in refused[: [k for k, _ in refused].index(chosen)] if why]
    if not before:
        return "first choice" if len(refused) > 1 else "only kernel"
    return "; ".join(f"not {kernel.symbol}: {' and '.join(why)} does not hold" for kernel, why in before)


def _problem(node: Node, call: Call, refused: list[tuple[Kernel, list[str]]]) -> str:
    types = ", ".join("-" if t is None else str(t) for t in call.inputs)
    lines = [f"  {node.source}: {node.op} on ({types}) -> {call.output}"]
    lines += [f"    {kernel.symbol} needs: {'; '.join(why)}" for kernel, why in refused]
    return "\n".join(lines)
