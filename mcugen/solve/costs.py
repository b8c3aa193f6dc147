"""Cost of a kernel call on a core: instructions and cycles, from coefficients fitted to counted runs (ci/fit).

A call is described by a few numbers (`features`). A kernel has a coefficient per feature and core. The estimate is the
sum of feature times coefficient, without memory wait states. `solve/fitted.py` reads the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mcugen.errors import InternalError
from mcugen.ir.alike import made_call, shared_fact
from mcugen.ir.call import Call
from mcugen.ir.kernel import Accumulate, Kernel, Ring, Run
from mcugen.ir.types import TensorType, images_of, rows_of
from mcugen.solve import fitted
from mcugen.solve.schedule.steps import Choice, Step, batch_of, node_of

_UNKNOWN = {"macs": 14.0, "outputs": 80.0, "inputs": 20.0, "patches": 12.0, "calls": 200.0, "events": 200.0}
"""Instructions per feature of a kernel without coefficients: more than any portable kernel needs on Cortex-M4, so that
measured kernels win.
"""
_UNKNOWN_CYCLES = 3.0
_UNKNOWN_BYTES = 1024
"""Assumed code size of a kernel that was not measured, such as one from a plugin."""
_PIXELS_A_READ = 3
"""Assumed number of pixels per read of the weights."""
_BETWEEN = (4, 5, 7)
"""Instructions, least cycles and most cycles per element that a loop spends on loading, storing and counting."""
"""Factor of instructions compared with Cortex-M4, for kernels without coefficients."""
_SLOWER = {"cortex-m0plus": 4.0, "cortex-m3": 1.5, "rv32imc": 2.5}


@dataclass(frozen=True)
class Estimate:
    """Instructions and cycles of one execution of a step. is_fitted: whether the kernel was measured on this core."""

    instructions: int
    cycles_low: int
    cycles_high: int
    is_fitted: bool


def estimate(
    kernel: Kernel, call: Call, core: str, by_rows: bool = False, batch: int | None = None, *, frames: bool = False
) -> Estimate:
    """Cost of a call on a bare core (`Target.core`), whole or row by row.

    batch: rows per event, by default the result of `batch_of`. frames: whether each inference computes one output row
    and reuses the rows that earlier inferences converted. An unmeasured kernel, such as one from a plugin, gets a high
    estimate.
    """
    if not kernel.has_code:
        return Estimate(0, 0, 0, True)
    if kernel.cost.parts:
        return _in_one_loop(kernel, call, core, by_rows, batch)
    found = _counted(call, kernel, by_rows, batch, frames)
    row = fitted.rows(core).get(kernel.symbol)
    if row is None:
        least = _SLOWER.get(core, 1.0) * sum(found.get(name, 0.0) * cost for name, cost in _UNKNOWN.items())
        return Estimate(round(least), round(least), round(_UNKNOWN_CYCLES * least), False)
    instructions = low = high = 0.0
    for name, of in row.terms.items():
        if count := found.get(name):
            instructions, low, high = instructions + of[0] * count, low + of[1] * count, high + of[2] * count
    least, most = sorted((round(low), round(high)))  # the bounds are fitted separately and may cross
    return Estimate(round(instructions), least, most, True)


def _in_one_loop(kernel: Kernel, call: Call, core: str, by_rows: bool, batch: int | None) -> Estimate:
    """Cost of a kernel that runs several parts in one loop: the sum of the parts' costs, less the loads, stores and
    loop counters that disappear between them.
    """
    parts = kernel.cost.parts(call) if kernel.cost.parts else ()
    found = [estimate(part, inner, core, by_rows and k == 0, batch) for k, (part, inner) in enumerate(parts)]
    between = call.output.size * (len(found) - 1)
    sums = [sum(column) for column in zip(*((e.instructions, e.cycles_low, e.cycles_high) for e in found), strict=True)]
    instructions, low, high = (total - taken * between for total, taken in zip(sums, _BETWEEN, strict=True))
    return Estimate(instructions, low, high, all(e.is_fitted for e in found))


def code_bytes(kernel: Kernel, call: Call, core: str) -> int:
    """Bytes of code and constants of a kernel's functions at -O2. For a kernel with several copies, their mean."""
    if kernel.cost.code:
        return _stated_code(call, kernel.cost.code)
    row = fitted.rows(core).get(kernel.symbol)
    return 0 if not kernel.has_code else row.code_bytes if row else _UNKNOWN_BYTES


@shared_fact
def _stated_code(call: Call, code: Callable[[Call], int]) -> int:
    return code(call)


def constant_reads(choice: Choice, kept_bytes: int = 0) -> float:
    """Bytes of constants that a call reads from memory: weights are read again for every few pixels.

    kept_bytes: size of the data cache. Constants that fit in it are read once.
    """
    if choice.constant_bytes <= kept_bytes:
        return choice.constant_bytes
    call = choice.call
    weights = max((call.input(k).size for k, data in enumerate(call.constants) if data is not None), default=0)
    macs: int = call.op.macs(call)
    uses = macs / max(weights, 1)
    return choice.constant_bytes * max(uses / _PIXELS_A_READ, 1.0)


def parts(kernel: Kernel, call: Call, core: str, by_rows: bool = False) -> dict[str, float]:
    """Feature -> estimated cycles due to it: mean of least and most cycles. Empty for a kernel without coefficients."""
    row = fitted.rows(core).get(kernel.symbol)
    terms = row.terms if row else {}
    found = features(kernel, call, by_rows)
    return {name: (of[1] + of[2]) / 2 * found[name] for name, of in terms.items() if name in found}


def features(
    kernel: Kernel, call: Call, by_rows: bool = False, batch: int | None = None, *, frames: bool = False
) -> dict[str, float]:
    """The work of a call in numbers: features that every kernel has, and features that the kernel states itself.

    macs       multiply-accumulates
    outputs    elements of the results
    inputs     elements of the operands
    bytes      bytes of the results
    pixels     outputs / output channels
    patches    taps read: macs / output channels
    runs       outputs * rows of the window
    rest       macs of the last (channels modulo 4) output channels
    odd        macs of the last output channel, if the number of channels is odd
    calls      calls of the C function
    once       1
    events     events of a step by rows, minus 1
    converted  elements that a ring kernel writes into its ring
    """
    found = _counted(call, kernel, by_rows, batch, frames)
    return {name: float(value) for name, value in found.items() if value}


@shared_fact
def _counted(call: Call, kernel: Kernel, by_rows: bool, batch: int | None, frames: bool) -> Mapping[str, float]:
    """The `features` of a step, including those that are zero."""
    step = _step(call, kernel, by_rows, batch)
    found = {**_common(call, kernel, step.events), **_work(step)}
    if isinstance(kernel.form, Ring) and (step.refills or frames):
        for name in ("inputs", "converted", *kernel.cost.converting):
            found[name] *= _conversions(step, kernel.form)
    return found


@shared_fact
def _common(call: Call, kernel: Kernel, events: int) -> Mapping[str, float]:
    """Features that every kernel has, for a kernel called in `events` events."""
    sizes, window = _sizes(call), kernel.form.window(call)
    return {
        **sizes,
        "inputs": sum(call.input(k).size for k in kernel.pointer_operands(call)),
        "runs": sizes["outputs"] * (window.size if window else 0),
        "calls": _calls(kernel, call, events),
        "once": 1,
        "events": events - 1,
        "converted": _converted(kernel, call),
    }


@shared_fact
def _sizes(call: Call) -> Mapping[str, float]:
    """Features that depend on the call alone."""
    shape = call.output.shape
    outputs = sum(t.size for t in call.outputs)
    channels = shape[-1] if shape else 1
    macs = call.op.macs(call)
    return {
        "macs": macs,
        "outputs": outputs,
        "bytes": sum(t.nbytes for t in call.outputs),
        "pixels": outputs / max(channels, 1),
        "patches": macs / max(channels, 1),
        "rest": macs * (channels % 4) / max(channels, 1),
        "odd": macs * (channels % 2) / max(channels, 1),
    }


def _step(call: Call, kernel: Kernel, by_rows: bool, batch: int | None) -> Step:
    choice = Choice(node_of(call), call, kernel, "")
    if not by_rows or not choice.can_run_by_rows:
        return Step(0, choice)
    return Step(0, choice, True, batch or batch_of(choice))


def _work(step: Step) -> Mapping[str, float]:
    """Features that the kernel states itself. By rows, a `Run` kernel is called once per event, on a few rows."""
    kernel, call = step.choice.kernel, step.choice.call
    if kernel.cost.work is None:
        return {}
    if not step.by_rows or not isinstance(kernel.form, Run):
        return _stated(call, kernel)
    rows = step.walked_rows
    batch = min(step.batch, rows)
    events, rest = divmod(rows, batch)
    found = _on_rows(call, kernel, batch, rows)
    last = _on_rows(call, kernel, rest, rows) if rest else {}
    return {name: events * value + last.get(name, 0.0) for name, value in found.items()}


def _on_rows(call: Call, kernel: Kernel, some: int, rows: int) -> Mapping[str, float]:
    """Features that the kernel states, for `rows` rows computed `some` at a time."""
    return _stated(_part(call, some, rows, kernel.pointer_operands(call)), kernel)


@made_call
def _part(call: Call, batch: int, rows: int, operands: tuple[int, ...]) -> Call:
    """The call on `batch` rows of the outputs, and of the operands with as many rows."""
    inputs = (
        _rows_of(t, batch) if k in operands and t is not None and rows_of(t.shape) == rows else t
        for k, t in enumerate(call.inputs)
    )
    return replace(call, inputs=tuple(inputs), outputs=tuple(_rows_of(t, batch) for t in call.outputs))


def _stated(call: Call, kernel: Kernel) -> Mapping[str, float]:
    """Features that a kernel states of a call. Raises InternalError for a term that is not in its `terms`."""
    found = _counts(call, kernel.cost.work) if kernel.cost.work else {}
    if unstated := [name for name in found if name not in kernel.cost.terms]:
        raise InternalError(f"kernel {kernel.symbol} states work in {', '.join(sorted(unstated))}, not among its terms")
    return found


@shared_fact
def _counts(call: Call, work: Callable[[Call], Mapping[str, float]]) -> Mapping[str, float]:
    return work(call)


def _rows_of(t: TensorType, rows: int) -> TensorType:
    return t.with_shape((t.shape[0], rows, *t.shape[2:]))


def _calls(kernel: Kernel, call: Call, events: int) -> int:
    images = images_of(call.output.shape)
    if kernel.slides:
        return images * rows_of(call.output.shape)
    if isinstance(kernel.form, Accumulate):
        return images * (2 + events)
    return events


def _converted(kernel: Kernel, call: Call) -> int:
    form = kernel.form
    return form.rows(call).walked_rows * form.storage(call).length if isinstance(form, Ring) else 0


def _conversions(step: Step, ring: Ring) -> float:
    """How often each input row is converted: once for each output row that reads it, or once in all."""
    window = ring.rows(step.choice.call)
    return window.out_rows * (window.size if step.refills else 1) / window.walked_rows
