"""Operators of .tflite whose result is their operand, in another form of storage or by another name."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError
from mcugen.imports import Expansion, Import, Source


def _same(source: Source, e: Expansion) -> Sequence[str]:
    """The operand. Sparse constants were expanded when the file was read. Source: TFLite DENSIFY."""
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("there is no operand")
    e.refuse("tflm", "no such operator")
    return [e.inputs[0]]


IMPORTS = (Import("tflite", "DENSIFY", expand=_same),)
