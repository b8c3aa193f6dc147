# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime on every layer of quantized models written as ONNX: how many values differ from the reference's.

usage: python -m tests.formats.writing.quantized_layers [MODELS DATA] [--only NAME...] [--samples N] [--full]
                                                                                   with a Python that has onnxruntime
  MODELS DATA   float models and samples as of ci/quantize; without them, two networks of tests/quantize/nets.py
  --samples N   how many samples each layer computes, 20 by default; --full: quantized by the guard, not by min-max

Each layer is a file of its own and gets the operands that it has in the reference run. Prints layers that differ and
sums; exit status 1 where an integer is more than a step apart, or a float by more than 1e-5 of the largest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.quantize import quantize_model
from mcugen.quantize.stored_integers import stored_inputs
from tests.formats.writing import onnx_cases, soak
from tests.formats.writing.onnx_cases import Verdict, Written
from tests.quantize import nets, table

OWN = ("gratings", "moves")
REFERENCE = "litert"
_CALIBRATION = 32
_WIDTH = 40


def layers(graph: Graph, samples: Sequence[list[np.ndarray]]) -> Iterator[tuple[str, Verdict]]:
    """Each layer's name, and what its file computes beside the reference, of all samples together."""
    runs = [list(onnx_cases.nodes(graph, inputs, REFERENCE)) for inputs in samples]
    for k, node in enumerate(graph.nodes):
        cases = [of_sample[k] for of_sample in runs]
        together = replace(cases[0], inputs=tuple(arrays for case in cases for arrays in case.inputs))
        yield graph.tensors[node.outputs[0]].label or node.name, _judged(together)


def _judged(case: Written) -> Verdict:
    total = Verdict()
    for arrays, results in zip(case.inputs, soak.run(case.data, case.names, case.inputs), strict=True):
        found = onnx_cases.judge(case, arrays, results)
        total.values, total.steps = total.values + found.values, total.steps + found.steps
        total.worst, total.fault = max(total.worst, found.worst), total.fault or found.fault
    return total


def compared(path: Path, data: Path, count: int, *, full: bool = False) -> bool:
    """Quantize a model, print its layers that differ, and return whether all are within a step."""
    choices = quantize_model.QuantizeOptions(method="full" if full else "min-max", limit=_CALIBRATION)
    made = quantize_model.quantize(path, data, choices)
    given = [a[:count] for a in stored_inputs(made.graph, made.floats.given())]
    samples = [[a[k] for a in given] for k in range(len(given[0]))]
    total, differing, fine = Verdict(), 0, True
    for name, found in layers(made.graph, samples):
        total.values, total.steps = total.values + found.values, total.steps + found.steps
        differing, fine = differing + bool(found.steps), fine and not found.fault
        if found.steps or found.fault:
            share = f"{found.steps:>7,} a step apart ({100 * found.steps / max(found.values, 1):.3f} %)"
            print(f"  {name:{_WIDTH}} {found.values:>9,} values {share} {found.fault}")
    layer_count = len(made.graph.nodes)
    print(
        f"{path.stem}: {differing} of {layer_count} layers differ, {total.steps:,} of {total.values:,} values by a step"
    )
    return fine


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    with TemporaryDirectory() as folder:
        found = [compared(path, data, given.samples, full=given.full) for path, data in _models(given, Path(folder))]
    return 0 if found and all(found) else 1


def _models(given: argparse.Namespace, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Float models with their samples."""
    if given.models is not None:
        for path in sorted(given.models.glob("*.onnx")):
            if not given.only or path.stem in given.only:
                yield path, table.data(given.data, path, _CALIBRATION, 1, folder)[0]
        return
    for name in given.only or OWN:
        net, path, data = nets.made(name), folder / f"{name}.onnx", folder / f"{name}.npz"
        path.write_bytes(net.written("onnx"))
        np.savez(data, net.calib[:_CALIBRATION])
        yield path, data


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.formats.writing.quantized_layers")
    parser.add_argument("models", type=Path, nargs="?")
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--full", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
