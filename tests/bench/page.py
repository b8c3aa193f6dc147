# SPDX-License-Identifier: Apache-2.0
"""The page of benchmarks and its data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcugen import target
from tests.bench.measure import GOAL, Layer, Result

WORST = 10
LEAST_SHARE = 0.03
"""Of its model's cycles that a layer must take to be listed."""
LEAST_MACS = 5000
ALLOWED_GROWTH = 1.01
CHECKED = ("instructions", "cycles_low", "cycles_high")
TITLES = {
    "cortex-m0plus": "Cortex-M0+",
    "cortex-m3": "Cortex-M3",
    "cortex-m4": "Cortex-M4",
    "nucleo-l4r5zi": "Cortex-M4 of NUCLEO-L4R5ZI",
    "cortex-m7": "Cortex-M7",
    "cortex-m33": "Cortex-M33",
    "cortex-m55": "Cortex-M55",
    "rv32imc": "RV32IMC",
}
HEAD = f"""# Benchmarks

Written by `ci/bench`; the same figures stand in [benchmarks.json](benchmarks.json). Models are built with
`--optimize {GOAL}` and gcc -O2; their outputs equal the reference's.

- **instructions** per inference are counted exactly on an emulated core (a frame: per frame of the stream).
- **cycles** are an estimate, from the least to the most; **per MAC** its middle. Memory of a core has no wait states;
  of a board the least is without, the most with the flash's for every line that its caches do not hold.
- **RAM** is the model object, **stack** the painted depth, **constants** weights and tables; **code** is .text and
  .rodata of a bare firmware less the constants and the start-up code. All in bytes.
"""

Baselines = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Title -> model folder -> core -> instructions."""


def baseline_of(data: Mapping[str, Any]) -> tuple[str, dict[str, dict[str, int]]]:
    """Title and instructions of a baseline file: `source`, and models.<folder>.instructions.<core>."""
    title = str(data.get("title") or str(data["source"]).split(";")[0])
    return title, {name: dict(row["instructions"]) for name, row in data["models"].items()}


def text(results: Sequence[Result], layers: Sequence[Layer], baselines: Baselines) -> str:
    """The page as Markdown."""
    parts = [HEAD]
    if baselines:
        names = [f"{_letter(k)}: {title}" for k, title in enumerate(baselines)]
        parts.append(
            "Ratios are to the instructions of other stacks on the same core, of a frame to their whole window: "
        )
        parts[-1] += "; ".join(names) + ".\n"
    for core in dict.fromkeys(r.core for r in results):
        parts.append(f"## {TITLES.get(core, core)}\n")
        parts.append(_table([r for r in results if r.core == core], baselines))
    parts.append(_worst(layers))
    return "\n".join(parts)


def _letter(k: int) -> str:
    return chr(ord("A") + k)


def _table(results: Iterable[Result], baselines: Baselines) -> str:
    ratios = [f"of {_letter(k)}" for k in range(len(baselines))]
    columns = ["model", "MAC", "instructions", *ratios, "cycles", "per MAC", "RAM", "stack", "constants", "code"]
    lines = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    for r in results:
        others = [models.get(r.folder, {}).get(target.load(r.core).core) for models in baselines.values()]
        shown = [f"{100 * r.instructions / other:.1f} %" if other else "" for other in others]
        per_mac = f"{(r.cycles_low + r.cycles_high) / 2 / r.macs:.2f}" if r.macs else ""
        cycles = f"{r.cycles_low:,} to {r.cycles_high:,}"
        sizes = [f"{n:,}" for n in (r.ram_bytes, r.stack_bytes, r.constant_bytes, r.code_bytes)]
        lines.append(
            f"| {' | '.join([r.model, f'{r.macs:,}', f'{r.instructions:,}', *shown, cycles, per_mac, *sizes])} |"
        )
    return "\n".join(lines) + "\n"


def _worst(layers: Sequence[Layer]) -> str:
    lines = [
        "## Layers furthest from their bound\n",
        "The bound is what the best inner loop known takes for the multiply-accumulates alone "
        "(`tests/bench/bounds.py`).",
        f"Layers of {LEAST_MACS:,} MAC and {100 * LEAST_SHARE:.0f} % of their model's cycles or more, alike ones once.",
        "Why: the share of what is taken beyond the bound, by the kernel's fitted costs.\n",
        "| core | model, step | layer | kernel | cycles per MAC | bound | times | why |",
        "|---|---|---|---|---:|---:|---:|---|",
    ]
    listed = [x for x in layers if x.share >= LEAST_SHARE and x.macs >= LEAST_MACS]
    alike = {(x.core, x.what, x.kernel): x for x in sorted(listed, key=lambda x: x.times)}
    for x in sorted(alike.values(), key=lambda x: -x.times)[:WORST]:
        middle, bound = (x.cycles_low + x.cycles_high) / 2 / x.macs, x.bound / x.macs
        figures = f"{middle:.2f} | {bound:.2f} | {x.times:.1f}"
        core = TITLES.get(x.core, x.core)
        lines.append(f"| {core} | {x.model}, {x.step} | {x.what} | {x.kernel} | {figures} | {x.reason} |")
    return "\n".join(lines) + "\n"


def data(results: Iterable[Result], baselines: Baselines) -> str:
    """The page's figures as JSON."""
    found: dict[str, dict[str, Any]] = {}
    for r in results:
        found.setdefault(r.core, {})[r.model] = r.as_dict()
    return json.dumps({"goal": GOAL, "baselines": baselines, "cores": found}, indent=1) + "\n"


def worse(results: Iterable[Result], committed: Mapping[str, Any]) -> list[str]:
    """What takes over 1 % more than the committed figures say; a model that they lack is no difference."""
    found = []
    for r in results:
        before = committed["cores"].get(r.core, {}).get(r.model, {})
        for key in CHECKED:
            now = getattr(r, key)
            if key in before and now > before[key] * ALLOWED_GROWTH:
                found.append(f"{r.model} on {r.core}: {now:,} {key.replace('_', ' ')}, {before[key]:,} committed")
    return found
