"""The output of `verify` and `simulate`: text for people, JSON with stable names for programs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from mcugen import __version__
from mcugen.machines.cycles import Interval
from mcugen.report.estimates import joules, microjoules, source_of, three_digits
from mcugen.report.facts import CountFacts, CycleFacts, SimulatedFacts, VerifiedFacts
from mcugen.system import tabular
from mcugen.verify.checks import Verification
from mcugen.verify.comparison import Verdict
from mcugen.verify.emulated import SimulatedStep, Simulation
from mcugen.verify.witnesses.testimony import Testimony

_SHOWN = 5  # most faults listed in text
_NAMED = 3  # most tensors listed in text that are not visible in memory


def verify_dict(result: Verification) -> dict[str, Any]:
    """The result as a dictionary with stable keys for JSON.

    exact: agrees, without floats. first_difference: null if all agree. fused: tensors inside a step.
    """
    first = _first(result)
    return {
        "name": result.name,
        "reference": result.reference,
        "promise": result.promise,
        "agrees": result.agrees,
        "exact": result.exact,
        "cases": result.c.cases,
        "tensors": result.c.tensors,
        "max_abs_diff": _worst(result),
        "first_difference": dataclasses.asdict(first.first_difference) if first and first.first_difference else None,
        "not_compared": list(result.c.not_compared),
        "fused": list(result.c.fused),
        "by_operator": result.c.by_operator,
        "constant_channels": result.c.constant_channels,
        "unread_channels": result.c.unread_channels,
        "simulated": str(result.simulated) if result.simulated else "",
        "recorded_cases": result.recorded.cases if result.recorded else 0,
        "traced_tensors": result.traced,
        "trace_differs": list(result.trace_differs),
        "constants_compared": result.constants.compared,
        "constants_differ": list(result.constants.differences),
        "helpers_differ": list(result.helpers),
        "c_rules_broken": list(result.text),
        "delivered": dataclasses.asdict(result.delivered) if result.delivered else None,
        "refused_by_reference": result.refused,
        "witnesses": [_testimony_dict(one) for one in result.heard],
        "no_witness": list(result.unheard),
        "notes": list(result.notes),
    }


def _testimony_dict(one: Testimony) -> dict[str, Any]:
    return {
        "witness": one.witness,
        "agrees": one.agrees,
        "cases": one.verdict.cases,
        "tensors": one.verdict.tensors,
        "of": one.of,
        "next_to_a_half": one.halves,
        "steps_apart": one.steps,
        "left_out": list(one.left_out),
        "stopped": list(one.stopped),
    }


def _testimony(one: Testimony) -> Iterator[str]:
    """Lines on one witness: what it compared, and what it left out, by name."""
    compared = f"{one.verdict.tensors} of {one.of} tensors of the file"
    if one.verdict.first_difference:
        yield f"  NumPy against {one.witness}: first difference in {one.verdict.first_difference}"
    else:
        furthest = f"largest difference {one.verdict.max_abs_diff:g}"
        yield f"  NumPy against {one.witness}: {one.verdict.cases} inputs, {compared}, {furthest}"
    if one.steps:
        yield f"  {one.steps:,} values of layers whose integers are mcugen's own are a few steps apart from its floats"
    if one.halves:
        yield f"  {one.halves:,} values lie so near to a half that single precision decides, and are a step apart"
    yield from (f"  without it: {reason}" for reason in one.left_out[:_SHOWN])
    if len(one.left_out) > _SHOWN:
        yield f"  and {len(one.left_out) - _SHOWN} more, all in --json"
    yield from (f"  it stopped on {stop}" for stop in one.stopped)


def verified_facts(result: Verification) -> VerifiedFacts:
    """The result of a verification for report.json."""
    first, worst = _first(result), _worst(result)
    return VerifiedFacts(
        agrees=result.agrees,
        exact=result.exact,
        cases=result.c.cases,
        tensors=result.c.tensors,
        max_abs_diff=worst if math.isfinite(worst) else None,
        recorded_cases=result.recorded.cases if result.recorded else 0,
        constants=result.constants.compared,
        witnesses=tuple(one.witness for one in result.heard),
        faults=(*((f"first difference in {first.first_difference}",) if first else ()), *result.faults),
        version=__version__,
    )


def _worst(result: Verification) -> float:
    return max(result.c.max_abs_diff, result.recorded.max_abs_diff if result.recorded else 0.0)


def simulated_facts(result: Simulation, optimize: str) -> SimulatedFacts:
    """The result of a simulation for report.json. optimize: the optimization option of the cross compiler."""
    return SimulatedFacts(
        machine=result.machine,
        optimize=optimize,
        agrees=result.agrees,
        repeatable=result.repeatable,
        cases=result.verdict.cases,
        instructions=result.instructions,
        cycles=_cycle_facts(result.cycles),
        text_bytes=result.text_bytes,
        rodata_bytes=result.rodata_bytes,
        stack_bytes=result.stack_bytes,
        stack_bound_bytes=result.stack_bound_bytes,
        stack_path=tuple(_function(result, name) for name in result.stack_path),
        steps=tuple(_counted(s) for s in result.steps),
        notes=result.notes,
        version=__version__,
        wait_states=result.wait_states,
    )


def _counted(step: SimulatedStep) -> CountFacts:
    cycles, core = _cycle_facts(step.cycles), _cycle_facts(step.core)
    return CountFacts(step.instructions, cycles, step.code_bytes, step.waits, core)


def _cycle_facts(found: Interval | None) -> CycleFacts | None:
    return None if found is None else CycleFacts(found.low, found.high)


def _first(result: Verification) -> Verdict | None:
    verdicts = (result.c, result.recorded, *(one.verdict for one in result.heard))
    return next((v for v in verdicts if v and not v.agrees), None)


def verify_text(result: Verification) -> str:
    """The text that `verify` prints, at full width."""
    return tabular.text_of(verify_parts(result))


def verify_parts(result: Verification, *, whole: bool = False) -> tabular.Parts:
    """The result first, then what it is based on. whole: list every tensor that has no bytes of its own."""
    verdict, promise = "OK" if result.agrees else "DIFFERS", result.promise.removeprefix("the ")
    lines = [f"{result.called or result.name}: {verdict} ({promise})"]
    lines += [f"  note: {note}" for note in result.notes]
    lines += [f"  wrong: {fault}" for fault in result.faults[:_SHOWN]]
    if len(result.faults) > _SHOWN:
        lines.append(f"  and {len(result.faults) - _SHOWN} more, all in --json")
    lines.append(f"  C against NumPy: {_sentence(result.c)}")
    lines += _compared(result.c, whole)
    lines.append(
        f"  multipliers, bounds and tables derived twice: {result.constants.compared}, "
        f"{len(result.constants.differences) or 'none'} of them differing"
    )
    rules = "breaks rules" if result.text else "no heap, recursion, mutable data at file scope or loop without a bound"
    lines.append(f"  text of the C: {rules}")
    lines += [f"  as delivered: {result.delivered}"] if result.delivered else []
    if result.simulated:
        lines.append(f"  NumPy against the recorded simulation: {result.simulated}")
    if result.recorded:
        lines.append(f"  NumPy against the recorded runtime: {_sentence(result.recorded)}")
        lines += [f"  next to a half, and rounded the other way there: {v}" for v in result.recorded.other_halves]
        lines += [f"  explained by a flip, {flip}" for flip in result.recorded.flips]
    for one in result.heard:
        lines += _testimony(one)
    lines += [f"  not a witness: {note}" for note in result.unheard]
    if result.traced:
        differing = ", ".join(result.trace_differs) or "none"
        lines.append(f"  NumPy against the recorded trace: {result.traced} tensors, differing: {differing}")
    return lines


def _compared(c: Verdict, whole: bool) -> Iterator[str]:
    """How many of the C's tensors were compared, and which were not."""
    names, rest = c.not_compared, len(c.not_compared) - _NAMED
    if rest > 0 and not whole:
        names = (*names[:_NAMED], f"and {rest:,} more, all with --wide or in --json")
    if c.by_operator:
        yield (
            "  float operators were compared on the operands that they had, sums of n products within n * 2^-26 where "
            "that is more: rounding adds up"
        )
    if c.not_compared:
        count = len(c.not_compared)
        yield f"  {count:,} not visible in memory, checked through what follows: {', '.join(names)}"
    if c.fused:
        yield f"  {len(c.fused)} inside other steps, checked through what follows: {', '.join(c.fused)}"
    if c.constant_channels or c.unread_channels:
        yield (
            f"  channels not computed: {c.constant_channels:,} whose one value equals NumPy's, "
            f"{c.unread_channels:,} that nothing reads"
        )


def _sentence(verdict: Verdict) -> str:
    if verdict.first_difference:
        return f"first difference in {verdict.first_difference}"
    same = f", {verdict.exact_values:,} float values equal in every bit" if verdict.exact_values else ""
    return f"{verdict.cases} inputs, {verdict.tensors} tensors each, largest difference {verdict.max_abs_diff:g}{same}"


def simulate_dict(result: Simulation) -> dict[str, Any]:
    """The result as a dictionary with stable keys for JSON.

    exact: agrees, without floats. cycles, milliseconds, microjoules: {"low", "high"}; null without a cycle model of the
    core, a clock, or the board's energy per cycle.
    """
    values = dataclasses.asdict(dataclasses.replace(result, outputs=()))
    values["milliseconds"], values["microjoules"] = _milliseconds(result), _microjoules(result)
    del values["verdict"], values["outputs"]
    values["cases"] = result.verdict.cases
    values["max_abs_diff"] = result.verdict.max_abs_diff
    first = result.verdict.first_difference
    values["first_difference"] = dataclasses.asdict(first) if first else None
    return values


def _milliseconds(result: Simulation) -> dict[str, float] | None:
    if result.cycles is None or result.clock_hz is None:
        return None
    return {end: round(1000 * n / result.clock_hz, 4) for end, n in dataclasses.asdict(result.cycles).items()}


def _microjoules(result: Simulation) -> dict[str, float] | None:
    cycles = _cycle_facts(result.cycles)
    if cycles is None or result.energy is None:
        return None
    low, high = microjoules(cycles, result.energy)
    return {"low": round(low, 4), "high": round(high, 4)}


def _holder(result: Simulation) -> str:
    regions = ", ".join(f"{size:,} in {name}" for name, size in result.ram_regions)
    return "the model object" if len(result.ram_regions) == 1 else f"the model's, {regions}"


def simulate_text(result: Simulation) -> str:
    """The text that `simulate` prints: totals, then a table of the steps."""
    return tabular.text_of(simulate_parts(result))


def simulate_parts(result: Simulation) -> tabular.Parts:
    """The result, totals, and a table of the steps."""
    verdict = "OK" if result.agrees and result.repeatable else "DIFFERS"
    lines = [f"{result.board} (emulated {result.machine}): {verdict}, {result.verdict.cases} inputs, each run twice"]
    if result.verdict.first_difference:
        lines.append(f"  first difference in {result.verdict.first_difference}")
    if not result.repeatable:
        lines.append("  a second run with other garbage in the arena gave other bytes")
    lines += [f"  note: {note}" for note in result.notes]
    lines += [
        f"  instructions {result.instructions:>12,}  per inference, counted",
        *_cycles_lines(result),
        f"  flash        {result.text_bytes + result.rodata_bytes:>12,}  bytes: {result.text_bytes:,} code, "
        f"{result.rodata_bytes:,} constants, of which {result.weights_bytes:,} the model's",
        f"  RAM          {result.ram_bytes:>12,}  bytes: {_holder(result)}",
        f"  stack        {result.stack_bytes:>12,}  bytes, painted; at most {result.stack_bound_bytes:,} on any path "
        "without interrupts:",
        f"               {' > '.join(_function(result, name) for name in result.stack_path)}",
        "",
    ]
    return [*lines, _steps(result)]


def _function(result: Simulation, name: str) -> str:
    """The name of a function in the image. A kernel's symbol is added, as its C name is shortened and has a hash."""
    symbols = (step.kernel for step in result.steps if name.startswith(step.function))
    return next((f"{name} ({symbol})" for symbol in symbols), name)


def _cycles_lines(result: Simulation) -> list[str]:
    """The estimate for the whole inference, per MAC and in time if these are known."""
    if result.cycles is None:
        return []
    low, high = result.cycles.low, result.cycles.high
    parts = [f"  cycles       {low:>12,}  to {high:,}, estimated"]
    if result.macs:
        parts.append(f"{low / result.macs:.3f} to {high / result.macs:.3f} per MAC")
    if times := _milliseconds(result):
        parts.append(f"{times['low']:.3f} to {times['high']:.3f} ms at {(result.clock_hz or 0) / 1e6:g} MHz")
    lines = ["; ".join(parts)]
    if result.energy:
        lines.append(f"  energy       {joules(CycleFacts(low, high), result.energy)}; {source_of(result.energy)}")
    return lines


def _steps(result: Simulation) -> tabular.TextTable:
    """A row per step. The most expensive steps are marked."""
    total, clock = max(result.instructions, 1), result.clock_hz
    timed = (tabular.TableColumn("estimated cycles", right=True),) if result.cycles else ()
    times = (tabular.TableColumn("ms", right=True),) if result.cycles and clock else ()
    per_mac = (tabular.TableColumn("per MAC", right=True, optional=True),) if result.cycles else ()
    rows = []
    for s in result.steps:
        low, high = (s.cycles.low, s.cycles.high) if s.cycles else (0, 0)
        cycles = (f"{low:,} to {high:,}",) if timed else ()
        ms = (three_digits(500 * (low + high) / clock),) if times and clock else ()
        macs = (f"{low / s.macs:.2f} to {high / s.macs:.2f}" if s.macs else "",) if per_mac else ()
        share = f"{100 * s.instructions / total:.1f} %"
        figures = (f"{s.instructions:,}", share, *cycles, *ms, *macs, f"{s.code_bytes:,}", s.kernel, s.sizes)
        rows.append((str(s.index), s.name, s.op, *figures))
    columns = (
        tabular.TableColumn("step", right=True),
        tabular.TableColumn("layer", shrinks=True, ends=True),
        tabular.TableColumn("operator", optional=True),
        tabular.TableColumn("instructions", right=True),
        tabular.TableColumn("share", right=True),
        *timed,
        *times,
        *per_mac,
        tabular.TableColumn("code", right=True, optional=True),
        tabular.TableColumn("kernel", optional=True),
        tabular.TableColumn("sizes", optional=True),
    )
    return tabular.TextTable(columns, tuple(rows), tabular.largest([s.instructions for s in result.steps]))
