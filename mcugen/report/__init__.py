"""Reports: the facts of a build as text and JSON, and whether it fits the board."""

from __future__ import annotations

import dataclasses
from typing import Any

from mcugen.boards.target import Target
from mcugen.emit.view import ModelView
from mcugen.errors import MemoryBudgetError
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.report import buffer_lifetimes, constant_memories, estimates, memory_regions, removals
from mcugen.report.facts import CycleFacts, Report, StateFacts, StepFacts
from mcugen.solve import Solution, refusal
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule, Step
from mcugen.solve.weights import WeightRegions
from mcugen.system import tabular

PEAK_TENSORS = 6
PEAK_LABEL = 40
_LARGER_BOARD = "take a larger board (`mcugen boards` shows their memories) or a smaller model"


def facts_of(
    view: ModelView, solution: Solution, board: Target, imported: Graph, notes: tuple[str, ...] = ()
) -> Report:
    """The report of a planned and emitted model. The names of its files are added later."""
    schedule, plan = solution.schedule, solution.plan
    weights = constant_memories.facts_of(view, board)
    cycles = estimates.of_steps(solution, weights, board)
    stream = estimates.of_stream(view, schedule, cycles, board.clock_hz)
    found = Report(
        name=view.name,
        board=board.name,
        reference=view.reference,
        ram_bytes=solution.ram_bytes + (view.blob.object_bytes if view.blob else 0),
        arena_bytes=sum(part.nbytes for part in plan.parts),
        lower_bound=view.lower_bound,
        proven=view.proven,
        gap_bytes=sum(part.gap_bytes for part in plan.parts),
        scratch_bytes=max((step.scratch_bytes for step in schedule.steps), default=0),
        weights_bytes=view.weights_size,
        macs=removals.nominal_macs(imported, schedule, view.reference),
        live_macs=view.macs,
        cycles=estimates.of_inference(schedule, cycles),
        clock_hz=board.clock_hz,
        steps=_steps(view, schedule, cycles, imported),
        regions=memory_regions.facts_of(solution),
        weights=weights,
        notes=(
            *notes,
            *solution.notes,
            *_of_frames(imported, schedule, view.reference),
            *estimates.stream_notes(stream, board.energy),
            *_of_software_floats(schedule, board),
        ),
        removed=schedule.graph.removed,
        states=_states(schedule),
        version=view.version,
        command=view.command,
        sha256=view.sha256,
        promise=view.promise,
        events=len(schedule.trace),
        inputs=schedule.graph.inputs,
        outputs=schedule.graph.outputs,
        tensors=buffer_lifetimes.tensors_of(schedule, imported),
        buffers=buffer_lifetimes.buffers_of(schedule, plan),
        trace=buffer_lifetimes.trace_of(schedule),
        stream=stream,
    )
    return _on_board(found, board)


def _on_board(facts: Report, board: Target) -> Report:
    """The report with facts from the board's file about its memories and estimates."""
    return dataclasses.replace(
        facts,
        ram_limit_bytes=board.total_ram_bytes,
        flash_limit_bytes=board.flash_bytes,
        waits=any(region.has_waits for region in board.regions),
        checked=board.estimation.checked,
        energy=board.energy,
    )


def _of_frames(imported: Graph, schedule: Schedule, reference: str) -> list[str]:
    """A note, for a model that is fed frames, that figures are per frame."""
    if not schedule.streams:
        return []
    whole = sum(node.op.macs(imported.call(node, reference)) for node in imported.nodes)
    return [f"time and work are those of a frame; a whole window has {whole:,} MAC"]


def _of_software_floats(schedule: Schedule, board: Target) -> list[str]:
    """A note, if this board computes the model's floats in software, with advice."""
    if board.is_host or board.device is not None or "fpu" in board.features:
        return []
    choices = [step.choice for step in schedule.steps]
    floats = [c for c in choices if c.node.op.macs(c.call) and {t.dtype for t in c.call.outputs} & {"f32", "f64"}]
    if not floats:
        return []
    return [f"{board.name} computes floats in software, many times slower than integers: see `mcugen quantize`"]


def _steps(
    view: ModelView, schedule: Schedule, cycles: list[CycleFacts | None], imported: Graph
) -> tuple[StepFacts, ...]:
    events, steps = buffer_lifetimes.events_of(schedule), zip(schedule.steps, view.steps, cycles, strict=True)
    several = buffer_lifetimes.operators_of(schedule, imported)
    found = (_step(step, shown.kernel, schedule, each, events[step.index]) for step, shown, each in steps)
    return tuple(dataclasses.replace(facts, operators=several.get(facts.index, ())) for facts in found)


def _step(
    step: Step, function: str, schedule: Schedule, cycles: CycleFacts | None, events: tuple[int, int]
) -> StepFacts:
    choice = step.choice
    return StepFacts(
        index=step.index,
        op=type(choice.node.op).__name__,
        sizes=choice.node.op.in_words(choice.call),
        kernel=choice.kernel.symbol,
        function=function,
        why=choice.why,
        macs=schedule.macs(step),
        cycles=cycles,
        name=buffer_lifetimes.name_of(schedule, step),
        source=choice.node.source,
        inputs=tuple(name for name in choice.node.inputs if name in schedule.places),
        outputs=choice.node.outputs,
        constants_bytes=choice.constant_bytes,
        scratch_bytes=step.scratch_bytes,
        first_event=events[0],
        last_event=events[1],
        by_rows=step.by_rows,
    )


def _states(schedule: Schedule) -> tuple[StateFacts, ...]:
    graph, moved = schedule.graph, schedule.moved_states
    tensors = [(state, graph.tensors[state.before]) for state in graph.states]
    return tuple(StateFacts(t.label or t.name, str(t.type), t.type.nbytes, s not in moved) for s, t in tensors)


def _states_text(facts: Report) -> list[str]:
    """One line on the states kept from run to run, if there are any."""
    if not facts.states:
        return []
    copied = sum(s.nbytes for s in facts.states if not s.in_place)
    how = f", {copied:,} of them copied at the end of a run" if copied else ""
    return [f"  states   {sum(s.nbytes for s in facts.states):>10,} bytes  of that, kept from run to run{how}"]


def require_fit(
    facts: Report, board: Target, solution: Solution, options: Options, weight_regions: WeightRegions
) -> None:
    """Raise MemoryBudgetError, with each excess, its size and reason, if the board or a budget is too small.

    weight_regions: memories for constants.
    """
    copied = board.constants_in_ram and not options.fetch_weights
    limits = (
        *memory_regions.limits(facts.ram_bytes, solution, board, options),
        ("--flash", "model needs", facts.weights_bytes, options.flash_bytes),
        (
            "flash of the code",
            "constants that remain there take",
            constant_memories.with_code(facts, weight_regions),
            weight_regions.code_bytes,
        ),
        (
            f"RAM of {board.name}, where start-up code copies constants",
            "model and its constants need",
            facts.ram_bytes + facts.weights_bytes if copied else 0,
            board.ram_bytes,
        ),
        (f"flash of {board.name}", "model needs", facts.weights_bytes, board.flash_bytes),
    )
    over = [
        (
            what,
            f"{what}: the {needs} {needed:,} bytes, {available:,} are there: {needed - available:,} over",
            needed - available,
        )
        for what, needs, needed, available in limits
        if available is not None and needed > available
    ]
    if over:
        lines = [text for _, text, _ in over]
        is_ram = any("flash" not in what for what, *_ in over)
        too_many = max((excess for what, _, excess in over if "flash" in what), default=0)
        if is_ram:
            lines += [*memory_regions.too_large(solution), _peak_text(solution.schedule, solution.plan)]
        budgets = refusal.budgets_alone([what for what, *_ in over])
        what = "the budget" if board.is_core or budgets else board.name
        raise MemoryBudgetError(
            f"{tabular.called(facts.title, facts.name)} does not fit {what}\n  " + "\n  ".join(lines),
            hint=", ".join(
                [
                    *([f"give a larger {' and '.join(budgets)}"] if budgets else []),
                    *_untried(solution.schedule.graph, options, is_ram, copied, (facts.weights_bytes, too_many)),
                    "or take a smaller model" if budgets else _LARGER_BOARD,
                ]
            ),
        )


def _untried(graph: Graph, options: Options, is_ram: bool, copied: bool, constants: tuple[int, int]) -> list[str]:
    """Advice: options that the build did not use, and quantization. constants: (bytes needed, bytes over the limit)."""
    untried = ["leave constants in flash with --fetch-weights"] if copied else []
    untried += ["leave --no-rows out"] if options.no_rows else []
    untried += ["push the input with --input-mode rows"] if options.input_mode == "whole" else []
    untried += ["leave --keep-input out"] if options.keep_input else []
    untried += refusal.quantized_in_ram(graph)
    needed, too_many = constants
    fewer = refusal.with_fewer_bits(graph, options, needed, needed - too_many) if too_many else []
    return [*(untried if is_ram else []), *fewer]


def _peak_text(schedule: Schedule, plan: MemoryPlan) -> str:
    """The tensors live at peak memory use, largest first."""
    event = schedule.trace[plan.peak_step]
    node = schedule.steps[event.step].choice.node if event.step >= 0 else None
    where = f"step {event.step}, {node.source}" if node else "a row of the input coming in"
    live = [
        (sum(p.nbytes for p in b.pieces if p.first <= plan.peak_step <= p.last), b.name) for b in schedule.buffers()
    ]
    largest = sorted(((n, name) for n, name in live if n), reverse=True)[:PEAK_TENSORS]
    listed = ", ".join(f"{_tensor_text(schedule, name)} {n:,}" for n, name in largest)
    more = ", ..." if len([n for n, _ in live if n]) > PEAK_TENSORS else ""
    return f"most at {where}, with {plan.lower_bound:,} bytes live: {listed}{more}"


def _tensor_text(schedule: Schedule, name: str) -> str:
    tensor = schedule.graph.tensors.get(name)
    label = tensor.label if tensor else ""
    shown = label if len(label) <= PEAK_LABEL else f"…{label[1 - PEAK_LABEL :]}"
    return f"{name} {shown!r}" if shown else name


def _of_model(facts: Report) -> str:
    return "" if facts.macs == facts.live_macs else f"  of the {facts.macs:,} that the model states"


def as_dict(facts: Report) -> dict[str, Any]:
    """The report as plain values, for JSON."""
    return dataclasses.asdict(facts)


def as_text(facts: Report) -> str:
    """The report as text for a firmware engineer."""
    return tabular.text_of(as_parts(facts))


def as_parts(facts: Report) -> tabular.Parts:
    """The line with the result, the figures behind it, and a table of the steps."""
    holder = "the model object" if len(facts.regions) == 1 else f"in {len(facts.regions)} regions"
    return [
        _verdict(facts),
        *(f"  note: {note}" for note in facts.notes),
        f"  RAM      {facts.ram_bytes:>10,} bytes  {holder}",
        f"  arena    {facts.arena_bytes:>10,} bytes  {_bound(facts)}, {facts.lower_bound:,} live at once",
        *memory_regions.as_lines(facts.regions),
        f"  scratch  {facts.scratch_bytes:>10,} bytes  of that, at most, in any step",
        *_states_text(facts),
        f"  weights  {facts.weights_bytes:>10,} bytes  constants{constant_memories.where(facts.weights)}",
        *constant_memories.as_lines(facts.weights),
        f"  work     {facts.live_macs:>10,} MAC" + _of_model(facts),
        *estimates.as_lines(facts),
        *(f"  removed  {line}" for line in removals.summary(facts.removed)),
        "",
        _table(facts),
    ]


def _bound(facts: Report) -> str:
    """How close the arena is to the lower bound. Alignment and gaps between tensors add to the bytes live."""
    if facts.proven:
        return "proven the least for this order of steps"
    reason = "for what each region holds" if len(facts.regions) > 1 else "for this order of steps"
    return f"{facts.arena_bytes - facts.gap_bytes:,} proven necessary {reason}"


def _verdict(facts: Report) -> str:
    """One line: whether the model fits, its memory and time, and the runtime that its results reproduce."""
    parts = [
        f"RAM {_taken(facts.ram_bytes, facts.ram_limit_bytes)}",
        f"constants {_taken(facts.weights_bytes, facts.flash_limit_bytes)}",
    ]
    if facts.cycles and facts.clock_hz:
        parts.append(f"{estimates.milliseconds(facts.cycles, facts.clock_hz)} ms")
    fits = "fits" if facts.ram_limit_bytes else "for"
    promise = facts.promise[:1].lower() + facts.promise[1:].rstrip(".")
    return f"{tabular.called(facts.title, facts.name)} {fits} {facts.board}: {', '.join(parts)}; {promise}"


def _taken(used: int, limit: int | None) -> str:
    return f"{used:,} of {limit:,} bytes ({100 * used / limit:.1f} %)" if limit else f"{used:,} bytes"


def _table(facts: Report) -> tabular.TextTable:
    """Table of the steps. The most expensive steps are marked."""
    taken = [float(s.cycles.low + s.cycles.high) if s.cycles else float(s.macs) for s in facts.steps]
    clock, total = facts.clock_hz, sum(taken) or 1.0
    what = [tabular.TableColumn("estimated cycles", right=True)] if facts.cycles else []
    time = [tabular.TableColumn("ms", right=True)] if facts.cycles and clock else []
    rows = []
    for s, weight in zip(facts.steps, taken, strict=True):
        cycles = (estimates.of_text(s.cycles),) if facts.cycles else ()
        ms = (estimates.three_digits(1e3 * weight / 2 / clock),) if time and clock else ()
        share = f"{100 * weight / total:.1f} %"
        rows.append((str(s.index), s.name, s.op, *cycles, *ms, share, s.kernel, s.sizes, s.why))
    columns = (
        tabular.TableColumn("step", right=True),
        tabular.TableColumn("layer", shrinks=True, ends=True),
        tabular.TableColumn("operator", optional=True),
        *what,
        *time,
        tabular.TableColumn("share", right=True),
        tabular.TableColumn("kernel", optional=True),
        tabular.TableColumn("sizes", optional=True),
        tabular.TableColumn("why", shrinks=True, optional=True),
    )
    return tabular.TextTable(columns, tuple(rows), tabular.largest(taken))
