# SPDX-License-Identifier: Apache-2.0
"""Files of a folder that tests.torch_files.export wrote, their C against ONNX Runtime, element by element:

`python -m tests.torch_files.judge FOLDER [--oracle] [TEXT...]`. --oracle: the NumPy reference in place of the C.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mcugen
from mcugen.errors import InternalError, McugenError, ToolError
from mcugen.formats import read, registry
from mcugen.machines.native.model import all_of
from mcugen.oracle import interpreter
from tests.torch_files.rows import EXPORTERS, Row, rows

TOLERANCE = 1e-5
"""Largest error of floats, relative to the largest magnitude among inputs and outputs, as sums may cancel."""


@dataclass(frozen=True)
class Verdict:
    """outcome: "equal", "refused" by mcugen, "wrong", or "not exported" by PyTorch; why: of all but the first."""

    row: Row
    exporter: str
    outcome: str
    why: str = ""


def judged(row: Row, exporter: str, folder: Path, *, by_oracle: bool = False) -> Verdict:
    """The verdict of a file."""
    path = folder / f"{row.number}.{exporter}.onnx"
    inputs = [array for _, array in sorted(np.load(folder / f"{row.number}.npz").items(), key=lambda item: item[0])]
    wanted = runtime_results(path, inputs)
    if isinstance(wanted, str):
        return Verdict(row, exporter, "not exported", wanted)
    names, wanted = wanted
    given = [array for k, array in enumerate(inputs) if k < len(names)]
    try:
        if by_oracle:
            graph = read.load(path, registry.load())
            values = interpreter.run(graph, given, "ort")
            found: Sequence[np.ndarray] = [values[name] for name in graph.outputs]
        else:
            found = all_of(mcugen.load(path).run(*given))
    except McugenError as error:
        outcome = "wrong" if isinstance(error, InternalError | ToolError) else "refused"
        return Verdict(row, exporter, outcome, " ".join(str(error).split()))
    except Exception as error:
        return Verdict(row, exporter, "wrong", f"{type(error).__name__}: {error}")
    problem = difference(found, wanted, inputs)
    return Verdict(row, exporter, "wrong" if problem else "equal", problem)


def runtime_results(path: Path, inputs: Sequence[np.ndarray]) -> tuple[list[str], list[np.ndarray]] | str:
    """The names of the file's inputs and ONNX Runtime's outputs without optimisations, or why it has none."""
    import onnxruntime  # of the extra `runtimes`, which tests of a sample do without

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        names = [i.name for i in session.get_inputs()]
        return names, session.run(None, dict(zip(names, inputs, strict=False)))
    except Exception as error:  # the runtime raises what it likes
        return f"ONNX Runtime: {str(error).splitlines()[0]}"


def difference(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray], inputs: Sequence[np.ndarray]) -> str:
    """The first difference of the outputs, "" for none: integers bit for bit, floats within the tolerance."""
    floats = [np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in (*wanted, *inputs) if a.dtype.kind == "f"]
    for k, (got, want) in enumerate(zip(found, wanted, strict=True)):
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"output {k} is {got.dtype} {list(got.shape)}, not {want.dtype} {list(want.shape)}"
        allowed = TOLERANCE * max(1.0, *floats) if want.dtype.kind == "f" else 0
        equal = np.isclose(got, want, rtol=0.0, atol=allowed, equal_nan=True) if allowed else got == want
        if not equal.all():
            at = tuple(int(i) for i in np.argwhere(~equal)[0])
            return f"output {k}{list(at)} is {got[at]}, not {want[at]} ({int((~equal).sum())} of {want.size} differ)"
    return ""


def verdicts(folder: Path, texts: Sequence[str] = (), *, by_oracle: bool = False) -> Iterator[Verdict]:
    """The verdicts of all files, row by row."""
    for exporter in EXPORTERS:
        record = folder / f"{exporter}.json"
        refused = json.loads(record.read_text()) if record.is_file() else {}
        for row in rows(texts):
            if (folder / f"{row.number}.{exporter}.onnx").is_file():
                yield judged(row, exporter, folder, by_oracle=by_oracle)
            elif str(row.number) in refused:
                yield Verdict(row, exporter, "not exported", refused[str(row.number)])


def main(arguments: list[str]) -> int:
    by_oracle = "--oracle" in arguments
    folder, *texts = [a for a in arguments if a != "--oracle"]
    counts: Counter[str] = Counter()
    for verdict in verdicts(Path(folder), texts, by_oracle=by_oracle):
        counts[verdict.outcome] += 1
        if verdict.outcome != "equal":
            where = f"{verdict.outcome} {verdict.exporter} {verdict.row.number}"
            print(f"{where}: {verdict.row.layer}\n    {verdict.why[:300]}", flush=True)
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
