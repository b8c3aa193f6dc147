"""Operators of .tflite whose result is their operand, only stored or named differently."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError
from mcugen.ir.imports import Expansion, Import, Source


def _same(source: Source, e: Expansion) -> Sequence[str]:
    """The operand. Sparse constants were expanded when the file was read. Source: TFLite DENSIFY."""
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    e.refuse("tflm", "no such operator")
    return [e.inputs[0]]


def _widened(source: Source, e: Expansion) -> Sequence[str]:
    """The operand: float16 data of the file is imported as float32. Source: TFLite DEQUANTIZE."""
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    return [e.inputs[0]]


def _has_halves(source: Source) -> bool:
    return source.halves


IMPORTS = (
    Import("tflite", "DENSIFY", expand=_same),
    Import("tflite", "DEQUANTIZE", expand=_widened, when=_has_halves, halves=True),
)
