# SPDX-License-Identifier: Apache-2.0
"""Recorded answers of the runtimes: `tests/vectors/NAME.npz` holds many small models, their inputs and their outputs.

A file has two arrays: "facts", a JSON text that lists the models, and "bytes", all models and data one after another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.machines.toolchain.runtimes import Answer

FOLDER = Path(__file__).resolve().parents[1] / "vectors"
REFERENCES = ("litert", "tflm")
_REASON = 120  # characters of a runtime's complaint that are kept


@dataclass(frozen=True, eq=False)
class Recorded:
    """A model, its input sets, and what each runtime made of it: outputs per input set, or why it refuses."""

    label: str
    model: bytes
    sets: list[list[np.ndarray]]
    answers: Mapping[str, Answer]


def save(path: Path, cases: Sequence[Recorded], versions: Sequence[str]) -> None:
    """Write a file. Outputs of TFLM that are LiteRT's in every bit are written once."""
    blob, listed = bytearray(), []
    for case in cases:
        blob += case.model
        facts: dict[str, Any] = {"label": case.label, "model": len(case.model), "inputs": _add(blob, case.sets)}
        for which in REFERENCES:
            answer = case.answers[which]
            if answer.refused:
                facts[which] = answer.refused[:_REASON]
            elif which == "tflm" and _same(answer.outputs, case.answers["litert"].outputs):
                facts[which] = True
            else:
                facts[which] = _add(blob, answer.outputs)
        listed.append(facts)
    text = json.dumps({"runtimes": list(versions), "cases": listed}, separators=(",", ":"))
    facts_array = np.frombuffer(text.encode(), np.uint8)
    np.savez_compressed(path, facts=facts_array, bytes=np.frombuffer(bytes(blob), np.uint8))


def _add(blob: bytearray, sets: Sequence[Sequence[np.ndarray]]) -> list[list[list[Any]]]:
    """Append arrays to the bytes; their types and shapes."""
    for array in (a for arrays in sets for a in arrays):
        blob += np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    return [[[a.dtype.name, list(a.shape)] for a in arrays] for arrays in sets]


def _same(a: Sequence[Sequence[np.ndarray]], b: Sequence[Sequence[np.ndarray]]) -> bool:
    def flat(sets: Sequence[Sequence[np.ndarray]]) -> list[Any]:
        return [(x.dtype, x.shape, x.tobytes()) for arrays in sets for x in arrays]

    return bool(b) and flat(a) == flat(b)


def load(path: Path) -> tuple[list[Recorded], list[str]]:
    """(cases, versions of the runtimes that answered)."""
    with np.load(path, allow_pickle=False) as file:
        facts, blob = json.loads(file["facts"].tobytes()), file["bytes"].tobytes()
    reader = _Reader(blob)
    return [_case(entry, reader) for entry in facts["cases"]], facts["runtimes"]


class _Reader:
    def __init__(self, blob: bytes) -> None:
        self._blob, self._at = blob, 0

    def take(self, count: int) -> bytes:
        self._at += count
        return self._blob[self._at - count : self._at]

    def arrays(self, sets: Sequence[Sequence[Any]]) -> list[list[np.ndarray]]:
        return [[self._array(np.dtype(name), shape) for name, shape in entries] for entries in sets]

    def _array(self, dtype: np.dtype, shape: Sequence[int]) -> np.ndarray:
        raw = self.take(dtype.itemsize * math.prod(shape))
        return np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


def _case(entry: Mapping[str, Any], reader: _Reader) -> Recorded:
    model, sets = reader.take(entry["model"]), reader.arrays(entry["inputs"])
    answers: dict[str, Answer] = {}
    for which in REFERENCES:
        said = entry[which]
        if isinstance(said, str):
            answers[which] = Answer(refused=said)
        else:
            answers[which] = answers["litert"] if said is True else Answer(reader.arrays(said))
    return Recorded(entry["label"], model, sets, answers)
