# SPDX-License-Identifier: Apache-2.0
"""Whole models on an OpenCL device, every layer against the oracle: integers equal, floats within the tolerance.

    python -m tests.opencl.models FOLDER [NAME ...] [--board B] [--precision f16]

FOLDER has a folder for each model; with --precision, only those are run that compute floats. Prints a line for each:
steps on the device and in C, exact or the largest deviation of floats as a share of the magnitude of the sums, and the
first difference of a model that has one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from mcugen import pipeline
from mcugen.errors import McugenError
from mcugen.ir.graph import Graph
from mcugen.ops._weighted import Weighted
from mcugen.ops.distances import Distances
from mcugen.options import Options
from mcugen.verify import host
from mcugen.verify.cases import cases

FORMATS = (".tflite", ".onnx", ".nnef")


def verdict(path: Path, options: Options, count: int = 2) -> tuple[bool, str]:
    """Whether a model agrees, and its line. Inputs: one random set, and zeros or extremes for the others."""
    artifact = pipeline.build(path, options)
    if options.precision and not _is_float(artifact.imported):
        return True, "left out, as it is no network of floats"
    on_device = sum(step.on_device for step in artifact.schedule.steps)
    drawn = list(cases(artifact.imported, 1))[:count]
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        program = host.build_program(artifact, Path(folder))
        found = host.compare(artifact, program, drawn, lambda text: None)
    steps = f"{on_device} steps on the device, {len(artifact.schedule.steps) - on_device} in C"
    named = sorted(
        {type(s.choice.node.op).__name__ for s in artifact.schedule.steps if not s.on_device and s.choice.node}
    )
    near = f"agrees, at most {found.max_relative_diff:.2g} off"
    how = "exact" if found.exact and found.agrees else near if found.agrees else f"DIFFERS {found}"[:300]
    return found.agrees, f"{how}; {steps} {' '.join(named)}"


def _is_float(graph: Graph) -> bool:
    """Whether a network has layers with weights, and all that it computes is float but for a few integers.

    Exponentials of distances, of support vectors, are none: half of the digits of a distance are lost in them.
    """
    if not any(isinstance(node.op, Weighted) for node in graph.nodes) or any(
        isinstance(node.op, Distances) for node in graph.nodes
    ):
        return False
    made = [graph.type(name) for node in graph.nodes for name in node.outputs]
    return sum(t.size for t in made if t.is_float) > 0.9 * sum(t.size for t in made)


def models(folder: Path) -> list[Path]:
    """The model files, one in each folder."""
    found = (path for path in sorted(folder.glob("*/*")) if path.suffix in FORMATS or (path / "graph.nnef").exists())
    return list(found)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--board", default="opencl-generic")
    parser.add_argument("--precision", default="")
    options = parser.parse_args(arguments)
    wrong = 0
    for path in models(options.folder):
        name = path.parent.name
        if options.names and name not in options.names:
            continue
        start = time.perf_counter()
        try:
            agrees, text = verdict(path, Options(backend="opencl", board=options.board, precision=options.precision))
            wrong += not agrees
        except McugenError as error:
            text = f"refused: {str(error)[:160]}".replace("\n", " ")
        print(f"{name}: {text}, {time.perf_counter() - start:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
