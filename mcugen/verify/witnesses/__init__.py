"""Witnesses: other programs that compute the model file, to check that mcugen understood it.

The oracle runs the graph as mcugen imported it, so only a program that reads the file by itself can show an import
error. Results of witnesses are only compared; mcugen uses none of their values.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcugen.errors import ToolError, UsageError
from mcugen.formats import read
from mcugen.ir.graph import Graph
from mcugen.machines.toolchain.runtimes import PACKAGES
from mcugen.options import RUNTIMES
from mcugen.verify.cases import Case
from mcugen.verify.witnesses import installed
from mcugen.verify.witnesses.testimony import Testimony

SAME = "reference"
MACS = 500_000_000
"""Most multiply-accumulates that an installed runtime computes unless the user requests it."""


@dataclass(frozen=True)
class Ask:
    """The file for the witnesses, and a runtime that must be among them.

    runtime: its name, SAME for the runtime whose results the build claims, "" for none. signature: which network of the
    file was built; "" for the first.
    """

    model: Path
    runtime: str = ""
    signature: str = ""


def hear(
    ask: Ask, graph: Graph, which: str, cases: Sequence[Case], progress: Callable[[str], None]
) -> tuple[list[Testimony], list[str]]:
    """The testimony of all available witnesses, and notes on missing ones.

    Raises UsageError or ToolError if a runtime that the user requests cannot run.
    """
    _check_wanted(ask.runtime, which)
    if graph.format not in ("onnx", "tflite"):
        return [], [f"no other program computes {graph.format} models; --golden compares recorded outputs"]
    if not graph.file:
        if ask.runtime:
            hint = "verify the network alone"
            raise UsageError(
                "no runtime can run a model with --chain, --preprocess or --decide", where="--runtime", hint=hint
            )
        return [], ["no other program computes --chain, --preprocess or --decide: verify the network alone"]
    data, folder = read.content(ask.model), ask.model.parent
    heard, notes = [], []
    if graph.format == "onnx":
        from mcugen.verify.witnesses import evaluator

        progress("the reference evaluator")
        heard.append(evaluator.check(data, folder, graph, which, cases))
    if ask.runtime or (which in PACKAGES and importlib.util.find_spec(PACKAGES[which][1]) is not None):
        progress("the runtime itself")
        try:
            heard.append(_runtime(ask, data, graph, which, cases))
        except ToolError as error:
            if ask.runtime:
                raise
            notes.append(f"{error.where}: {error.message}")
    else:
        notes.append(f"{RUNTIMES[which]} is not installed: pip install {PACKAGES[which][0]}")
    return heard, notes


def _check_wanted(wanted: str, which: str) -> None:
    if wanted not in ("", SAME, which):
        raise UsageError(
            f"this build reproduces {RUNTIMES[which]}, not {wanted}", where="--runtime", hint=f"--reference {wanted}"
        )
    if wanted and which not in PACKAGES:
        raise UsageError(f"{RUNTIMES[which]} cannot be run by verify", where="--runtime", hint="leave the option out")


def _runtime(ask: Ask, data: bytes, graph: Graph, which: str, cases: Sequence[Case]) -> Testimony:
    """The testimony of an installed runtime. A slow one gets fewer inputs, unless the user requests it."""
    if ask.signature:
        raise ToolError("can only run the first network of a file", where=RUNTIMES[which], hint="leave --runtime out")
    macs = sum(node.op.macs(graph.call(node, which)) for node in graph.nodes)
    most = len(cases) if ask.runtime else max(1, MACS // max(macs, 1))
    return installed.check(data, ask.model.parent, graph, which, cases[:most])
