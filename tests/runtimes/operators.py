# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models: every operator that mcugen imports, in every element type that it claims."""

from __future__ import annotations

from mcugen.ir.types import dtypes
from tests.runtimes import calling, choosing, computing, further, moving, recurrent, weighing
from tests.runtimes.sketch import Drawn, Sketch

OPERATORS = computing.OPERATORS | moving.OPERATORS | weighing.OPERATORS | recurrent.OPERATORS | calling.OPERATORS
OPERATORS |= choosing.OPERATORS | further.OPERATORS
MORE = {
    "f16": dtypes(
        "ADD BATCH_TO_SPACE_ND BROADCAST_TO CONCATENATION COS DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP EQUAL "
        "EXPAND_DIMS FILL FLOOR GATHER GATHER_ND GELU GREATER GREATER_EQUAL IF LESS LESS_EQUAL LOGISTIC MAXIMUM "
        "MINIMUM MIRROR_PAD MUL NEG NOT_EQUAL PAD PADV2 READ_VARIABLE RESHAPE RESIZE_NEAREST_NEIGHBOR REVERSE_V2 "
        "ROUND SELECT SELECT_V2 SHAPE SIN SLICE SOFTMAX SPACE_TO_BATCH_ND SQUEEZE STRIDED_SLICE TANH TILE "
        "TRANSPOSE UNPACK WHILE CAST"
    ),
    "u32": dtypes(
        "RESHAPE SQUEEZE EXPAND_DIMS SHAPE BROADCAST_TO CONCATENATION SLICE STRIDED_SLICE TILE TRANSPOSE PACK FILL "
        "DYNAMIC_UPDATE_SLICE RESIZE_NEAREST_NEIGHBOR EMBEDDING_LOOKUP SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND MIRROR_PAD"
    ),
    "bool": dtypes("ARG_MAX ARG_MIN REDUCE_MAX REDUCE_MIN REDUCE_PROD SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND"),
    "u8": dtypes("GELU EMBEDDING_LOOKUP"),
}
"""Operators that LiteRT computes in further element types."""
OPERATORS = {
    name: ((*types, *(more for more, names in MORE.items() if name in names)), draw)
    for name, (types, draw) in OPERATORS.items()
}
KINDS = tuple((name, dtype) for name, (dtypes, _) in sorted(OPERATORS.items()) for dtype in dtypes)
"""Every (operator, element type)."""


def draw(name: str, dtype: str, seed: int) -> Drawn:
    """The model of this seed: always the same."""
    sketch = Sketch(f"{name} {dtype} {seed}", dtype)
    OPERATORS[name][1](sketch)
    return sketch.drawn()
