"""Images of three spatial axes, [N, C, D, H, W]: windows that work along D and over H and W one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.imports import Expansion
from mcugen.ops.reshape import Reshape
from mcugen.ops.transpose import Transpose


def slices(e: Expansion, x: str) -> str:
    """[N, C, D, H, W] as [N*D, C, H, W]: each slice along D as an image."""
    n, c, d, h, w = e.type(x).shape
    return e.node(Reshape((n * d, c, h, w)), e.node(Transpose((0, 2, 1, 3, 4)), x))


def volumes(e: Expansion, x: str, n: int) -> str:
    """[N*D, C, H, W] as [N, C, D, H, W]."""
    rows, c, h, w = e.type(x).shape
    return e.node(Transpose((0, 2, 1, 3, 4)), e.node(Reshape((n, rows // n, c, h, w)), x))


def columns(e: Expansion, x: str) -> str:
    """[N, C, D, H, W] as [N, C, D, H*W]: an image whose rows are slices."""
    n, c, d, h, w = e.type(x).shape
    return e.node(Reshape((n, c, d, h * w)), x)


def deep(e: Expansion, x: str, size: Sequence[int]) -> str:
    """[N, C, D, H*W] as [N, C, D, H, W]; size: H and W."""
    n, c, d, _ = e.type(x).shape
    return e.node(Reshape((n, c, d, *size)), x)
