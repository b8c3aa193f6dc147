# SPDX-License-Identifier: Apache-2.0
"""The cycles per multiply-accumulate that the best inner loop known for a core reaches, and why a layer takes more.

Memory without wait states, bias, requantization and stores left out: what no kernel that takes a product for each
multiply-accumulate goes below; those that take fewer (Winograd) may.
"""

from __future__ import annotations

from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel
from mcugen.solve import costs

DENSE, FULL, DEPTHWISE, FLOAT = "dense", "full", "depthwise", "float"

BOUNDS: dict[str, dict[str, float]] = {
    "cortex-m0plus": {DENSE: 2.0, FULL: 1.875, DEPTHWISE: 2.0, FLOAT: 40.0},
    "cortex-m3": {DENSE: 2.0, FULL: 1.875, DEPTHWISE: 2.0, FLOAT: 40.0},
    "cortex-m4": {DENSE: 1.0, FULL: 1.125, DEPTHWISE: 1.17, FLOAT: 3.3},
    "cortex-m7": {DENSE: 0.5, FULL: 0.5, DEPTHWISE: 0.67, FLOAT: 1.0},
    "cortex-m33": {DENSE: 1.0, FULL: 1.125, DEPTHWISE: 1.17, FLOAT: 3.3},
    "cortex-m55": {DENSE: 0.125, FULL: 0.156, DEPTHWISE: 0.22, FLOAT: 0.5},
    "cortex-m85": {DENSE: 0.125, FULL: 0.156, DEPTHWISE: 0.22, FLOAT: 0.5},
    "rv32imc": {DENSE: 2.0, FULL: 2.0, DEPTHWISE: 2.0, FLOAT: 40.0},
}
"""Cortex-M4, M33: two pixels by four channels of SMLAD with grouped loads, 16 cycles for 16; fully connected, one pixel
by four, 18 for 16; depthwise 3x3 from planar rows, LDRD and four products for six. Cortex-M7: one product instruction
of two per cycle, loads beside it. Cortex-M55: two rows by three channels of VMLADAVA, 12 cycles for 96; fully
connected, five loads for four products, 10 for 64; depthwise patches, four products for 36. Without SIMD: two channels
in one multiplication, a load of 2 cycles and a product with addition for two; fully
connected on Arm cores, loads of one element and four words and four products with addition, 15 for 8. Floats: one
product at a time where there is a unit, and 40 cycles in software."""

REASONS = {
    "macs": "the inner loop",
    "outputs": "requantization and stores",
    "pixels": "setting up pixels",
    "patches": "reading the taps of each pixel",
    "inputs": "reading the input",
    "converted": "converting rows",
    "runs": "starting inner loops",
    "calls": "calls of the kernel",
    "events": "calls of the kernel",
    "once": "calls of the kernel",
    "bytes": "requantization and stores",
    "blocks": "setting up blocks",
    "inner": "the inner loop",
    "spread": "converting rows",
    "slots": "calls of the kernel",
    "block_taps": "reading weights",
    "tap_pairs": "the inner loop",
    "rest": "channels that fill no block",
    "odd": "channels that fill no block",
    "copies": "gathering taps at the sides",
    "copied": "gathering taps at the sides",
    "edge_outputs": "outputs at the sides",
    "edge_taps": "outputs at the sides",
    "looped_taps": "window rows of other than three",
    "looped_runs": "window rows of other than three",
    "single_outputs": "channels that fill no block",
    "single_taps": "channels that fill no block",
}


def kind_of(kernel: Kernel, call: Call) -> str:
    """The bound that applies to a layer."""
    if call.output.is_float:
        return FLOAT
    name = type(call.op).__name__
    if name.startswith("Depthwise") and call.input(0).shape[-1] > 1:
        return DEPTHWISE
    return FULL if name == "FullyConnected" else DENSE


def bound(core: str, kernel: Kernel, call: Call) -> float:
    """The least cycles that the layer's multiply-accumulates take."""
    return BOUNDS[core][kind_of(kernel, call)] * call.op.macs(call)


def reason(core: str, kernel: Kernel, call: Call, by_rows: bool) -> str:
    """The largest parts of what a layer takes beyond its bound, by the kernel's coefficients."""
    parts: dict[str, float] = {}
    for feature, cycles in costs.parts(kernel, call, core, by_rows).items():
        text = REASONS.get(feature, feature.replace("_", " "))
        parts[text] = parts.get(text, 0.0) + cycles
    if not parts:
        return "no coefficients"
    parts["the inner loop"] = parts.get("the inner loop", 0.0) - bound(core, kernel, call)
    beyond = sum(v for v in parts.values() if v > 0)
    largest = sorted(parts.items(), key=lambda part: -part[1])[:2]
    how = "" if kernel.needs or not target.load(core).features else "portable C; "
    return how + ", ".join(f"{text} {100 * v / beyond:.0f} %" for text, v in largest if v > 0.1 * beyond)
