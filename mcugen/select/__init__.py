"""Chooses a kernel for every node, and says why."""

from __future__ import annotations

from mcugen.errors import NoKernelError
from mcugen.graph import Graph, Node
from mcugen.op import Call, Kernel
from mcugen.options import Options
from mcugen.schedule import Choice
from mcugen.select.budget import Solution, arrange, front, ranges
from mcugen.target import Target

__all__ = ["Solution", "arrange", "choices_of", "front", "ranges", "solve"]


def solve(graph: Graph, target: Target, options: Options) -> Solution:
    """A planned schedule with one kernel per node. Raises NoKernelError that lists every node without one."""
    return arrange(graph, choices_of(graph, target, options), options, target)


def choices_of(graph: Graph, target: Target, options: Options) -> list[Choice]:
    """The kernel of every node. Raises NoKernelError."""
    choices: list[Choice] = []
    problems: list[str] = []
    for node in graph.nodes:
        call = graph.call(node, options.reference)
        refused = [(kernel, kernel.refusals(call, target.features)) for kernel in node.op.kernels]
        fitting = [kernel for kernel, why in refused if not why]
        if fitting:
            choices.append(Choice(node, call, fitting[0], _why(fitting[0], refused, call)))
        else:
            problems.append(_problem(node, call, refused))
    if problems:
        raise NoKernelError(
            "no kernel runs these nodes:\n" + "\n".join(problems),
            hint="`mcugen ops` lists the kernels and what each accepts",
        )
    return choices


def _why(chosen: Kernel, refused: list[tuple[Kernel, list[str]]], call: Call) -> str:
    """Why `chosen`: of the kernels preferred to it, those for the same types, and the first thing each lacks."""
    preferred = refused[: [kernel for kernel, _ in refused].index(chosen)]
    lacking: dict[str, str] = {}
    for kernel, why in preferred:
        if why and all(rule(call) for rule in kernel.accepts[:1]):
            lacking.setdefault(why[0], kernel.symbol)
    if not lacking:
        return "first choice for these types"
    return "; ".join(f"{symbol} needs: {reason}" for reason, symbol in lacking.items())


def _problem(node: Node, call: Call, refused: list[tuple[Kernel, list[str]]]) -> str:
    types = ", ".join("-" if t is None else str(t) for t in call.inputs)
    lines = [f"  {node.source}: {node.op} on ({types}) -> {call.output}"]
    lines += [f"    {kernel.symbol} needs: {'; '.join(why)}" for kernel, why in refused]
    return "\n".join(lines)
