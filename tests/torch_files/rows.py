# SPDX-License-Identifier: Apache-2.0
"""The layers of layers.txt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EXPORTERS = ("torchscript", "dynamo")


@dataclass(frozen=True)
class Row:
    """number: from 1. layer: its Python. inputs: the kind and the shape of each, see layers.txt."""

    number: int
    layer: str
    inputs: tuple[tuple[str, tuple[int, ...]], ...]


def rows(texts: Sequence[str] = ()) -> tuple[Row, ...]:
    """The rows whose text contains one of the texts, or all of them."""
    lines = (Path(__file__).parent / "layers.txt").read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line and not line.startswith("#")]
    every = (Row(k, *_parts(line)) for k, line in enumerate(found, 1))
    return tuple(row for row in every if not texts or any(text in row.layer for text in texts))


def _parts(line: str) -> tuple[str, tuple[tuple[str, tuple[int, ...]], ...]]:
    layer, _, inputs = line.rpartition(" | ")
    found = []
    for text in inputs.split(";"):
        kind, _, dims = text.strip().rpartition(":")
        found.append((kind or "f", tuple(int(d) for d in dims.split(","))))
    return layer, tuple(found)
