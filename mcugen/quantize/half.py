"""Float16 weights: a float network whose weights are rounded to 16 bits and computed as float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.errors import UsageError
from mcugen.formats import write
from mcugen.formats._halves import held, is_wide_enough
from mcugen.ir.graph import Graph
from mcugen.quantize import float_model
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.layer_bits import label_of, node_of
from mcugen.quantize.noise import decibels, powers
from mcugen.quantize.quantization_report import score_dict, score_lines
from mcugen.quantize.quantize_model import QuantizeOptions, given, in_interface
from mcugen.quantize.scores import Score, score
from mcugen.system import tabular

_MOST = float(np.finfo(np.float16).max)
_TFLM = "TensorFlow Lite Micro has no kernel that widens float16 constants; LiteRT, ONNX Runtime and mcugen read them"
_IN_C = "the C that mcugen builds holds these weights as float32"


@dataclass(frozen=True, eq=False)
class HalfNetwork:
    """A network with float16 weights, and the loss that they cause.

    wide: layers that keep float32, by user-visible names; of: number of layers with weights; before, after: bytes of
    constants; samples: number of samples; sqnr: against the float network on them, in dB; score: result of a test
    """

    graph: Graph
    wide: tuple[str, ...]
    of: int
    before: int
    after: int
    samples: int
    sqnr: float
    notes: tuple[str, ...]
    score: Score | None = None

    def written(self, format_name: str) -> bytes:
        """The network as a model file."""
        return write.write(self.graph, format_name, halves=True)


def quantize(
    path: Path,
    data: Path,
    choices: QuantizeOptions,
    *,
    test: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> HalfNetwork:
    """Round the weights of a float model file, and measure the loss on the samples in `data` and `test`.

    Raises McugenError for files that cannot be read.
    """
    read = given(path, data, choices, test)
    imported, graph, found, tested = read.imported, read.graph, read.found, read.tested
    made, wide, notes = _rounded(graph, _kept_wide(graph, choices.layers))
    floats = FloatRun(graph, float_model.REFERENCE, in_interface(graph, found.arrays))
    progress(f"comparing on {floats.count} samples")
    sqnr = float(decibels(powers(floats.outputs(), outputs_of(floats, made)).sum(axis=1)))
    constants = [t.data for t in made.tensors.values() if t.data is not None]
    narrow = sum(c.nbytes // 2 for c in constants if held(c) is not None)
    before = sum(c.nbytes for c in constants)
    labels = tuple(label_of(graph, name) for name in wide)
    notes = (*imported.notes, *found.notes, *notes, _TFLM, _IN_C)
    weighted = sum(bool(_weights(graph, node.inputs)) for node in graph.nodes)
    result = HalfNetwork(made, labels, weighted, before, before - narrow, found.count, sqnr, notes)
    if tested is None:
        return result
    of_test = FloatRun(graph, float_model.REFERENCE, in_interface(graph, tested.arrays))
    return replace(result, score=score(of_test, made, read.test), notes=(*notes, *tested.notes))


def _kept_wide(graph: Graph, layers: Sequence[str]) -> tuple[str, ...]:
    """Nodes that the user keeps in float32 by `NAME=w32`. Raises UsageError for other bits and unknown names."""
    found: list[str] = []
    for text in layers:
        label, _, bits = text.rpartition("=")
        if not label or bits not in ("w16", "w32"):
            hint = "with --weights float16 use, for example, conv_3=w32 to keep a layer in float32"
            raise UsageError(f"{text!r} does not end in =w16 or =w32", where="--layer", hint=hint)
        name = node_of(graph, label)
        found = [n for n in found if n != name] + ([name] if bits == "w32" else [])
    return tuple(found)


def _rounded(graph: Graph, wide: Sequence[str]) -> tuple[Graph, tuple[str, ...], tuple[str, ...]]:
    """The network with rounded weights, the nodes that keep float32, and notes about nodes not named by the user."""
    tensors, far, notes = dict(graph.tensors), [], []
    kept = {name for node in graph.nodes if node.name in wide for name in _weights(graph, node.inputs)}
    for node in graph.nodes:
        for name in _weights(graph, node.inputs):
            data = graph.tensors[name].data
            assert data is not None
            most = float(np.abs(data).max(initial=0))
            if name not in kept and most <= _MOST:
                tensors[name] = replace(graph.tensors[name], data=data.astype(np.float16).astype(np.float32))
            elif name not in kept:
                far.append(node.name)
                what = f"weights up to {most:.3g} are beyond float16, which ends at {_MOST:.0f}"
                notes.append(f"{label_of(graph, node.name)} stays in float32: {what}")
    return replace(graph, tensors=tensors), (*wide, *far), tuple(notes)


def _weights(graph: Graph, names: Sequence[str | None]) -> list[str]:
    """Operands of a node that are weights."""
    data = {name: graph.tensors[name].data for name in names if name is not None}
    return [name for name, array in data.items() if array is not None and is_wide_enough(array)]


def as_parts(found: HalfNetwork, file: str, size: int) -> tabular.Parts:
    """Text of the result: the file, its quality, and the bytes saved."""
    lines = [
        f"{file}: {size:,} bytes, {found.graph.name} with float16 weights, computed in float32, "
        f"{found.sqnr:.1f} dB against the float model on {found.samples} samples",
        f"  constants: {found.after:,} bytes, {found.before:,} in float32",
    ]
    if found.wide:
        lines.append(f"  float32: {len(found.wide)} of {found.of} layers: {', '.join(found.wide)}")
    lines += score_lines(found.score, "with float16 weights")
    lines += [f"note: {note}" for note in found.notes]
    return lines


def as_dict(found: HalfNetwork, file: str, size: int) -> dict[str, Any]:
    """The result as values for JSON."""
    return {
        "model": found.graph.name,
        "file": file,
        "bytes": size,
        "samples": found.samples,
        "weights": "float16",
        "constants": {"bytes": found.after, "float32": found.before},
        "float32_layers": list(found.wide),
        "sqnr_db": found.sqnr,
        "test": score_dict(found.score, "float16"),
        "notes": list(found.notes),
    }
