# SPDX-License-Identifier: Apache-2.0
"""Flash and instructions of classical models on emulated cores, and of the same trees as nested ifs: the yardstick."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from mcugen import pipeline, solve
from mcugen.emit.literals import float32
from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ops import tree_ensemble
from mcugen.ops._forest import DIFFERS, LEAF, Forest
from mcugen.ops.tree_ensemble import TreeEnsemble
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.verify import emulated, golden

CORES = ("cortex-m0plus", "cortex-m4")
HEAD = """| model | core | form | code | constants | flash | instructions |
|---|---|---|---:|---:|---:|---:|
"""
_HEADER = """/* Trees as nested ifs. */
#ifndef MCUGEN_NESTED_IFS_H
#define MCUGEN_NESTED_IFS_H
#include "mcugen/runtime.h"
void mg_nested_ifs(const mg_f32 *in, mg_f32 *out, uint32_t n);
#endif
"""


def nested(call: Call) -> str:
    """The C of a call's trees, one function each, with float thresholds and leaves in the code."""
    forest, count = Forest(*(call.constant(k) for k in range(1, 6))), call.op.count
    lines = ['#include "mcugen/nested_ifs.h"', ""]
    for k, root in enumerate(forest.roots.tolist()):
        lines += [f"static void tree{k}(const mg_f32 *x, mg_f32 *y)", "{", *_branches(forest, root), "}", ""]
    calls = [f"        tree{k}(in + i * {call.input(0).shape[-1]}u, y);" for k in range(forest.roots.size)]
    lines += [
        "void mg_nested_ifs(const mg_f32 *in, mg_f32 *out, uint32_t n)",
        "{",
        "    for (uint32_t i = 0u; i < n; i += 1u) {",
        f"        mg_f32 *const y = out + i * {count}u;",
        f"        for (uint32_t t = 0u; t < {count}u; t += 1u) {{ y[t] = 0.0f; }}",
        *calls,
        "    }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _branches(forest: Forest, root: int) -> Iterator[str]:
    waiting: list[tuple[int, str] | str] = [(root, "    ")]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            yield entry
            continue
        at, indent = entry
        feature, yes, no, flags = forest.nodes[at].tolist()
        if feature == LEAF:
            pairs = zip(forest.targets[yes:no].tolist(), forest.weights[yes:no].tolist(), strict=True)
            yield from (f"{indent}y[{t}] += {float32(w)};" for t, w in pairs if w)
            continue
        sign = "!=" if flags & DIFFERS else "<="
        yield f"{indent}if (x[{feature}] {sign} {float32(float(forest.thresholds[at]))}) {{"
        inner = indent + "    "
        waiting += [f"{indent}}}", (no, inner), f"{indent}}} else {{", (yes, inner)]


def as_ifs(call: Call) -> TreeEnsemble:
    """The operator of a call with a kernel of nested ifs."""
    files = {"nested_ifs.h": _HEADER, "nested_ifs.c": nested(call)}
    kernel = Kernel("mg_nested_ifs", Run(tree_ensemble.rows), operands=(0,), text=Text(files=files))

    @dataclass(frozen=True)
    class NestedIfs(TreeEnsemble):
        """Trees as nested ifs. Source: TreeEnsemble."""

        kernels: ClassVar[tuple[Kernel, ...]] = (kernel,)

    return NestedIfs(call.op.count, call.op.aggregate)


def build(path: Path, core: str, optimize: str, *, ifs: bool) -> Artifact:
    """The model for a core. ifs: with the yardstick in place of kernels."""
    prepared = pipeline.prepare(path, Options(board=core, name="model", optimize=optimize))
    if ifs:
        graph = prepared.graph
        nodes = [
            replace(node, op=as_ifs(graph.call(node, "ort"))) if isinstance(node.op, TreeEnsemble) else node
            for node in graph.nodes
        ]
        prepared = replace(prepared, graph=graph.updated(nodes=nodes))
    return pipeline.finish(prepared, solve.solve(prepared.graph, prepared.board, prepared.options))


def has_trees(graph: Graph) -> bool:
    return any(isinstance(node.op, TreeEnsemble) for node in graph.nodes)


def form_of(artifact: Artifact) -> str:
    """How the trees of a model are computed, "" where it has none."""
    symbols = [step.choice.kernel.symbol for step in artifact.schedule.steps if "tree" in step.choice.kernel.symbol]
    return ("branches" if "branches" in symbols[0] else "table") if symbols else ""


def rows(folder: Path, level: str = "-Os") -> Iterator[str]:
    """Rows of the table for one model: each core, each form."""
    for core in CORES:
        seen: list[str] = []
        for optimize, ifs in (("flash", False), ("speed", False), ("flash", True)):
            artifact = build(folder / "model.onnx", core, optimize, ifs=ifs)
            form = "nested ifs" if ifs and has_trees(artifact.imported) else form_of(artifact)
            if form in seen:
                continue
            seen.append(form)
            cases = golden.cases(folder / "golden.npz", artifact.imported)[:2]
            result = emulated.simulate(artifact, cases, optimize=level)
            own = result.text_bytes + result.rodata_bytes
            agreed = f"{result.instructions:,}" if result.agrees else "**DIFFERS**"
            sizes = f"{result.text_bytes:,} | {result.rodata_bytes:,} | {own:,}"
            yield f"| {folder.name} | {core} | {form} | {sizes} | {agreed} |"


def main(arguments: list[str]) -> int:
    found = sorted(p.parent for p in Path(arguments[0]).glob("*/model.onnx") if p.parent.name.startswith("ml_"))
    print(HEAD, end="")
    for folder in found:
        try:
            for row in rows(folder):
                print(row, flush=True)
        except McugenError as error:
            print(f"| {folder.name} | {type(error).__name__}: {str(error).splitlines()[0]} | | | | | |")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
