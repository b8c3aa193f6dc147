"""Estimated cycles of a build, from the costs of its kernels. Cores without measurements have no estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcugen.boards.machine import Energy
from mcugen.boards.target import Target
from mcugen.emit.view import ModelView
from mcugen.ir.streams import deciding_nodes
from mcugen.report.facts import CycleFacts, PartFacts, Report, StreamFacts, WeightFacts
from mcugen.solve import Solution, costs
from mcugen.solve.schedule import Schedule, Step


@dataclass(frozen=True)
class WaitCycles:
    """Wait cycles for reads of a board's slow memories.

    kept_bytes: size of the data cache, which only keeps constants up to this size. constants: wait cycles per byte of
    constants, averaged over their memories, weighted by reads. streamed: least cycles per byte of constants; 0 if all
    constants may stay in the cache. tensors: buffer -> wait cycles per byte.
    """

    kept_bytes: int = 0
    constants: float = 0.0
    streamed: float = 0.0
    tensors: Mapping[str, float] = field(default_factory=dict)

    def of(self, step: Step, schedule: Schedule) -> tuple[float, float]:
        """(least cycles until a step's constants have arrived, most cycles that it waits). Each tensor counts once."""
        choice = step.choice
        waits = self.constants * costs.constant_reads(choice, self.kept_bytes)
        names, types = (*choice.node.inputs, *choice.node.outputs), (*choice.call.inputs, *choice.call.outputs)
        for name, t in zip(names, types, strict=True):
            if name in schedule.buffer_name and t is not None:
                waits += self.tensors.get(schedule.buffer_name[name], 0.0) * t.nbytes
        return self.streamed * choice.constant_bytes, waits


def waits_of(solution: Solution, weights: Sequence[WeightFacts], board: Target) -> WaitCycles:
    """The wait cycles of a build. weights: memories of its constants; "" is the flash of the code."""
    slow = {r.name: r for r in board.regions if r.has_waits}
    flash = board.flash_regions()[0].name if board.flash_regions() else ""
    reads = max(sum(w.accesses for w in weights), 1)
    found = [(slow[w.name or flash], w) for w in weights if (w.name or flash) in slow]
    kept = min((region.data_cache_bytes for region, _ in found), default=0)
    constants = streamed = 0.0
    for region, w in found:
        share = w.accesses / reads
        constants += share * region.waits_per_byte
        if region.kind == "flash" and w.used_bytes > region.data_cache_bytes:
            streamed += share * (region.line_waits + 1) / region.line_bytes
    parts = [part for part in solution.plan.parts if part.region in slow]
    tensors = {name: slow[part.region].waits_per_byte for part in parts for name in part.offset}
    return WaitCycles(kept, constants, streamed, tensors)


def of_steps(solution: Solution, weights: Sequence[WeightFacts], board: Target) -> list[CycleFacts | None]:
    """The cycles of each step; None for a kernel whose costs are not known."""
    waits, schedule = waits_of(solution, weights, board), solution.schedule
    return [of_step(step, schedule, board, waits) for step in schedule.steps]


def of_step(step: Step, schedule: Schedule, board: Target, waits: WaitCycles) -> CycleFacts | None:
    """The cycles of a step per inference or, for a streaming model, per frame. None if its costs are not known."""
    choice = step.choice
    found = costs.estimate(choice.kernel, choice.call, board.core, step.by_rows, choice.rows or None)
    if not found.is_fitted:
        return None
    streamed, waited = waits.of(step, schedule)
    share = step.walked_rows if schedule.streams and step.writes_rows else 1
    cycles = found.cycles_low, found.cycles_high + round(waited), round(streamed)
    return CycleFacts(*board.estimation.ends(*(n // share for n in cycles)))


def total(steps: Sequence[CycleFacts | None]) -> CycleFacts | None:
    """The cycles of all steps; None if the cycles of any step are not known."""
    known = [s for s in steps if s is not None]
    if len(known) != len(steps):
        return None
    return CycleFacts(sum(s.low for s in known), sum(s.high for s in known))


def of_inference(schedule: Schedule, cycles: Sequence[CycleFacts | None]) -> CycleFacts | None:
    """The cycles of a run. For a stream of samples: of one decision, with all windows since the previous decision."""
    stream, end = schedule.graph.stream, schedule.hop_steps
    return total([*cycles, *(stream.stride - 1) * [*cycles[:end]]]) if stream else total(cycles)


def of_stream(
    view: ModelView, schedule: Schedule, cycles: Sequence[CycleFacts | None], clock_hz: int | None
) -> StreamFacts | None:
    """Sizes and times of a stream of samples; None for any other model."""
    samples, hop, end = view.samples, schedule.hop_steps, len(cycles)
    if samples is None:
        return None
    front = hop if hop < end else 0  # a model without rows to collect is all network
    last = end - deciding_nodes([step.choice.node for step in schedule.steps[front:]])
    windows = samples.rate / samples.hop
    decisions = windows / samples.stride
    spans = (("front end", 0, front, windows), ("network", front, last, decisions), ("decision", last, end, decisions))
    parts = [_part(name, a, cycles[a:b], often, clock_hz) for name, a, b, often in spans if a < b]
    window, worst = total(cycles[:hop]), total(cycles)
    push = CycleFacts(window.low, worst.high) if window and worst else None
    sizes = (samples.size, samples.hop, samples.stride, samples.first, samples.rate, max(samples.slots - 1, 0))
    return StreamFacts(*sizes, tuple(parts), push)


def _part(
    name: str, first: int, cycles: Sequence[CycleFacts | None], per_second: float, clock_hz: int | None
) -> PartFacts:
    once = total(cycles)
    ends = [100 * n * per_second / clock_hz for n in (once.low, once.high)] if once and clock_hz else [None, None]
    return PartFacts(name, first, len(cycles), per_second, once, *ends)


def stream_notes(stream: StreamFacts | None, energy: Energy | None) -> list[str]:
    """Notes on which steps of a stream of samples run when, and on their cycles and power."""
    if stream is None:
        return []
    begins = f"a window of {stream.window:,} samples begins every {stream.hop:,}"
    notes = [f"{begins}; the first decision needs {stream.first:,}"]
    for part in stream.parts:
        cycles = f": {of_text(part.cycles)} cycles each" if part.cycles else ""
        share = "" if part.share_low is None else f", {part.share_low:.2g} to {part.share_high:.2g} % of the clock"
        often = "once" if part.per_second == 1 else f"{part.per_second:.4g} times"
        notes.append(f"{part.name}, {_span(part)}, runs {often} a second{cycles}{share}")
    if stream.push:
        notes.append(f"a push that completes one window takes {of_text(stream.push)} cycles")
    second = total([_each_second(part) for part in stream.parts])
    if energy and second:
        power = " to ".join(three_digits(1e-3 * end) for end in microjoules(second, energy))
        notes.append(f"the mean power of these steps is {power} mW; {source_of(energy)}")
    return notes


def _each_second(part: PartFacts) -> CycleFacts | None:
    """The cycles that a part of a stream takes each second."""
    ends = part.cycles and (round(n * part.per_second) for n in (part.cycles.low, part.cycles.high))
    return CycleFacts(*ends) if ends else None


def _span(part: PartFacts) -> str:
    last = part.first_step + part.steps - 1
    return f"steps {part.first_step}-{last}" if part.steps > 1 else f"step {last}"


def as_lines(facts: Report) -> list[str]:
    """The report's line on cycles: total, per MAC, and as time if the clock is known."""
    if facts.cycles is None:
        return []
    low, high = facts.cycles.low, facts.cycles.high
    waits = "with waits for slow memories" if facts.waits else "without wait states"
    parts = [f"  cycles   {low:>10,} to {high:,}, estimated {waits}"]
    if facts.macs:
        parts.append(f"{low / facts.macs:.2f} to {high / facts.macs:.2f} per MAC")
    if facts.clock_hz:
        parts.append(f"{milliseconds(facts.cycles, facts.clock_hz)} ms")
    lines = ["; ".join(parts)]
    if facts.energy:
        lines.append(f"  energy   {joules(facts.cycles, facts.energy)}; {source_of(facts.energy)}")
    return lines


def milliseconds(cycles: CycleFacts, clock_hz: int) -> str:
    """The least and the most time, in milliseconds, as text."""
    return " to ".join(three_digits(1e3 * end / clock_hz) for end in (cycles.low, cycles.high))


def microjoules(cycles: CycleFacts, energy: Energy) -> tuple[float, float]:
    """The least and the most energy of an estimate, in microjoules."""
    return cycles.low * energy.least_pj * 1e-6, cycles.high * energy.most_pj * 1e-6


def joules(cycles: CycleFacts, energy: Energy) -> str:
    """The least and the most energy of an estimate, in microjoules or millijoules, as text."""
    low, high = microjoules(cycles, energy)
    unit, name = (1e3, "mJ") if low >= 1e3 else (1, "uJ")
    return f"{three_digits(low / unit)} to {three_digits(high / unit)} {name}"


def source_of(energy: Energy) -> str:
    """The energy per cycle and where it comes from, as text."""
    return f"{energy.least_pj:g} to {energy.most_pj:g} pJ a cycle, which other programs took on this chip"


def three_digits(value: float) -> str:
    """A number with three significant digits, or with all digits before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def of_text(cycles: CycleFacts | None) -> str:
    """A step's cycles for a table column."""
    return "" if cycles is None else f"{cycles.low:,} to {cycles.high:,}"
