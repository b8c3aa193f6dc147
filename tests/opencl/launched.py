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

import numpy as np

from mcugen import kernels, reference, target
from mcugen.emit.opencl import launches
from mcugen.kernel import Form
from mcugen.op import Example, Op
from mcugen.schedule import Choice
from mcugen.select import devices
from mcugen.toolchain import opencl
from mcugen.types import TensorType
from tests.support import draw, program
from tests.support.cases import folded, prepared, under_test
from tests.support.references import REFERENCES

FEATURES = frozenset({"cl12", "fence"})
DEVICE = target.load("opencl-generic").device
SETS = 3


@dataclass(frozen=True, eq=False)
class Launched:
    """A launch with its operands, and the result that it must have."""

    label: str
    choice: Choice
    operands: tuple[np.ndarray, ...]
    expected: np.ndarray
    magnitude: float


def launched(op: type[Op], number: int = 1, first: int = 0, *, max_group: int = 64) -> Iterator[Launched]:
    """Every `number`-th launch of an operator's examples, the `first` first."""
    count = 0
    for k, example in enumerate(op.examples()):
        if folded(example) is not None:
            continue
        for choice, node_reference in _choices(example, max_group):
            count += 1
            if count % number == first % number:
                yield from _cases(f"{op.__name__} example {k}", example, choice, node_reference)


def _choices(example: Example, max_group: int) -> Iterator[tuple[Choice, str]]:
    assert DEVICE is not None
    device = dataclasses.replace(DEVICE, max_group=max_group, local_bytes=49152)
    _, graph = prepared(example)
    seen: set[str] = set()
    for which in REFERENCES:
        for node in under_test(example, graph):
            call = graph.call(node, which)
            if len(call.outputs) > 1:
                continue
            for kernel in kernels.on_device(type(node.op)):
                if kernel.form is not Form.GRID or kernel.refusals(call, FEATURES):
                    continue
                for made in devices.launches(call, kernel, device):
                    choice = Choice(node, call, made, "")
                    key = f"{made.identity(call)} {made.tile} {_text(choice)}"
                    if key not in seen:
                        seen.add(key)
                        yield choice, which


def _text(choice: Choice) -> str:
    return repr([(k, v.tobytes() if isinstance(v, np.ndarray) else v) for k, v in choice.params.items()])


def _cases(label: str, example: Example, choice: Choice, which: str) -> Iterator[Launched]:
    imported, graph = prepared(example)
    if imported is not graph:
        types = [graph.type(name) for name in graph.inputs]
        example_graph = graph
    else:
        types, example_graph = [imported.type(n) for n in imported.inputs], imported
    node = choice.node
    for name, arrays in list(draw.input_sets(types, example.seed, SETS))[:SETS]:
        known = dict(zip(example_graph.inputs, arrays, strict=True))
        values = reference.run(example_graph, arrays, which)
        known.update(values)
        operands = tuple(_stored(known[str(node.inputs[k])], choice.call.input(k)) for k in _computed(choice))
        floats = [np.abs(a).max(initial=0.0) for a in operands if a.dtype.kind == "f"]
        magnitude = float(max(floats, default=0.0))
        title = f"{label} {choice.kernel.symbol} {dict(choice.kernel.tile)} {which} {name}"
        yield Launched(title, choice, operands, known[node.outputs[0]], magnitude)


def _computed(choice: Choice) -> list[int]:
    call = choice.call
    return [k for k in choice.kernel.pointer_operands(call) if call.constants[k] is None]


def _stored(array: np.ndarray, t: TensorType) -> np.ndarray:
    return np.ascontiguousarray(array.astype(t.np_dtype))


def check(cases: Sequence[Launched], folder: Path) -> list[str]:
    """The first difference of each launch that has one."""
    made = opencl.compile_program(launches.files_of([c.choice for c in cases], str(folder)), folder)
    given = b"".join(array.tobytes() for case in cases for array in case.operands)
    output = opencl.run(made, stdin=given)
    problems, at = [], 0
    for case in cases:
        size = case.choice.call.output.nbytes
        got = np.frombuffer(output[at : at + size], case.choice.call.output.np_dtype).reshape(case.expected.shape)
        at += size
        want = case.expected.astype(got.dtype)
        found = program.first_difference(got, want, case.magnitude)
        if found:
            problems.append(f"{case.label}: {found}")
    assert at == len(output)
    return problems


def main(arguments: Sequence[str]) -> int:
    from tests.test_conformance import OPS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args(arguments)
    cases = [c for name in options.ops or sorted(OPS) for c in launched(OPS[name], options.every)]
    symbols = sorted({c.choice.kernel.symbol for c in cases})
    print(f"{len(cases)} launches of {len(symbols)} kernels: {' '.join(symbols)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        problems = check(cases, Path(folder))
    print("\n".join(problems[:40]) or "all right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
