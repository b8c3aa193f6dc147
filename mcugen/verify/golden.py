"""Recorded inputs and outputs of the reference runtimes. They prove that the oracle itself is right.

Arrays of an .npz, with k the input set and j the index of the input or output:
* in<k>_<j>: inputs
* out<k>_<j>: outputs of LiteRT's reference kernels
* tflm<k>_<j>: outputs of TFLM, where they differ from LiteRT's
* seq<k>_<j>: for models with states, outputs of the sets run one after the other in one interpreter: LiteRT's for any
  runtime of the build, or TFLM's if LiteRT refuses the model

A trace.json lists, for the first set, the hash of every operator's output in the runtime that made the sequences.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Tensor
from mcugen.ir.types import TensorType
from mcugen.oracle import interpreter
from mcugen.oracle.interpreter import HALF_TOLERANCE
from mcugen.passes.layouts import in_interface
from mcugen.system import files
from mcugen.verify import flips, half_rounding, simulated
from mcugen.verify.cases import RECORDED, Case
from mcugen.verify.comparison import Comparison, Verdict
from mcugen.verify.rebased import is_needed
from mcugen.verify.simulated import Simulated


def cases(path: Path, graph: Graph) -> list[Case]:
    """The recorded input sets. Raises UsageError if the file is not such a record, or not of this model."""
    arrays = _arrays(path)
    found: list[Case] = []
    while all(f"in{len(found)}_{j}" in arrays for j in range(len(graph.inputs))):
        k = len(found)
        given = [_stored(graph.type(n), arrays[f"in{k}_{j}"]) for j, n in enumerate(graph.inputs)]
        found.append(Case(f"{RECORDED} {k}", in_interface(graph, graph.inputs, given)))
    if not found:
        raise UsageError(
            f"{path.name} holds no input set in0_0, ...", hint="give an .npz of recorded inputs and outputs"
        )
    return found


def outputs(path: Path, graph: Graph, which: str) -> list[list[np.ndarray]]:
    """The outputs of each recorded input set, as runtime `which` gave them. Raises UsageError if one is missing."""
    arrays, count = _arrays(path), len(cases(path, graph))
    for k, j in itertools.product(range(count), range(len(graph.outputs))):
        if f"out{k}_{j}" not in arrays:
            raise UsageError(
                f"{path.name} holds no out{k}_{j}", hint="write it with `mcugen run MODEL --record FILE.npz`"
            )
    return [[_recorded(arrays, graph, k, j, which) for j in range(len(graph.outputs))] for k in range(count)]


def _stored(t: TensorType, recorded: np.ndarray) -> np.ndarray:
    """A recorded input in the element type of the model. Real numbers are quantized if needed; halves become floats."""
    if t.is_float and recorded.dtype.kind == "f":
        return recorded.astype(t.np_dtype, copy=False)
    return simulated.steps_of(t, recorded) if simulated.is_stored(t, recorded) else recorded


def simulation(path: Path, graph: Graph, which: str) -> Simulated | None:
    """Compare the oracle with integer outputs that are recorded as real numbers; None for any other recording."""
    arrays = _arrays(path)
    types = [graph.type(name) for name in graph.outputs]
    if not any(f"out0_{j}" in arrays and simulated.is_stored(t, arrays[f"out0_{j}"]) for j, t in enumerate(types)):
        return None
    found = simulated.start(graph)
    for k, case in enumerate(cases(path, graph)):
        values = interpreter.run(graph, case.inputs, which)
        simulated.check(found, graph, values, which)
        for j, name in enumerate(graph.outputs):
            (given,) = in_interface(graph, [name], [arrays[f"out{k}_{j}"]])
            wanted = _stored(types[j], given).astype(np.int64)
            found.note_output(np.abs(wanted - values[name].astype(np.int64).reshape(wanted.shape)))
    return found


def judged(path: Path, graph: Graph, which: str) -> tuple[Verdict | None, Simulated | None]:
    """Compare the oracle with a recording: (verdict, None) for a runtime's results, (None, counts) for a simulation."""
    found = simulation(path, graph, which)
    return (check(path, graph, which) if found is None else None), found


def check(path: Path, graph: Graph, which: str) -> Verdict:
    """Compare the oracle's outputs with the recorded outputs of runtime `which`, which may be rounded to float16."""
    arrays = _arrays(path)
    renamed = _outputs_only(graph)
    flipping = is_needed(graph)
    rounds = any(arrays[f"out0_{j}"].dtype == np.float16 for j in range(len(graph.outputs)) if f"out0_{j}" in arrays)
    comparison = Comparison(renamed, graph, flips.TOLERANCE if flipping else HALF_TOLERANCE if rounds else None)
    notes: tuple[str, ...] = ()
    for k, case in enumerate(cases(path, graph)):
        values = interpreter.run(graph, case.inputs, which)
        outputs = [_recorded(arrays, graph, k, j, which) for j in range(len(graph.outputs))]
        if flipping:
            run = flips.explained(graph, case.inputs, which, dict(zip(graph.outputs, outputs, strict=True)))
            values = run.values
            comparison.note_flips(case.name, run.flips)
        elif half_rounding.differs(graph, values, outputs):
            found = half_rounding.explained(graph, case.inputs, values, outputs, which)
            values = values if found is None else found[0]
            notes += () if found is None else tuple(f"{case.name}: {half}" for half in found[1])
        comparison.begin_case(case.name, values)
        for name, wanted in zip(graph.outputs, outputs, strict=True):
            comparison.tensor(f"{case.name} (oracle against {path.name})", -1, name, values[name], {name: wanted})
    _check_sequence(path, arrays, graph, comparison)
    return replace(comparison.verdict(), other_halves=notes)


def _recorded(arrays: dict[str, np.ndarray], graph: Graph, k: int, j: int, which: str) -> np.ndarray:
    """Output j of input set k, as recorded for runtime `which`, in the layout of the built interface."""
    recorded = arrays.get(f"tflm{k}_{j}") if which == "tflm" else None
    expected = numbered(arrays[f"out{k}_{j}"] if recorded is None else recorded, graph.texts.get(j, ()))
    (wanted,) = in_interface(graph, [graph.outputs[j]], [expected])
    return wanted


def _check_sequence(path: Path, arrays: dict[str, np.ndarray], graph: Graph, comparison: Comparison) -> None:
    """Compare the recorded outputs of successive runs, if the file has any."""
    which = _recorder(graph)
    found = itertools.takewhile(lambda k: f"seq{k}_0" in arrays, itertools.count())
    given = [case.inputs for case in cases(path, graph)][: len(list(found))]
    for k, values in enumerate(interpreter.runs(graph, given, which)):
        comparison.begin_case(f"run {k}", values)
        for j, name in enumerate(graph.outputs):
            where = f"run {k} (oracle against {path.name})"
            (wanted,) = in_interface(graph, [name], [arrays[f"seq{k}_{j}"]])
            comparison.tensor(where, -1, name, values[name], {name: wanted})


def numbered(recorded: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Recorded texts as their numbers; -1 for a text that the model does not have. Other values stay as they are."""
    if not texts or recorded.dtype.kind not in "US":
        return recorded
    known = {text: k for k, text in reversed(list(enumerate(texts)))}
    found = [known.get(str(text), -1) for text in recorded.reshape(-1).tolist()]
    return np.array(found, np.int64).reshape(recorded.shape)


def _recorder(graph: Graph) -> str:
    """The runtime that recorded the sequences and the trace."""
    return "tflm" if graph.refusals.get("litert") else "litert"


def check_trace(path: Path, golden: Path, graph: Graph) -> tuple[int, list[str]]:
    """(tensors compared, names of integer tensors whose hash differs) for the first recorded set."""
    try:
        rows = json.loads(files.read(path))
    except ValueError as error:
        raise UsageError(f"{path.name} cannot be read: {error}", hint="give the trace.json of this model") from error
    values = interpreter.run(graph, cases(golden, graph)[0].inputs, _recorder(graph))
    wrong: list[str] = []
    compared = 0
    for row in rows:
        value = values.get(f"t{row['tensor']}")
        if value is None or value.dtype.kind == "f":
            continue
        compared += 1
        if hashlib.sha1(np.ascontiguousarray(value).tobytes()).hexdigest()[:16] != row["sha1"]:
            wrong.append(f"t{row['tensor']} (operator {row['op']} {row['kind']})")
    return compared, wrong


def _outputs_only(graph: Graph) -> Graph:
    plain = {n: Tensor(n, graph.type(n), label=graph.tensors[n].label) for n in (*graph.inputs, *graph.outputs)}
    return Graph(graph.name, plain, (), graph.inputs, graph.outputs)


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(io.BytesIO(files.read(path)), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path.name} cannot be read: {error}", hint="give an .npz file") from error
