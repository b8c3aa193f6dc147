"""Bands: equal parts of a step that runs whole, which several threads compute at the same time."""

from __future__ import annotations

import math
import re

from mcugen.errors import UsageError
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.types import TensorType, images_of, rows_of
from mcugen.options import Options

MOST = 32
"""Most threads."""

LEAST_WORK = 4096
"""Fewest multiply-accumulates, or elements of the result, for which handing out bands takes less time than it saves."""


def asked(options: Options) -> int:
    """The most bands of a step that --threads allows. Raises UsageError for a number of threads that cannot be, and for
    options that divide layers otherwise.
    """
    if not re.fullmatch(r"[1-9]|[12]\d|3[0-2]|", options.threads, re.ASCII):
        hint = f"give 1 to {MOST}; 1 computes everything in the thread that runs the model"
        raise UsageError(f"--threads {options.threads!r} is not a number of threads", hint=hint)
    found = int(options.threads or 1)
    others = {
        f"--input-mode {options.input_mode}": options.input_mode != "whole",
        "--optimize ram": options.optimize == "ram",
        "--fetch-weights": options.fetch_weights,
        "--backend opencl": options.backend == "opencl",
    }
    for flag in (flag for flag, given in others.items() if given and found > 1):
        raise UsageError(f"--threads contradicts {flag}: bands are parts of whole layers", hint="leave one of them out")
    return found


def bands_of(call: Call, kernel: Kernel, most: int) -> int:
    """The bands of a step, at most `most`: of rows for a kernel with a window, of pixels or elements for one that takes
    any run of them. 1 for other kernels, several images and small steps.
    """
    if most < 2 or max(call.op.macs(call), call.output.size) < LEAST_WORK:
        return 1
    return max(min(most, _parts(call, kernel)), 1)


def moves(call: Call, k: int) -> bool:
    """Whether a band of a kernel that takes any run of pixels reads only its own pixels of operand k, not all of it."""
    return _pixels(call.input(k)) == _pixels(call.output)


def _parts(call: Call, kernel: Kernel) -> int:
    """The number of rows, pixels or elements into which the step can be divided."""
    operands = [call.input(k) for k in kernel.pointer_operands(call)]
    if any(images_of(t.shape) != 1 for t in (call.output, *operands)):
        return 1
    if kernel.slides:
        return rows_of(call.output.shape)
    form = kernel.form
    if not isinstance(form, Run) or form.count(call) == 0 or call.output.size % form.count(call):
        return 1
    count = form.count(call)
    fits = all(moves(call, k) and call.input(k).size % count == 0 for k in kernel.pointer_operands(call))
    return count if fits else 1


def _pixels(t: TensorType) -> int:
    """The number of vectors along the last axis."""
    return math.prod(t.shape[:-1])
