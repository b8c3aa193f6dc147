# SPDX-License-Identifier: Apache-2.0
"""Records what the outside runtimes make of small models: the files of `tests/vectors`; `ci/vectors` runs it.

    ci/vectors [NAME ...]      NAME: an operator such as REDUCE_MAX, FAULTS, HYBRID or SIGNAL; all by default

Of every operator that mcugen imports, and every element type: the first models that it does not refuse. Needs
tflite-micro and ai-edge-litert (`pip install -e '.[runtimes]'`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice

from mcugen.errors import ModelError
from mcugen.machines.toolchain.runtimes import Runtime
from tests.runtimes import (
    choosing,
    decoded,
    detections,
    faults,
    full_lstm,
    further,
    hybrid,
    moving,
    operators,
    packs,
    projected,
)
from tests.runtimes import signals as signal_models
from tests.runtimes.judging import imported, outputs_of
from tests.runtimes.packs import REFERENCES, Recorded
from tests.runtimes.sketch import Drawn

CASES = 6
MANY = {
    "QUANTIZE": 16,
    "CAST": 12,
    "SOFTMAX": 10,
    "CONV_2D": 12,
    "DEPTHWISE_CONV_2D": 12,
    "FULLY_CONNECTED": 12,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": 12,
    "LSTM": 4,
    "RNN": 3,
    "BIDIRECTIONAL_SEQUENCE_RNN": 3,
}
"""Models of each element type, where the operator has more variants than others."""
FEW = dict.fromkeys((*choosing.OPERATORS, *further.OPERATORS), 3)
_TRIES = 80
FAULTS = "FAULTS"
HYBRID = "HYBRID"
HYBRID_RECURRENT = "HYBRID_RECURRENT"
DETECTION = "DETECTION"
PROJECTED = "PROJECTED"
FULL_LSTM = "FULL_LSTM"
DECODED = "DECODED"
OTHERS = {
    FAULTS: faults.models,
    HYBRID: hybrid.models,
    HYBRID_RECURRENT: hybrid.recurrent,
    DETECTION: detections.models,
    PROJECTED: projected.models,
    FULL_LSTM: full_lstm.models,
    DECODED: decoded.models,
}
"""Files that are not of one operator: how their models are made."""
SIGNAL = "SIGNAL"
SEQUENCES = {SIGNAL: signal_models.models}
"""Files of models with states: their input sets are runs that follow each other."""


def names() -> list[str]:
    return [*sorted(operators.OPERATORS), *OTHERS]


def models(name: str) -> Iterator[Drawn]:
    """The models of a file."""
    if name in OTHERS:
        yield from filter(accepted, OTHERS[name]())
        return
    for dtype in operators.OPERATORS[name][0]:
        drawn = (operators.draw(name, dtype, seed) for seed in range(_TRIES))
        most = 1 if dtype in ("f16", "u32") else (MANY | FEW).get(name, CASES)
        yield from islice(filter(accepted, drawn), most)


def sequences(name: str, runtimes: Mapping[str, Runtime]) -> list[Recorded]:
    """The runtimes' results of models with states."""
    models = list(SEQUENCES[name]())
    return [
        Recorded(d.label, d.model, d.sets, {w: runtimes[w].run(d.model, d.sets, follow=True) for w in REFERENCES})
        for d in models
    ]


def accepted(drawn: Drawn) -> bool:
    """Whether mcugen takes the model."""
    try:
        graph = imported(drawn.model)
        for which in REFERENCES:
            outputs_of(graph, drawn.sets[:1], which)
    except ModelError:
        return False
    return True


def record(name: str, drawn: Iterable[Drawn], runtimes: Mapping[str, Runtime]) -> list[Recorded]:
    """The runtimes' results of the models: one input set where data is only moved, else two."""
    sets = 1 if name in moving.OPERATORS else 2
    return [
        Recorded(d.label, d.model, d.sets[:sets], {w: runtimes[w].run(d.model, d.sets[:sets]) for w in REFERENCES})
        for d in drawn
    ]


def table() -> str:
    """README.md of the folder: for each operator and type, what the runtimes do."""
    rows: dict[tuple[str, str], list[Recorded]] = {}
    versions: list[str] = []
    for name in sorted(operators.OPERATORS):
        cases, versions = packs.load(packs.FOLDER / f"{name}.npz")
        for case in cases:
            rows.setdefault((name, case.label.split()[1]), []).append(case)
    lines = [
        f"| {name} | {dtype} | {_said(found, 'tflm')} | {_said(found, 'litert')} |"
        for (name, dtype), found in rows.items()
    ]
    return _HEAD.format(versions=", ".join(versions)) + "\n".join(lines) + "\n"


def _said(cases: Sequence[Recorded], which: str) -> str:
    """How many of the models a runtime runs, and why it refuses the first other one."""
    reasons = [c.answers[which].refused for c in cases if c.answers[which].refused]
    if not reasons:
        return f"{len(cases)}"
    reason = " ".join(reasons[0].split()).replace("|", "\\|")[:80]
    return f"{len(cases) - len(reasons)} of {len(cases)}: {reason}"


_HEAD = """# Vectors

Outputs of TensorFlow Lite Micro and LiteRT's reference kernels for small models, recorded by `ci/vectors` with
{versions}. Each file holds the models of one operator, with their inputs and outputs (`tests/runtimes/packs.py` reads
it); FAULTS.npz holds models that once showed a difference, and random graphs, HYBRID.npz and HYBRID_RECURRENT.npz
layers with int8 weights on float data, PROJECTED.npz and FULL_LSTM.npz LSTM with projections and norms, of floats and
of int8 data, and SIGNAL.npz several runs of TFLM's signal library. The table counts the models that a runtime runs, and
quotes why it refuses one.

| operator | type | TensorFlow Lite Micro | LiteRT |
|---|---|---|---|
"""


def main(arguments: list[str]) -> int:
    known = (*names(), *SEQUENCES)
    unknown = sorted(set(arguments) - set(known))
    if unknown:
        print(f"ci/vectors: no operator {unknown[0]}\n{(__doc__ or '').strip()}", file=sys.stderr)
        return 2
    packs.FOLDER.mkdir(exist_ok=True)
    with ExitStack() as stack:
        runtimes = {which: stack.enter_context(Runtime(which)) for which in REFERENCES}
        versions = [runtimes[which].version for which in REFERENCES]
        for name in arguments or known:
            cases = sequences(name, runtimes) if name in SEQUENCES else record(name, models(name), runtimes)
            packs.save(packs.FOLDER / f"{name}.npz", cases, versions)
            print(f"{name}: {len(cases)} models", flush=True)
    (packs.FOLDER / "README.md").write_text(table(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
