# SPDX-License-Identifier: Apache-2.0
"""Recorded results of the outside runtimes, against the oracle, the C, and the build's notes on the runtimes."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import NoKernelError, UnsupportedError
from mcugen.formats import registry
from mcugen.ir.call import Call
from mcugen.ir.imports import Import
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.div import Div
from mcugen.ops.logistic import Logistic
from mcugen.ops.tanh import Tanh
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.verify.checks import refused
from tests.runtimes import faults, full_lstm, hybrid, operators, packs, recording
from tests.runtimes.judging import compared, first_difference, imported, magnitude, outputs_of
from tests.runtimes.packs import REFERENCES, Recorded
from tests.runtimes.sketch import Sketch
from tests.support import conformance, program
from tests.support.cases import Case

ROOT = Path(__file__).resolve().parents[2]
WHICH = {"TFLM": "tflm", "LiteRT": "litert"}
"""Columns of docs/operators.md -> the runtime whose bits they claim."""


@cache
def recorded(name: str) -> list[Recorded]:
    return packs.load(packs.FOLDER / f"{name}.npz")[0]


graph_of = cache(imported)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", recording.names())
def test_the_oracle_equals_the_runtimes(name: str) -> None:
    """Every output, and which runtime does not compute a model: the answers, not the importer's belief."""
    wrong = []
    for case in recorded(name):
        graph = graph_of(case.model)
        for which in REFERENCES:
            oracle = outputs_of(graph, case.sets, which)
            wrong += [f"{case.label}: {t}" for t in compared(graph, which, case.sets, case.answers[which], oracle)]
    assert not wrong, "\n".join(wrong[:8])


def test_what_a_runtime_computes_is_not_refused_by_verify() -> None:
    """Operators that become others among them, such as ABS of int8, which is a table."""
    asked = 0
    for case in (c for name in recording.names() for c in recorded(name)):
        graph = graph_of(case.model)
        for which in (w for w in REFERENCES if not graph.refusals[w]):
            assert not refused(graph, which), case.label
            asked += 1
    assert asked > 1000
    unsigned = next(c for c in recorded("ADD") if " u8 " in c.label)
    assert refused(graph_of(unsigned.model), "tflm") == "operator 0 ADD"


def test_layers_with_int8_weights_on_float_data_have_litert_s_bits() -> None:
    values = 0
    for case in recorded(recording.HYBRID):
        oracle = outputs_of(graph_of(case.model), case.sets, "litert")
        for got, want in zip(oracle, case.answers["litert"].outputs, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(got, want, strict=True)), case.label
            values += sum(a.size for a in want)
        assert case.answers["tflm"].refused
    assert values > 2000


def test_runs_of_the_signal_library_have_tflm_s_bits() -> None:
    """Results that the runtime says are not valid yet are what it finds in memory, and are not compared."""
    compared = 0
    for case in recorded(recording.SIGNAL):
        graph = graph_of(case.model)
        found = interpreter.runs(graph, case.sets, "tflm")
        for values, want in zip(found, case.answers["tflm"].outputs, strict=True):
            got = [values[name].reshape(w.shape) for name, w in zip(graph.outputs, want, strict=True)]
            valid = all(w for w in want if w.dtype == np.bool_)
            pairs = [(a, b) for a, b in zip(got, want, strict=True) if valid or b.dtype == np.bool_]
            assert not any(first_difference(a, b, magnitude([b])) for a, b in pairs), case.label
            compared += len(pairs)
    assert compared > 300


def test_a_maximum_that_tflm_lacks_makes_the_whole_model_litert_s(tmp_path: Path) -> None:
    case = next(c for c in recorded(recording.FAULTS) if "then FULLY_CONNECTED" in c.label)
    built = _built(case, tmp_path, "tflm")
    assert built.view.reference == "litert" and "REDUCE_MAX" in built.report.notes[0]
    outputs = outputs_of(built.imported, case.sets, built.view.reference)
    for got, want in zip(outputs, case.answers["litert"].outputs, strict=True):
        assert np.array_equal(got[0], want[0])


@pytest.mark.parametrize("op", [Logistic(), Tanh()])
@pytest.mark.parametrize(("scale", "defined"), [(2.0**-28, True), (np.nextafter(np.float32(2.0**-28), 0), False)])
def test_a_scale_for_which_tflm_shifts_by_a_negative_number_is_litert_s(
    op: Logistic | Tanh, scale: float, defined: bool
) -> None:
    """TFLM gives 127 for every input there, on x86: the shift is by six bits less than none."""
    x = TensorType((3,), "s8", QuantParams((float(scale),), (0,)))
    call = Call(op, (x,), op.infer(x), (None,), "tflm")
    assert (op.refused_by(call, "tflm") == "") is defined
    assert op.refused_by(call, "litert") == ""


@pytest.mark.parametrize(("step", "defined"), [(2.0**-22, True), (2.0**-23, False)])
def test_an_int8_quotient_that_would_be_shifted_to_the_left_is_no_runtime_s(step: float, defined: bool) -> None:
    x, y = (TensorType((3,), "s8", QuantParams((scale,), (0,))) for scale in (1.0, step))
    call = Call(Div(), (x, x), (y,), (None, None), "litert")
    assert {call.op.refused_by(call, which) == "" for which in REFERENCES} == {defined}


@pytest.mark.parametrize("name", ["ARG_MAX", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "RELU_N1_TO_1"])
def test_int16_that_no_runtime_computes_is_refused_by_name(name: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"operator 0 {name}: .*s16"):
        imported(operators.draw(name, "s16", 0).model)


def test_data_that_litert_reads_backward_once_for_each_step_is_refused_by_name() -> None:
    """A layer of both directions with int8 weights, where steps are the first axis."""
    sketch = Sketch("backward 2", "f32")
    hybrid.both_directions(sketch)
    with pytest.raises(UnsupportedError, match="runs the layer backward once for each step"):
        imported(sketch.drawn().model)


def test_weights_of_the_cell_that_litert_applies_to_some_units_are_refused_by_name() -> None:
    """An LSTM of int8 data that projects its units to fewer, or more, results."""
    sketch = Sketch("projected and seeing", "s8")
    full_lstm.layers(sketch, projected=True, normalized=False, peepholes=True, results=3)
    with pytest.raises(UnsupportedError, match="only as many cells as there are results"):
        imported(sketch.drawn().model)


def test_a_bias_that_both_runtimes_misread_is_refused_by_name() -> None:
    drawn = next(d for d in faults.models() if d.label == "fault TRANSPOSE_CONV bias s32 silent")
    with pytest.raises(UnsupportedError, match="no quantized_bias_type is stated"):
        imported(drawn.model)


def _built(case: Recorded, folder: Path, which: str) -> Artifact:
    path = folder / f"m{len(list(folder.iterdir()))}.tflite"
    path.write_bytes(case.model)
    return mcugen.compile(path, reference=which, name=path.stem)


def test_the_generated_code_equals_the_runtimes(tmp_path: Path) -> None:
    """One model in forty, and all that once showed a fault: the conformance tests hold C to the oracle."""
    chosen = [c for name in recording.names() for c in recorded(name)][::40]
    chosen += [c for c in recorded(recording.FAULTS) if c.label.startswith("fault")]
    cases = [made for case in chosen if (made := _as_case(case, tmp_path)) is not None]
    assert len(cases) >= 40
    group, folder = program.Group("recorded", tuple(cases)), tmp_path / "built"
    folder.mkdir()
    problems = conformance.run_host(conformance.compile_host(group, folder), cases)
    assert not problems, "\n".join(map(str, problems[:8]))


def _as_case(case: Recorded, folder: Path) -> Case | None:
    """The model as C; None where no runtime runs all of it, no kernel takes its types, or the runtime has float16."""
    refusals = graph_of(case.model).refusals
    which = next((w for w in ("tflm", "litert") if not refusals[w]), "")
    has_halves = any(a.dtype == np.float16 for arrays in (*case.sets, *case.answers["litert"].outputs) for a in arrays)
    if not which or has_halves:
        return None
    try:
        built = _built(case, folder, which)
    except NoKernelError:
        return None
    names = tuple(f"set {k}" for k in range(len(case.sets)))
    return Case(
        built.name,
        f"{case.label} as {which}",
        built.view,
        dict(built.files),
        zones=(),
        set_names=names,
        inputs=tuple(case.sets),
        expected={which: tuple(case.answers[which].outputs)},
        cancels=False,
    )


def test_the_manual_claims_what_was_recorded() -> None:
    """docs/operators.md lists an operator, element type and runtime where outputs were recorded, and only there."""
    found = _computed()
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    head, _, *rows = (line for line in page.splitlines() if line.startswith("|"))
    claimed = {claim for row in rows for claim in _claims(_cells(head), _cells(row))}
    assert len(claimed) > 300
    assert claimed - found == set(), "claimed without a vector"
    assert found - claimed == set(), "computed by a runtime, but not claimed"


def _cells(row: str) -> list[str]:
    """The cells of a row of a table in Markdown; bars in a cell have a backslash before them."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def _claims(head: list[str], row: list[str]) -> set[tuple[str, str, str]]:
    """(operator, runtime, element type) triples that a row of the manual claims."""
    cells = dict(zip(head, row, strict=True))
    return {(cells["operator"], which, t) for name, which in WHICH.items() for t in cells[name].split()}


def _computed() -> set[tuple[str, str, str]]:
    """(operator, runtime, element type) of all recorded models that the runtime computes and does not misread."""
    entries = [
        (e.when is None, e.name, op.__name__)
        for op in registry.load().ops
        for e in op.imports
        if isinstance(e, Import) and e.format == "tflite"
    ]
    classes = {name: op for _, name, op in sorted(entries)}
    runs: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for name in recording.names():
        for case in (c for c in recorded(name) if c.label.split()[0] in classes):
            refusals = graph_of(case.model).refusals
            own = [w for w in REFERENCES if not case.answers[w].refused and not refusals[w]]
            drawn, dtype = case.label.split()[:2]
            runs[drawn] |= {(classes[drawn], which, dtype) for which in own}
    for case in recorded(recording.SIGNAL):
        name = "CUSTOM:" + case.label.split()[1]
        runs[name] |= {(classes[name], "tflm", case.label.split()[2])} if name in classes else set()
    assert not set(classes) - set(runs), "an operator is imported but not recorded"
    return set().union(*runs.values())


def test_the_table_of_the_vectors_is_up_to_date() -> None:
    assert (packs.FOLDER / "README.md").read_text("utf-8") == recording.table()
