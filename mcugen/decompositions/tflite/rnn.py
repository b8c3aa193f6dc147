"""UNIDIRECTIONAL_SEQUENCE_RNN and RNN: plain recurrent layers on float data, with their state as a variable."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.imports import Expansion, Import, Source, cleared
from mcugen.ops.reshape import Reshape
from mcugen.ops.rnn import Rnn
from mcugen.ops.transpose import Transpose

_ACTIVATIONS = {"TANH": "Tanh", "RELU": "Relu"}
_STATE = 4
"""Operands are (data, weights of the data, weights of the state, bias, state)."""


def sequence(source: Source, e: Expansion) -> Sequence[str]:
    """Source: TFLite UNIDIRECTIONAL_SEQUENCE_RNN; LiteRT's unidirectional_sequence_rnn.cc."""
    t, x = source.inputs[0], e.inputs[0]
    if x is None or t is None or len(t.shape) != 3:
        raise ShapeError(f"a recurrent layer over a sequence needs data of rank 3, not {t}")
    if source.attributes["time_major"]:
        return [_layer(source, e, x)]
    return [e.node(Transpose((1, 0, 2)), _layer(source, e, e.node(Transpose((1, 0, 2)), x)))]


def single(source: Source, e: Expansion) -> Sequence[str]:
    """One step. Source: TFLite RNN; LiteRT's basic_rnn.cc."""
    t, x = source.inputs[0], e.inputs[0]
    if x is None or t is None or len(t.shape) != 2:
        raise ShapeError(f"a recurrent layer of one step needs data of rank 2, not {t}")
    y = _layer(source, e, e.node(Reshape((1, *t.shape)), x))
    return [e.node(Reshape(e.type(y).shape[1:]), y)]


def _layer(source: Source, e: Expansion, x: str) -> str:
    """The results of all steps [T, B, H] of data [T, B, I]."""
    a, state = source.attributes, source.inputs[_STATE]
    a["asymmetric_quantize_inputs"]  # only matters for float data with int8 weights, which is refused
    kind = _ACTIVATIONS.get(a["fused_activation_function"])
    if kind is None:
        raise UnsupportedError(f"a recurrent layer with {a['fused_activation_function']} is not supported")
    variable = e.variables[_STATE]
    if state is None or variable is None:
        raise UnsupportedError("the state of a recurrent layer is no variable")
    e.refuse("tflm", "no kernel of plain recurrent layers")
    y, last = e.nodes(Rnn(kind), x, *e.inputs[1:4], e.read(variable, cleared(state)))
    e.write(variable, last)
    return y


IMPORTS = (
    Import("tflite", "UNIDIRECTIONAL_SEQUENCE_RNN", expand=sequence),
    Import("tflite", "RNN", expand=single),
)
