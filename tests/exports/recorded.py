# SPDX-License-Identifier: Apache-2.0
"""Builds with exports, and the text that a program prints which runs the recorded input."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

import mcugen
from mcugen.emit import selftest
from mcugen.pipeline import Artifact

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
MODELS = ROOT / "tests" / "models"


@functools.cache
def compiled(export: tuple[str, ...], model: Path = DIGITS, board: str = "host", **options: str | bool) -> Artifact:
    return mcugen.compile(model, board=board, export=export, selftest=True, no_report=True, **options)


def build(folder: Path, *export: str, model: Path = DIGITS, board: str = "host", **options: str | bool) -> Artifact:
    """A build written to a folder, with a recorded input."""
    made = compiled(export, model, board, **options)
    made.write(folder)
    return made


def printed(made: Artifact) -> list[tuple[str, float]]:
    """The output of an example for the recorded outputs: names with their index, and real values."""
    found: list[tuple[str, float]] = []
    arrays = {a.symbol: "".join(a.text) for a in selftest.arrays(made.imported, made.view)[0]}
    for k, end in enumerate(made.view.outputs):
        texts = [text.strip().rstrip("fu") for text in arrays[f"selftest_out{k}"].split(",") if text.strip()]
        stored = np.array(texts[-end.length :], np.float32)
        shown_real = end.scale and end.is_narrow
        scale, zero = (np.float32(end.scale.rstrip("f")), end.zero) if shown_real else (np.float32(1), 0)
        found += [(f"{end.function}[{i}]", float(v)) for i, v in enumerate(scale * (stored - np.float32(zero)))]
    return found


def same(text: bytes | str, made: Artifact, near: float = 1e-5) -> bool:
    """Whether a program printed these outputs, among whatever else it printed; integers to the last digit printed."""
    lines = (text.decode() if isinstance(text, bytes) else text).splitlines()
    mine = [(*line.strip().split(" = "), "")[:2] for line in lines if "_output" in line and "] = " in line]
    expected = printed(made)
    names = [name for name, _ in expected]
    if [name for name, _ in mine] != names:
        return False
    values = zip(mine, expected, strict=True)
    return all(abs(float(got[1]) - value) <= near * max(1, abs(value)) for got, (_, value) in values)
