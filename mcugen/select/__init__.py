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
            choices.append(Choice(node, call, fitting[0], _why(fitting[0], refused)))
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
    found = segments.least_ram(graph, choices, keep_input=options.keep_input, pushed=pushed)
    by_rows = [s.steps for s in found if s.by_rows]
    return schedule.build(graph, choices, by_rows, keep_input=options.keep_input, pushed=pushed)


def _pushed_input(graph: Graph, mode: str) -> str:
    """The input that rows are handed in of. Raises UsageError, with the reason, where there is no such one."""
    read = [name for name in graph.inputs if name not in graph.unread_inputs]
    if len(read) != 1:
        raise UsageError(f"--input-mode {mode}: the model has {len(read)} inputs", hint="rows and frames can be pushed of one input")
    shape = graph.type(read[0]).shape
    if rows_of(shape) < 2 or images_of(shape) != 1:
        raise UsageError(
            f"--input-mode {mode}: the input has the shape {list(shape)}", hint="rows are those of an input [1, H, W, C]"
        )
    return read[0]


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
