"""Images with three spatial axes, [N, C, D, H, W]: a window over H and W is applied first, then a window along D."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError
from mcugen.ir.imports import Attributes, Expansion
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


def part(a: Attributes, axes: Sequence[int]) -> Attributes:
    """The attributes of a window for one or two of its three axes; with one axis, a second of size 1 is added."""
    fill = (1,) * (2 - len(axes))
    found = {name: a.get(name) for name in ("auto_pad", "ceil_mode", "group")}
    for name in ("strides", "dilations"):
        given = a.get(name)
        if given is not None and len(given) != 3:
            raise ShapeError(f"{name} {list(given)} do not fit 3 spatial axes")
        found[name] = None if given is None else (*(given[k] for k in axes), *fill)
    pads, none = a.get("pads"), (0,) * len(fill)
    if pads is not None:
        if len(pads) != 6:
            raise ShapeError(f"pads {list(pads)} do not fit 3 spatial axes")
        found["pads"] = (*(pads[k] for k in axes), *none, *(pads[k + 3] for k in axes), *none)
    return Attributes({}, found)
