"""Chooses a kernel for every node, and says why."""

from __future__ import annotations

from mcugen import schedule
from mcugen.errors import NoKernelError, UsageError
from mcugen.graph import Graph, Node
from mcugen.op import Call, Kernel
from mcugen.options import Options
from mcugen.schedule import Choice, Schedule, segments
from mcugen.target import Target
from mcugen.types import images_of, rows_of


def solve(graph: Graph, target: Target, options: Options) -> Schedule:
    """A schedule with one kernel per node. Raises NoKernelError that lists every node without one."""
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
    return _arrange(graph, choices, options)


def _arrange(graph: Graph, choices: list[Choice], options: Options) -> Schedule:
    """The order of rows: every step whole, or, for the least RAM, segments run row by row."""
    pushed = None if options.input_mode == "whole" else _pushed_input(graph, options.input_mode)
    if pushed is not None and options.input_mode == "frames":
        return schedule.build_frames(graph, choices, pushed)
    if pushed is None and (options.no_rows or options.optimize != "ram"):
        return schedule.build(graph, choices, keep_input=options.keep_input)
    found = segments.Search(graph, choices, keep_input=options.keep_input, pushed=pushed).least()
    by_rows = [s.steps for s in found if s.by_rows]
    return schedule.build(graph, choices, by_rows, keep_input=options.keep_input, pushed=pushed)


def _pushed_input(graph: Graph, mode: str) -> str:
    """The input that rows are handed in of. Raises UsageError, with the reason, where there is no such one."""
    read = [name for name in graph.inputs if name not in graph.unread_inputs]
    if len(read) != 1:
        hint = "rows and frames can be pushed of one input"
        raise UsageError(f"--input-mode {mode}: the model has {len(read)} inputs", hint=hint)
    shape = graph.type(read[0]).shape
    if rows_of(shape) < 2 or images_of(shape) != 1:
        hint = "rows are those of an input [1, H, W, C]"
        raise UsageError(f"--input-mode {mode}: the input has the shape {list(shape)}", hint=hint)
    return read[0]


def _why(chosen: Kernel, refused: list[tuple[Kernel, list[str]]], call: Call) -> str:
    """Why `chosen`: of the kernels preferred to it, those for the same types, and the first thing each lacks."""
    preferred = refused[: [kernel for kernel, _ in refused].index(chosen)]
    lacking = [(kernel, why) for kernel, why in preferred if why and all(rule(call) for rule in kernel.accepts[:1])]
    if not lacking:
        return "first choice for these types"
    return "; ".join(f"{kernel.symbol} needs: {why[0]}" for kernel, why in lacking)


def _problem(node: Node, call: Call, refused: list[tuple[Kernel, list[str]]]) -> str:
    types = ", ".join("-" if t is None else str(t) for t in call.inputs)
    lines = [f"  {node.source}: {node.op} on ({types}) -> {call.output}"]
    lines += [f"    {kernel.symbol} needs: {'; '.join(why)}" for kernel, why in refused]
    return "\n".join(lines)
