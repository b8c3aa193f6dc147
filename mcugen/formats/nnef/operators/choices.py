"""NNEF operations on truth values: comparisons, logic, select and sign."""

from __future__ import annotations

from functools import partial

import numpy as np

from mcugen.errors import ShapeError
from mcugen.formats.nnef.operators._layer import Names, Quant, imported, layer, met
from mcugen.ir.imports import Expansion, Source
from mcugen.ir.op import Op
from mcugen.ir.types import Shape
from mcugen.ops.broadcast_to import BroadcastTo
from mcugen.ops.cast import Cast
from mcugen.ops.compare import Compare
from mcugen.ops.float_functions import Sign
from mcugen.ops.logical import Logical
from mcugen.ops.select import Select


def binary(op: Op, source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(op, *met(e, _alike(e, names)))


def _alike(e: Expansion, names: Names) -> Names:
    """The operands, converted to one type: integers become floats if any operand is float."""
    if len({e.type(name).dtype for name in names} - {"bool"}) < 2:
        return names
    return [name if e.type(name).dtype in ("f32", "bool") else e.node(Cast("f32"), name) for name in names]


def negation(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(Logical("xor"), names[0], e.constant(np.array(True)))


def select(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """condition ? a : b, element by element, for operands condition, a, b. Source: NNEF 4.2.4."""
    chosen, *values = met(e, names)
    values = _alike(e, values)
    try:
        shape = np.broadcast_shapes(*(e.type(name).shape for name in (chosen, *values)))
    except ValueError as error:
        raise ShapeError("the operands of select cannot be broadcast together") from error
    return e.node(Select(), *(_whole(e, name, shape) for name in (chosen, *values)))


def _whole(e: Expansion, name: str, shape: Shape) -> str:
    data = e.data(name)
    is_number = data is not None and data.size == 1
    return name if is_number or e.type(name).shape == shape else e.node(BroadcastTo(shape), name)


def sign(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(Sign(), names[0])


_COMPARED = (
    ("lt", "LESS"),
    ("le", "LESS_EQUAL"),
    ("gt", "GREATER"),
    ("ge", "GREATER_EQUAL"),
    ("eq", "EQUAL"),
    ("ne", "NOT_EQUAL"),
)
IMPORTS = (
    *(imported(name, layer(partial(binary, Compare(kind)))) for name, kind in _COMPARED),
    *(imported(name, layer(partial(binary, Logical(name)))) for name in ("and", "or")),
    imported("not", layer(negation)),
    imported("select", layer(select)),
    imported("sign", layer(sign)),
)
