# SPDX-License-Identifier: Apache-2.0
"""Examples of operators on OpenCL kernels: each kernel and tile that takes one, against the oracle, in one program.

    python -m tests.opencl.launched [--every N] [OpName ...]

prints what was launched, and the first difference of each case that fails.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from mcugen import kernels
from mcugen.boards import target
from mcugen.boards.machine import Device
from mcugen.emit.opencl import launches
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.kernel import Grid, Kernel
from mcugen.ir.op import Example, evaluate
from mcugen.ir.types import TensorType
from mcugen.kernels import halves
from mcugen.machines.toolchain import opencl
from mcugen.oracle import interpreter
from mcugen.solve import device_kernels
from mcugen.solve.schedule import Choice
from tests.support import draw, program
from tests.support.cases import folded, prepared, under_test
from tests.support.references import REFERENCES

FEATURES = frozenset({"cl12", "fence", "dot8"})
DEVICE = target.load("opencl-generic").device
SETS = 3
FLAGS = [flag.replace("-O2", "-O0") for flag in opencl.FLAGS]
"""Flags without optimization for the program around the kernels, as optimizing it takes longer than running it."""
MAX_GROUP = 64


class HasExamples(Protocol):
    """An operator, or what else has examples of one."""

    def examples(self) -> Sequence[Example]: ...


@dataclass(frozen=True, eq=False)
class Launched:
    """A launch with its operands, and the result that it must have."""

    label: str
    choice: Choice
    operands: tuple[np.ndarray, ...]
    expected: np.ndarray
    magnitude: float


def launched(op: HasExamples, number: int = 1, first: int = 0) -> Iterator[Launched]:
    """Every `number`-th launch of an operator's examples, the `first` first."""
    for count, (example, choice, which) in enumerate(choices(op), 1):
        if count % number == first % number:
            yield from cases(example, choice, which)


def choices(op: HasExamples) -> Iterator[tuple[Example, Choice, str]]:
    """The launches of an operator's examples, with the reference of each."""
    for example in op.examples():
        if folded(example) is None:
            yield from ((example, choice, which) for choice, which in _choices(example))


def _choices(example: Example) -> Iterator[tuple[Choice, str]]:
    assert DEVICE is not None
    device = dataclasses.replace(DEVICE, max_group=MAX_GROUP, local_bytes=49152)
    _, graph = prepared(example)
    seen: set[str] = set()
    for which in REFERENCES:
        nodes = [node for node in under_test(example, graph) if len(node.outputs) == 1]
        for node, call in [(n, call) for n in nodes for call in _calls(graph, n, which)]:
            for made in _launches(node, call, device):
                choice = Choice(node, call, made, "")
                key = f"{made.identity(call)} {made.grid.tile} {_text(choice)}"
                if key not in seen:
                    seen.add(key)
                    yield choice, which


def _calls(graph: Graph, node: Node, which: str) -> Iterator[Call]:
    """The call of a node, and the same with its floats stored as half."""
    call = graph.call(node, which)
    yield call
    if halves.stores_halves(stored := halves.halved(call)):
        yield stored


def _launches(node: Node, call: Call, device: Device) -> Iterator[Kernel]:
    for kernel in kernels.on_device(type(node.op)):
        if isinstance(kernel.form, Grid) and not kernel.refusals(call, FEATURES):
            yield from device_kernels.launches(call, kernel, device)


def _text(choice: Choice) -> str:
    return repr([(k, v.tobytes() if isinstance(v, np.ndarray) else v) for k, v in choice.params.items()])


def cases(example: Example, choice: Choice, which: str) -> Iterator[Launched]:
    """A launch on each set of inputs."""
    imported, graph = prepared(example)
    if imported is not graph:
        types = [graph.type(name) for name in graph.inputs]
        example_graph = graph
    else:
        types, example_graph = [imported.type(n) for n in imported.inputs], imported
    node = choice.node
    for name, arrays in list(draw.input_sets(types, example.seed, SETS))[:SETS]:
        known = dict(zip(example_graph.inputs, arrays, strict=True))
        known.update(interpreter.run(example_graph, arrays, which))
        operands = tuple(_stored(known[str(node.inputs[k])], choice.call.input(k)) for k in _computed(choice))
        expected = known[node.outputs[0]]
        if halves.are_in(choice.call):
            expected = _of_stored(graph.call(node, which), choice, known, operands)
        floats = [np.abs(a).max(initial=0.0) for a in operands if a.dtype.kind == "f"]
        magnitude = float(max(floats, default=0.0))
        title = f"{example.op} {choice.kernel.symbol} {dict(choice.kernel.grid.tile)} {which} {name}"
        yield Launched(title, choice, operands, expected, magnitude)


def _of_stored(call: Call, choice: Choice, known: dict[str, np.ndarray], operands: Sequence[np.ndarray]) -> np.ndarray:
    """The result of operands as they are stored."""
    given = [None if name is None else known[name] for name in choice.node.inputs]
    for k, operand in zip(_computed(choice), operands, strict=True):
        given[k] = operand.astype(call.input(k).np_dtype)
    return evaluate(call, given)[0]


def _computed(choice: Choice) -> list[int]:
    call = choice.call
    return [k for k in choice.kernel.pointer_operands(call) if call.constants[k] is None]


def _stored(array: np.ndarray, t: TensorType) -> np.ndarray:
    """The operand as it lies in memory."""
    return halves.as_half(array) if t.dtype == "f16" else np.ascontiguousarray(array.astype(t.np_dtype))


def check(
    cases: Sequence[Launched], folder: Path, under: Sequence[str] = (), without: Sequence[bytes] = ()
) -> list[str]:
    """The first difference of each launch that has one. under: what runs the program; without: texts to leave out."""
    files = launches.files_of([c.choice for c in cases], str(folder))
    for text in without:
        files["launches.c"] = files["launches.c"].replace(text, b"")
    made = opencl.compile_program(files, folder, FLAGS)
    given = b"".join(array.tobytes() for case in cases for array in case.operands)
    command = [*under, str(made), "check"]
    output = opencl.run(Path(command[0]), command[1:], stdin=given)
    problems, at = [], 0
    for case in cases:
        size = case.choice.call.output.nbytes
        got = np.frombuffer(output[at : at + size], case.choice.call.output.np_dtype).reshape(case.expected.shape)
        at += size
        if got.dtype == np.float16:
            found = _far(got, case)
        else:
            found = program.first_difference(got, case.expected.astype(got.dtype), case.magnitude)
        if found:
            problems.append(f"{case.label}: {found}")
    assert at == len(output)
    return problems


def _far(got: np.ndarray, case: Launched) -> str:
    """The first element of a result stored as half that is not near; "" for none. Weights are rounded to half, too."""
    want = halves.as_half(case.expected).astype(np.float32)
    largest = float(np.abs(want[np.isfinite(want)]).max(initial=0.0))
    near = interpreter.HALF_TOLERANCE * max(largest, 2.0**-10 * case.magnitude, 2.0**-14)
    wrong = ~(np.abs(got.astype(np.float32) - want) <= near) & ~(np.isnan(got) & np.isnan(want))
    wrong &= ~(np.isinf(got) & (np.abs(want) == np.finfo(np.float16).max))
    if not wrong.any():
        return ""
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    return f"element {list(at)} is {got[at]}, not {want[at]}"


def main(arguments: Sequence[str]) -> int:
    from tests.opencl.fused import ALL

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args(arguments)
    cases = [c for name in options.ops or sorted(ALL) for c in launched(ALL[name], options.every)]
    symbols = sorted({c.choice.kernel.symbol for c in cases})
    print(f"{len(cases)} launches of {len(symbols)} kernels: {' '.join(symbols)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        problems = check(cases, Path(folder))
    print("\n".join(problems[:40]) or "all right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
