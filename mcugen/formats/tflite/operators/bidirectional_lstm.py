"""BIDIRECTIONAL_SEQUENCE_LSTM: a forward and a backward layer on float data, each with its own variables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.tflite.operators.lstm_layers import Places, any_of, float_layer, hybrid_layer, turned
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.reverse import Reverse

_FORWARD = Places(state=35, cell=36)
_BACKWARD = Places((18, 19, 20, 21), (22, 23, 24, 25), (26, 27, 28), (29, 30, 31, 32), (33, 34), state=37, cell=38)
_AUXILIARY = tuple(range(39, 48))


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """Source: TFLite BIDIRECTIONAL_SEQUENCE_LSTM; LiteRT's bidirectional_sequence_lstm.cc."""
    a, t, x = source.attributes, source.inputs[0], e.inputs[0]
    symmetric = not a["asymmetric_quantize_inputs"]  # only matters for float data with int8 weights
    if x is None or t is None or len(t.shape) != 3:
        raise ShapeError(f"an LSTM over a sequence needs data of rank 3, not {t}")
    parts = (("projection", (*_FORWARD.projection, *_BACKWARD.projection)), ("an auxiliary input", _AUXILIARY))
    present = [name for name, operands in parts if any_of(source, operands)]
    if present or a["proj_clip"]:
        raise UnsupportedError(f"an LSTM with {' and '.join(present) or 'a bound of a projection'} is not supported")
    if a["fused_activation_function"] != "TANH":
        raise UnsupportedError(
            f"an LSTM with the activation {a['fused_activation_function']} is not supported, only TANH"
        )
    weights = {types.dtype for k in (2, 6, 19, 23) for types in [source.inputs[k]] if types is not None}
    if t.dtype != "f32" or weights not in ({"f32"}, {"s8"}):
        raise UnsupportedError(
            f"a bidirectional LSTM of {t.dtype} data with {sorted(weights)} weights is not supported"
        )
    e.refuse("tflm", "no kernel of BIDIRECTIONAL_SEQUENCE_LSTM")
    if a["merge_outputs"] and not a["time_major"] and t.shape[0] > 1:
        e.refuse("litert", "it leaves parts of the merged results of several sequences unwritten")
    x = turned(e, x, time_major=a["time_major"])
    layer = float_layer if weights == {"f32"} else partial(hybrid_layer, symmetric=symmetric)
    onward = layer(source, e, x, _FORWARD)
    back = e.node(Reverse((0,)), layer(source, e, e.node(Reverse((0,)), x), _BACKWARD))
    found = [e.node(Concatenation(-1), onward, back)] if a["merge_outputs"] else [onward, back]
    return [turned(e, y, time_major=a["time_major"]) for y in found]


IMPORTS = (Import("tflite", "BIDIRECTIONAL_SEQUENCE_LSTM", expand=expand),)
