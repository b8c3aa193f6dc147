# SPDX-License-Identifier: Apache-2.0
"""The page of benchmarks and its data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from mcugen.boards import target
from tests.bench.measure import GOAL, MODELS, NEAR, NEAR_LEAST, PRESETS, Layer, Result
from tests.bench.published import BEST

WORST = 10
LEAST_SHARE = 0.03
"""Share of its model's cycles that a layer must take to be listed."""
LEAST_MACS = 5000
ALLOWED_GROWTH = 1.01
WHOLE = frozenset(m.title for m in MODELS if m.input_mode == "whole")
"""Models whose cycles are those of an inference, as published ones are."""
CHECKED = ("instructions", "cycles_low", "cycles_high", "ram_bytes")
ALWAYS_KEPT = {("ram", "ram_bytes")}
"""(preset, figure) that may not grow at all."""
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

Written by `ci/bench`, which prints and keeps more: every preset on every core (`tests/bench/figures.json`), and the
layers furthest from their bound. Models are built with `--optimize {GOAL}` and gcc -O2; their outputs equal the
reference's. [At the end](#presets) are some with each preset. Networks on a GPU, beside PyTorch:
[opencl.md](opencl.md#measured).

- **instructions** per inference are counted exactly on an emulated core (a frame: per frame of the stream; a call: one
  run of a model that keeps values from run to run; by rows: the input is pushed row by row).
- **cycles** are an estimate, from the least to the most; **per MAC** its middle. Memory of a core has no wait states;
  of a board the most has all that reads of its memories hold up past its caches, the least only the cycles that
  constants take to come, where they are more than a cache keeps. No interval is narrower than the errors of the
  estimates [on chips](cycles.md).
- **RAM** is the model object, **stack** the painted depth, **constants** weights and tables, **copied** those of them
  that are also in RAM; **code** is .text and .rodata of a bare firmware less the constants and the start-up code. All
  in bytes.
- **of best published**: the most cycles, to those of the fastest result that MLPerf Tiny lists for the board, which
  was measured on the chip; nothing here was.
"""

GOALS = ", ".join(preset for preset in PRESETS if preset != NEAR)
PRESETS_HEAD = f"""## Presets

Models with `--optimize` {GOALS} (`balanced` is the default). `{NEAR}` is the default with a budget of
{round(100 * NEAR_LEAST - 100)} % more RAM than `ram` takes. **cycles** are the middle of the estimate; other columns
are as above.
"""
SHOWN = {"cortex-m0plus", "cortex-m4", "cortex-m55"}, {"IC", "KWS", "VWW", "AD", "SWW"}
"""Cores and models of which the page has every preset: a core of each kind, and MLPerf Tiny."""
COLUMNS = tuple(f.name for f in dataclasses.fields(Result) if f.name not in ("preset", "core", "model", "folder"))

Baselines = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Title -> model folder -> core -> instructions."""


def baseline_of(data: Mapping[str, Any]) -> tuple[str, dict[str, dict[str, int]]]:
    """Title and instructions of a baseline file: `source`, and models.<folder>.instructions.<core>."""
    title = str(data.get("title") or str(data["source"]).split(";")[0])
    return title, {name: dict(row["instructions"]) for name, row in data["models"].items()}


def shown(results: Iterable[Result]) -> list[Result]:
    """The results that the page has: those of GOAL, and every preset of some cores and models."""
    cores, models = SHOWN
    return [r for r in results if r.preset == GOAL or (r.core in cores and r.model in models)]


def text(results: Sequence[Result], layers: Sequence[Layer], baselines: Baselines) -> str:
    """The page as Markdown."""
    parts = [HEAD]
    if baselines:
        names = [f"{_letter(k)}: {title}" for k, title in enumerate(baselines)]
        parts.append(
            "The columns `of A` and so on divide mcugen's instructions by those of another stack on the same core. For "
            "models that take frames, one frame is compared with a whole window of the other stack. "
            f"{'; '.join(names)}. An empty cell was not measured.\n"
        )
    main = [r for r in results if r.preset == GOAL]
    for core in dict.fromkeys(r.core for r in main):
        parts.append(f"## {TITLES.get(core, core)}\n")
        parts.append(_table([_row(r, baselines) for r in main if r.core == core]))
        parts += [_compared(core)] if core in BEST else []
    parts += [worst(layers)] if layers else []
    parts += _presets(results, baselines)
    return "\n".join(parts)


def _letter(k: int) -> str:
    return chr(ord("A") + k)


def _presets(results: Sequence[Result], baselines: Baselines) -> list[str]:
    """For each core a table with a row for each model and preset; without models that have one preset."""
    compared = dict.fromkeys((r.core, r.model) for r in results if r.preset != GOAL)
    parts = [PRESETS_HEAD] if compared else []
    for core in dict.fromkeys(core for core, _ in compared):
        found = [r for r in results if r.core == core and (core, r.model) in compared]
        order = {(m.title, preset): k for k, (m, preset) in enumerate(product(MODELS, PRESETS))}
        found.sort(key=lambda r: order.get((r.model, r.preset), len(order)))
        parts += [f"### {TITLES.get(core, core)}, by preset\n", _table([_of_preset(r, baselines) for r in found])]
    return parts


def _of_preset(r: Result, baselines: Baselines) -> dict[str, str]:
    row = _row(r, baselines)
    shown = {key: text for key, text in row.items() if key.startswith("of ") and key != "of best published"}
    middle = f"{(r.cycles_low + r.cycles_high) // 2:,}"
    sizes = {"RAM": f"{r.ram_bytes:,}", "constants and code": f"{r.flash_bytes:,}"}
    return {
        "model": f"{r.model}, `{r.preset}`",
        "instructions": row["instructions"],
        **shown,
        "cycles": middle,
        **sizes,
    }


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    lines = [f"| {' | '.join(rows[0])} |", "|---|" + "---:|" * (len(rows[0]) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row.values())} |" for row in rows)]) + "\n"


def _row(r: Result, baselines: Baselines) -> dict[str, str]:
    """Column -> text, the same columns for every result of a core."""
    bare = target.load(r.core).core
    others = {f"of {_letter(k)}": found.get(r.folder, {}).get(bare) for k, found in enumerate(baselines.values())}
    row = {"model": r.model, "MAC": f"{r.macs:,}", "instructions": f"{r.instructions:,}"}
    row |= {title: f"{100 * r.instructions / other:.1f} %" if other else "" for title, other in others.items()}
    row["cycles"] = f"{r.cycles_low:,} to {r.cycles_high:,}"
    row["per MAC"] = f"{(r.cycles_low + r.cycles_high) / 2 / r.macs:.2f}" if r.macs else ""
    if r.core in BEST:
        best = BEST[r.core].get(r.folder) if r.model in WHOLE else None
        row["of best published"] = f"{100 * r.cycles_high / best.cycles:.1f} %" if best else ""
    row |= {"RAM": f"{r.ram_bytes:,}", "stack": f"{r.stack_bytes:,}", "constants": f"{r.constant_bytes:,}"}
    if r.core != bare:
        row["copied"] = f"{r.copied_bytes:,}"
    return row | {"code": f"{r.code_bytes:,}"}


def _compared(core: str) -> str:
    """Who published the figures that a board's are compared with."""
    found = BEST[core]
    names = [(m.title, found[m.folder]) for m in MODELS if m.title in WHOLE and m.folder in found]
    listed = [f"{title} {best.ms:,} ms, {best.cycles / 1e6:.3f} million cycles ({best.who})" for title, best in names]
    return f"Best published at {next(iter(found.values())).mhz} MHz: {'; '.join(listed)}.\n"


def worst(layers: Sequence[Layer]) -> str:
    """The layers that take most beyond their bound, with what takes it."""
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
    """All figures as JSON, a line for each result."""
    rows = [json.dumps([r.preset, r.core, r.model, *(getattr(r, key) for key in COLUMNS)]) for r in results]
    names = json.dumps(["preset", "core", "model", *COLUMNS])
    head = f'{{"baselines": {json.dumps(baselines, indent=1)},\n"columns": {names},'
    return head + '\n"results": [\n' + ",\n".join(rows) + "\n]}\n"


def figures(text: str) -> dict[str, Any]:
    """The figures that `data` wrote: `baselines`, and `presets`: preset -> core -> model -> figures by name."""
    given = json.loads(text)
    found: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    for preset, core, model, *values in given["results"]:
        found.setdefault(preset, {}).setdefault(core, {})[model] = dict(zip(COLUMNS, values, strict=True))
    return {"baselines": given["baselines"], "presets": found}


def results_of(committed: Mapping[str, Any]) -> list[Result]:
    """The results that were committed, in the order of cores, models and presets."""
    folders = {model.title: model.folder for model in MODELS}
    return [
        Result(model, folder, core, **committed["presets"][preset][core][model], preset=preset)
        for core, (model, folder), preset in product(TITLES, folders.items(), PRESETS)
        if model in committed["presets"].get(preset, {}).get(core, {})
    ]


def worse(results: Iterable[Result], committed: Mapping[str, Any]) -> list[str]:
    """Figures over 1 % above the committed ones, or above them at all where they may not grow; a model that those lack
    is no difference. With the preset `flash` also constants and code.
    """
    found = []
    for r in results:
        before = dict(committed["presets"].get(r.preset, {}).get(r.core, {}).get(r.model, {}))
        if before and r.preset == "flash":
            before["flash_bytes"] = before["constant_bytes"] + before["code_bytes"]
        for key in (*CHECKED, "flash_bytes"):
            now, growth = getattr(r, key), 1.0 if (r.preset, key) in ALWAYS_KEPT else ALLOWED_GROWTH
            if key in before and now > before[key] * growth:
                what = f"{now:,} {key.replace('_', ' ')}, {before[key]:,} committed"
                found.append(f"{r.model} on {r.core} with {r.preset}: {what}")
    return found
