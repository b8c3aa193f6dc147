# SPDX-License-Identifier: Apache-2.0
"""The rows of docs/models.md: each model of a collection verified, with what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mcugen
from mcugen.errors import McugenError
from mcugen.verify import checks, emulated
from mcugen.verify.cases import cases as drawn
from mcugen.verify.checks import Verification
from mcugen.verify.comparison import Verdict
from tests.support.collection import EMULATED, PROMISES, Model

RANDOM = 16
LARGE_MACS = 1_000_000_000
"""Work of a model that is verified on two random inputs only: its NumPy reference takes minutes for each."""

COLUMNS = "| model | promise | MAC | RAM | bound | flash | C | recorded | litert | M4 |"
_RULE = "|---|---|---:|---:|---:|---:|---|---|---|---:|"
_HEAD = """# Models

The table lists every model of the collection that this release was checked on; `ci/models` writes it. Each row is a run
of `mcugen verify MODEL --golden golden.npz`: on the inputs recorded from the runtime, on {random} random inputs (2 for
models above a billion MAC), and on inputs of extreme values.

- **promise**: {promises}.
- **C**: the C under sanitizers against the NumPy reference, every tensor that has memory of its own. `exact` is
  equality of every element; a number is the largest difference in a float tensor as a share of its largest magnitude
  (1e-5 is allowed), integers being equal. `op` marks floats that were compared operator by operator, on the operands
  that each had.
- **recorded**: the NumPy reference against the outputs recorded from the runtime, for sequences too: TensorFlow Lite
  Micro for `.tflite` (`=`: LiteRT, where the former refuses the model), ONNX Runtime without optimisations for `.onnx`,
  the simulation of nnef-tools for NNEF. `N of M` counts outputs that are not equal in every bit; for
  `meaning` they are counted and no fault, since ONNX Runtime's float noise decides about ties.
- **litert**: `.tflite` models with LiteRT's bits, every tensor against its recorded trace; empty where LiteRT refuses
  the model.
- **RAM** is the model object, **bound** the most bytes live at any step including its scratch, **flash** the constants.
- **M4** is instructions per inference on an emulated Cortex-M4 at -O2, for the models small enough for all machines.
- A row that begins with **refused** or **DIFFERS** is no pass, and says why.

## Layers of PyTorch

`ci/soak --torch PYTHON` exports the layers of `tests/torch_files/layers.txt` with both exporters, and compares
the C of each file with ONNX Runtime, element by element. Files of these rows are refused:

- `nn.EmbeddingBag(7, 4)`, `nn.EmbeddingBag(7, 4, mode="sum")`, `nn.EmbeddingBag(7, 4, mode="max")`,
  `lambda x, w, m=nn.EmbeddingBag(7, 4, mode="sum"): m(x, per_sample_weights=w)`,
  `lambda x, m=nn.EmbeddingBag(7, 4, mode="mean"): m(x, torch.tensor([0, 3]))`: the dynamo exporter writes lists of
  tensors, TorchScript's are taken
- `lambda x: torch.tensor_split(x, 3, dim=1)`: TorchScript's exporter writes lists of tensors
- `nn.Embedding(7, 4, max_norm=1.0)`: the dynamo exporter writes Unique, whose result has no fixed size
- `lambda x: torch.einsum("ii->i", x)`: Einsum with an axis twice in one term
- `lambda x: torch.linalg.det(x)`: Det
- `lambda x: (x << 2) + (x >> 1)`: the dynamo exporter shifts in uint64
- `lambda x: torch.bincount(x, minlength=5)`: the number of bins depends on the input

## Collection

{passed} of {count} models pass.

"""


def row(model: Model, random: int = RANDOM) -> str:
    """One row of the table."""
    start = f"| {model.name} | {model.promise} |"
    try:
        artifact = mcugen.compile(model.path, name="model")
        facts = artifact.report
        count = random if facts.macs < LARGE_MACS else min(random, 2)
        result = checks.verify(artifact, count, model.folder / "golden.npz", None, lambda text: None)
        litert = _litert(model, count)
        counted = _instructions(model) if model.folder.name in EMULATED else ""
    except McugenError as error:
        return f"{start} | | | | **refused** {_plain(str(error))} | | | |"
    measured = _counted(result) if model.promise == "meaning" else _recorded(result)
    sizes = f"{facts.macs:,} | {facts.ram_bytes:,} | {facts.lower_bound:,} | {facts.weights_bytes:,}"
    return f"{start} {sizes} | {_c(result)} | {measured} | {litert} | {counted} |"


def is_refused(row: str) -> bool:
    """Whether the model of a row cannot be built."""
    return "**refused**" in row


def is_pass(row: str) -> bool:
    """Whether the model of a row passes."""
    return "**" not in row


def page(rows: Mapping[str, str]) -> str:
    """The page with the rows, by the names of their models."""
    promises = "; ".join(f"`{name}`: {text}" for name, text in PROMISES.items())
    head = _HEAD.format(random=RANDOM, promises=promises, passed=sum(map(is_pass, rows.values())), count=len(rows))
    return head + "\n".join([COLUMNS, _RULE, *(rows[name] for name in sorted(rows))]) + "\n"


def rows_of(page_text: str) -> dict[str, str]:
    """The rows of a page, by the names of their models."""
    lines = page_text.partition(_RULE)[2].strip().splitlines()
    return {line.split("|")[1].strip(): line for line in lines}


def _plain(message: str) -> str:
    """The first lines of a message as the text of a cell."""
    lines = [" ".join(line.split()) for line in message.splitlines() if line.strip()]
    more = f" and {len(lines) - 2} more" if len(lines) > 2 else ""
    return (" ".join(lines[:2])[:200] + more).replace("|", "\\|")


def _c(result: Verification) -> str:
    """The C against the NumPy reference, and all that is compared without recordings."""
    if not result.c.agrees or result.faults:
        why = result.faults[0] if result.faults else str(result.c.first_difference)
        return f"**DIFFERS** {_plain(why)}"
    shown = _difference(result.c)
    return f"{shown} op" if result.c.by_operator else shown


def _difference(verdict: Verdict) -> str:
    return "exact" if verdict.max_abs_diff == 0 else f"{verdict.max_relative_diff:.1e}"


def _recorded(result: Verification) -> str:
    """The NumPy reference against the recording."""
    if result.simulated is not None:
        text = f"{result.simulated.outputs_apart} of {result.simulated.outputs} a step apart"
        return text if result.simulated.agrees else f"**DIFFERS** {text}"
    if result.recorded is None:
        return "**DIFFERS** nothing recorded"
    marked = " =" if result.notes and result.reference == "litert" else ""
    verdict = result.recorded
    counts = f" ({verdict.differing:,} of {verdict.values:,})" if verdict.differing else ""
    if not verdict.agrees:
        return f"**DIFFERS**{counts} {_plain(str(verdict.first_difference))}"
    return _difference(verdict) + counts + marked


def _counted(result: Verification) -> str:
    """How many recorded outputs differ from the exact meaning: a runtime's float noise decides ties, and may differ."""
    verdict = result.recorded
    if verdict is None:
        return "**DIFFERS** nothing recorded"
    if not verdict.differing:
        return "exact"
    return f"{verdict.differing:,} of {verdict.values:,} differ, by {verdict.max_abs_diff:.2g} at most"


def _litert(model: Model, random: int) -> str:
    """A .tflite model with LiteRT's bits, against the trace of every tensor; empty for other formats."""
    if model.path.suffix != ".tflite":
        return ""
    artifact = mcugen.compile(model.path, reference="litert", name="model")
    if artifact.view.reference != "litert":
        return ""
    result = checks.verify(artifact, random, model.folder / "golden.npz", model.trace, lambda text: None)
    return _difference(result.c) if result.agrees else f"**DIFFERS** {_first(result)}"


def _first(result: Verification) -> str:
    verdicts = (result.c, result.recorded)
    found = next((v.first_difference for v in verdicts if v is not None and not v.agrees), None)
    return _plain(str(found) if found is not None else result.faults[0])


def _instructions(model: Model) -> str:
    artifact = mcugen.compile(model.path, name="model", board="cortex-m4")
    result = emulated.simulate(artifact, list(drawn(artifact.imported, 1))[:1])
    return f"{result.instructions:,}" if result.agrees else "**DIFFERS**"


def read(path: Path) -> dict[str, str]:
    """The rows of a page that may not be there yet, or have other columns."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return rows_of(text) if COLUMNS in text else {}
