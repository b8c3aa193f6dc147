"""The kernels that can run each node, with their costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from mcugen import kernels
from mcugen.boards.target import Target
from mcugen.errors import McugenError, NoKernelError
from mcugen.ir.alike import shared_fact
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.kernel import Grid, Kernel, Ring, Whole
from mcugen.ir.types import rows_of
from mcugen.kernels import halves
from mcugen.options import Options
from mcugen.solve import costs, device_kernels, no_kernel
from mcugen.solve.budget import is_long
from mcugen.solve.schedule import Choice, Step
from mcugen.solve.schedule.steps import node_of
from mcugen.solve.weights import waits_per_byte
from mcugen.system import forked


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kernel that can run a node, with its cost.

    cost: mean of estimated instructions and cycles, since the time of instruction fetches depends on the memory. For a
    board with known flash timing: cycles, plus wait cycles for reads of constants. rows_cost: the same cost if the node
    runs row by row. function: name of the C function that it calls. code_bytes: code size of this function. data_bytes:
    size of this function instead, with code_bytes 0, if its code contains the weights and counts as constants.
    """

    choice: Choice
    cost: float
    rows_cost: float
    function: str
    code_bytes: int
    data_bytes: int = 0

    @property
    def constant_bytes(self) -> int:
        """Bytes of constants, those in the code included."""
        return self.choice.constant_bytes + self.data_bytes

    @property
    def working_bytes(self) -> int:
        """Bytes of scratch and of the ring of converted rows, for a whole step."""
        return self.choice.working[0]

    @property
    def is_accelerated(self) -> bool:
        """Whether the kernel needs instructions that not every core has."""
        return bool(self.choice.kernel.needs)


UNMEASURED = 0.99
"""An unmeasured kernel is assumed to cost this fraction of the cheapest kernel listed after it."""

Candidates = tuple[Candidate, ...]
"""The candidates of one node, the fastest first."""

_Judged = tuple[Kernel, str]
"""A kernel, and the first reason why it cannot run a call. The reason is empty if it can."""


@dataclass(frozen=True, eq=False)
class _Run:
    """The core and the schedule mode that costs are estimated for. It is the key of cached estimates.

    batch: rows per event; None: the result of `batch_of`. frames: whether each inference computes one output row.
    waits_per_byte: wait cycles per byte of constants read, None if not known. kept_bytes: size of the flash's data
    cache.
    """

    target: Target
    by_rows: bool
    batch: int | None
    frames: bool
    waits_per_byte: float | None
    kept_bytes: int

    @property
    def core(self) -> str:
        return self.target.core


def _run(target: Target, options: Options) -> _Run:
    by_rows = options.input_mode != "whole" or options.optimize == "ram"
    frames = options.input_mode == "frames"
    kept = target.flash_regions()[0].data_cache_bytes if target.flash_regions() else 0
    return _Run(target, by_rows, 1 if frames else None, frames, waits_per_byte(options, target), kept)


def candidates_of(graph: Graph, target: Target, options: Options, *, moving: bool = False) -> list[Candidates]:
    """Candidates of every node, in order. Raises NoKernelError, which lists every node without one.

    moving: use kernels that copy bytes instead of letting tensors lie inside each other. With --require-accelerated,
    also raises NoKernelError for a node that only portable kernels can run although accelerated kernels exist for its
    types.
    """
    run, nodes = _run(target, options), graph.nodes
    calls = [_call(graph, node, target, options) for node in nodes]
    known = [_known(node, call, target) for node, call in zip(nodes, calls, strict=True)]

    def found(k: int) -> Candidates:
        node, call = nodes[k], calls[k]
        with _naming(node):
            refused = list(zip(known[k], _refusals(call, known[k], target.features), strict=True))
            offered = refused if options.input_mode == "whole" else _by_rows(node, call, refused)
            able = _moving(offered) if moving else offered
            listed = _listed(node, call, able, run, code_is_data=not have_price(options, target))
            return _asked(listed, priced) if shares else listed

    priced = have_price(options, target) or options.optimize == "flash"
    shares = is_long(graph) and not target.device  # device kernels are made per call, so processes cannot exchange them
    candidates = forked.each(
        found,
        len(nodes),
        chain(nodes, calls, _every(known)),
        is_worth_it=shares,
    )
    problems: list[str] = []
    for node, call, kernels_known, listed in zip(nodes, calls, known, candidates, strict=True):
        if not listed:
            with _naming(node):
                problems.append(no_kernel.of_node(node, call, kernels_known, target))
        elif (
            options.require_accelerated and not any(c.is_accelerated for c in listed) and listed[0].choice.kernel.symbol
        ):
            problems += _unaccelerated(node, call, target)
    if problems:
        raise NoKernelError(
            "no kernel can run these nodes:\n" + no_kernel.of_nodes(problems),
            hint="`mcugen ops` lists the kernels and what each accepts",
        )
    return candidates


@contextmanager
def _naming(node: Node) -> Iterator[None]:
    """Context that adds a node's layer to the errors raised in it."""
    try:
        yield
    except McugenError as error:
        error.where = error.where or node.source
        raise


@shared_fact
def _refusals(call: Call, known: tuple[Kernel, ...], features: frozenset[str]) -> tuple[str, ...]:
    return tuple(kernel.refusal(call, features) for kernel in known)


def have_price(options: Options, target: Target) -> bool:
    """Whether the goal weighs bytes of constants against time. False for computers: they have memory, and no cost
    tables.
    """
    return options.optimize in ("balanced", "ram") and bool(target.isa) and not target.runs_linux


def _call(graph: Graph, node: Node, target: Target, options: Options) -> Call:
    call = graph.call(node, options.reference)
    return replace(call, loop_bytes=target.loop_bytes, features=target.features)


def _every(known: Sequence[Sequence[Kernel]]) -> Iterator[Kernel]:
    """All kernels. A kernel that keeps converted rows in a ring is followed by its variant without the ring."""
    for kernel in {id(kernel): kernel for listed in known for kernel in listed}.values():
        yield from (kernel, kernel.refilling) if isinstance(kernel.form, Ring) else (kernel,)


def _asked(listed: Candidates, priced: bool) -> Candidates:
    """The candidates, after computing the cached properties of their choices. Packing constants takes the longest.

    priced: whether the sizes of constants are needed.
    """
    for c in listed:
        _ = c.choice.can_run_by_rows, c.choice.working
        if priced:
            _ = c.choice.constant_bytes
    return listed


def rows_costs_of(c: Candidate, batches: Sequence[int], target: Target, options: Options) -> list[float]:
    """Costs row by row for each number of rows per event in `batches`; each at least the cost of whole tensors."""
    run, choice = _run(target, options), c.choice
    one, *several = (
        _cost(choice, costs.estimate(choice.kernel, choice.call, run.core, True, n), run) for n in (run.batch, *batches)
    )
    return [max(c.cost, c.rows_cost + many - one) for many in several]


def _known(node: Node, call: Call, target: Target) -> tuple[Kernel, ...]:
    """Kernels that may run the call. For an OpenCL device, C kernels that compute in float16 are left out."""
    in_c = kernels.of(node.op)
    if not target.device:
        return in_c
    return (*kernels.on_device(type(node.op)), *(k for k in in_c if not (k.has_code and halves.are_in(call))))


def _listed(node: Node, call: Call, refused: Sequence[_Judged], run: _Run, code_is_data: bool) -> Candidates:
    """The candidates of a node, the fastest first. code_is_data: whether code that holds constants counts as data."""
    fitting = [kernel for kernel, why in refused if not why]
    if run.target.device:
        fitting = [
            *device_kernels.tiled(call, fitting, run.target),
            *(k for k in fitting if not isinstance(k.form, Grid)),
        ]
    fitting = [k for kernel in fitting for k in (kernel, *_refilling(node, call, kernel, run))]
    free = [kernel for kernel in fitting if not kernel.has_code]
    found: list[_Measured] = []
    for kernel in reversed(free[:1] or fitting):
        found.append(_measured(call, kernel, run, found[-1].least if found else None))
    found.reverse()
    fastest = sorted(found, key=lambda m: m.cost)  # stable: equal costs keep the operator's order
    places = _places(fastest) if len(fastest) > 1 else [""]

    def candidate(m: _Measured, place: str) -> Candidate:
        choice = Choice(node, call, m.kernel, _why(m.kernel, call, refused, place, run))
        data = m.code_bytes if m.kernel.cost.code_is_data and code_is_data else 0
        return Candidate(choice, m.cost, m.rows_cost, m.function, m.code_bytes - data, data)

    return tuple(map(candidate, fastest, places))


def _by_rows(node: Node, call: Call, refused: Sequence[_Judged]) -> list[_Judged]:
    """The kernels for a model whose input is pushed by rows.

    Kernels on whole tensors are left out, if other kernels can run the call by rows.
    """

    def follows(kernel: Kernel) -> bool:
        return kernel.slides or Choice(node, call, kernel, "").can_run_by_rows

    able = any(not why and follows(kernel) for kernel, why in refused)
    return [(kernel, why) for kernel, why in refused if not (able and isinstance(kernel.form, Whole))]


def _moving(refused: Sequence[_Judged]) -> Sequence[_Judged]:
    """The kernels that move bytes, if any of them can run the call; else all kernels.

    The others have no code: their operand and result share bytes.
    """
    moving = [(kernel, why) for kernel, why in refused if kernel.has_code]
    return moving if any(not why for _, why in moving) else refused


class _Measured(NamedTuple):
    """A kernel with the costs of a `Candidate`. least: least cost among this kernel and all kernels listed after it."""

    kernel: Kernel
    cost: float
    rows_cost: float
    function: str
    code_bytes: int
    least: float


def _measured(call: Call, kernel: Kernel, run: _Run, next_cost: float | None) -> _Measured:
    """Costs of a kernel. An unmeasured kernel is assumed to be a little faster than all kernels listed after it.

    next_cost: least cost of the kernels listed after it; None for the last kernel
    """
    taken = _taken(call, kernel, run)
    cost, rows_cost = taken.cost, taken.rows_cost
    if not taken.is_fitted and next_cost is not None:
        cost = rows_cost = UNMEASURED * next_cost
    least = cost if next_cost is None else min(cost, next_cost)
    return _Measured(kernel, cost, rows_cost, taken.function, taken.code_bytes, least)


class _Taken(NamedTuple):
    """Costs of a kernel, cached for equal calls. is_fitted: whether they come from measurements."""

    cost: float
    rows_cost: float
    function: str
    code_bytes: int
    is_fitted: bool


@shared_fact
def _taken(call: Call, kernel: Kernel, run: _Run) -> _Taken:
    function = kernel.identity(call)
    if isinstance(kernel.form, Grid):
        taken_ns = device_kernels.nanoseconds(kernel, call, run.target)
        return _Taken(taken_ns, taken_ns, function, 0, True)
    choice = Choice(node_of(call), call, kernel, "")
    taken = costs.estimate(kernel, call, run.core, run.by_rows, run.batch, frames=run.frames)
    stays_whole = not (kernel.cost.parts or choice.can_run_by_rows)
    walked = taken if run.by_rows or stays_whole else costs.estimate(kernel, call, run.core, True, run.batch)
    cost = _cost(choice, taken, run) + (device_kernels.HOST_NS if run.target.device and kernel.has_code else 0.0)
    rows_cost = max(cost, _cost(choice, walked, run))  # by rows is never cheaper, even if the fit says so
    if run.frames and choice.can_run_by_rows:  # a run computes one row
        cost, rows_cost = (c / rows_of(call.output.shape) for c in (cost, rows_cost))
    return _Taken(cost, rows_cost, function, costs.code_bytes(kernel, call, run.core), taken.is_fitted)


def _refilling(node: Node, call: Call, kernel: Kernel, run: _Run) -> tuple[Kernel, ...]:
    """The variant of the kernel that converts its input rows anew in each event, if the kernel keeps rows between
    events.
    """
    if not isinstance(kernel.form, Ring) or run.batch is not None:
        return ()
    step = Step(0, Choice(node, call, kernel, ""), by_rows=True)
    return (kernel.refilling,) if step.choice.can_run_by_rows and step.ring_stays(streams=False) else ()


def _cost(choice: Choice, taken: costs.Estimate, run: _Run) -> float:
    cycles = (taken.cycles_low + taken.cycles_high) / 2
    if run.waits_per_byte is None:
        return (taken.instructions + cycles) / 2
    return cycles + run.waits_per_byte * costs.constant_reads(choice, run.kept_bytes)


def _why(kernel: Kernel, call: Call, refused: Sequence[_Judged], place: str, run: _Run) -> str:
    """Reason for a kernel in the report: its rank by cost, or the rule that each preferred kernel breaks."""
    if isinstance(kernel.form, Grid):
        return device_kernels.reason(kernel, call, run.target)
    if run.target.device and kernel.has_code:
        return _why_not_on_device(refused)
    if place:
        return place
    lacking: dict[str, str] = {}
    for other, why in refused[: [k for k, _ in refused].index(kernel)]:
        if why and all(rule(call) for rule in other.accepts[:1]):
            lacking.setdefault(why, other.symbol)
    return "; ".join(f"{symbol} needs: {reason}" for reason, symbol in lacking.items()) or "the only one"


def _why_not_on_device(refused: Sequence[_Judged]) -> str:
    """Reason why none of the kernels for devices runs a call."""
    broken = [f"{kernel.symbol} needs: {why}" for kernel, why in refused if isinstance(kernel.form, Grid) and why]
    return "; ".join(broken) or "no kernel of the device computes this operator"


def _places(listed: Sequence[_Measured]) -> list[str]:
    """For each kernel, its rank by cost as text for the report."""
    of = sum(not m.kernel.form.refills for m in listed)
    least = max(min(m.cost for m in listed), 1.0)
    least_by_rows = max(min(m.rows_cost for m in listed), 1.0)

    def place(m: _Measured) -> str:
        if m.kernel.form.refills:
            anew = m.rows_cost / least_by_rows
            return f"converts rows anew each time: {anew:.2f} times the fastest of {of}"
        return f"fastest of {of}" if m is listed[0] else f"{m.cost / least:.2f} times the fastest of {of}"

    return [place(m) for m in listed]


def _unaccelerated(node: Node, call: Call, target: Target) -> list[str]:
    """Error text for a node that all accelerated kernels for its types refuse; empty if there are no such kernels."""
    if target.device:
        known = kernels.on_device(type(node.op))
        return [no_kernel.of_node(node, call, known, target)]
    better = [k for k in kernels.of(node.op) if k.needs and k.needs <= target.features and _is_for_types(k, call)]
    return [no_kernel.of_node(node, call, better, target)] if better else []


def _is_for_types(kernel: Kernel, call: Call) -> bool:
    return all(rule(call) for rule in kernel.accepts[:1])
