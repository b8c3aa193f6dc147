"""Simple recurrent layers (RNN) on float data, in one direction or both, with their states as variables."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source, cleared
from mcugen.ops import _hybrid
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.hybrid_rnn import HybridRnn
from mcugen.ops.reshape import Reshape
from mcugen.ops.reverse import Reverse
from mcugen.ops.rnn import Rnn
from mcugen.ops.transpose import Transpose

_ACTIVATIONS = {"TANH": "Tanh", "RELU": "Relu"}
_FORWARD, _BACKWARD = 1, 5
"""Index of a direction's first operand. Its operands: weights of the data, weights of the state, bias, state."""
_AUXILIARY = range(9, 12)


def sequence(source: Source, e: Expansion) -> Sequence[str]:
    """All steps of a recurrent layer. Source: TFLite UNIDIRECTIONAL_SEQUENCE_RNN; unidirectional_sequence_rnn.cc."""
    x, time_major = _steps(source, e), source.attributes["time_major"]
    return [_turned(e, _layer(source, e, _turned(e, x, time_major=time_major), _FORWARD), time_major=time_major)]


def single(source: Source, e: Expansion) -> Sequence[str]:
    """One step of a recurrent layer. Source: TFLite RNN; LiteRT's basic_rnn.cc."""
    t, x = source.inputs[0], e.inputs[0]
    if x is None or t is None or len(t.shape) != 2:
        raise ShapeError(f"a recurrent layer of one step needs data of rank 2, not {t}")
    y = _layer(source, e, e.node(Reshape((1, *t.shape)), x), _FORWARD)
    return [e.node(Reshape(e.type(y).shape[1:]), y)]


def bidirectional(source: Source, e: Expansion) -> Sequence[str]:
    """A forward and a backward layer. Source: TFLite BIDIRECTIONAL_SEQUENCE_RNN; bidirectional_sequence_rnn.cc."""
    a, x = source.attributes, _steps(source, e)
    if any(k < len(source.inputs) and source.inputs[k] is not None for k in _AUXILIARY):
        raise UnsupportedError("a recurrent layer with an auxiliary input is not supported")
    weights = source.inputs[_FORWARD]
    if a["time_major"] and e.type(x).shape[0] > 1 and weights is not None and weights.dtype == "s8":
        e.refuse("litert", "it runs the layer backward once for each step, from the state that the last run left")
    x = _turned(e, x, time_major=a["time_major"])
    onward = _layer(source, e, x, _FORWARD)
    back = e.node(Reverse((0,)), _layer(source, e, e.node(Reverse((0,)), x), _BACKWARD))
    found = [e.node(Concatenation(-1), onward, back)] if a["merge_outputs"] else [onward, back]
    return [_turned(e, y, time_major=a["time_major"]) for y in found]


def _steps(source: Source, e: Expansion) -> str:
    """The data, checked to have rank 3."""
    t, x = source.inputs[0], e.inputs[0]
    if x is None or t is None or len(t.shape) != 3:
        raise ShapeError(f"a recurrent layer over a sequence needs data of rank 3, not {t}")
    return x


def _turned(e: Expansion, value: str, *, time_major: bool) -> str:
    """Data [batches, steps, ...] as [steps, batches, ...], or back; unchanged if `time_major`."""
    return value if time_major else e.node(Transpose((1, 0, 2)), value)


def _layer(source: Source, e: Expansion, x: str, first: int) -> str:
    """The results of all steps [T, B, H] of data [T, B, I]. first: the first operand of the direction."""
    a, at = source.attributes, first + 3
    symmetric = not a["asymmetric_quantize_inputs"]  # only matters for float data with int8 weights
    kind = _ACTIVATIONS.get(a["fused_activation_function"])
    if kind is None:
        raise UnsupportedError(f"a recurrent layer with {a['fused_activation_function']} is not supported")
    operands = [e.inputs[k] if k < len(e.inputs) else None for k in range(first, at)]
    state = source.inputs[at] if at < len(source.inputs) else None
    variable = e.variables[at] if at < len(e.variables) else None
    if state is None or variable is None:
        raise UnsupportedError("the state of a recurrent layer is not a variable")
    e.refuse("tflm", "no kernel of plain recurrent layers")
    steps, batches = e.type(x).shape[:2]
    w, before = source.inputs[first], e.read(variable, cleared(state))
    if e.type(x).dtype == "f32" and w is not None and w.dtype == "s8":
        data = _hybrid.quantized(source, e, x, steps * batches, symmetric=symmetric)
        y, last = e.nodes(HybridRnn(kind, symmetric), *data, *operands, before)
    else:
        y, last = e.nodes(Rnn(kind), x, *operands, before)
    e.write(variable, last)
    return y


IMPORTS = (
    Import("tflite", "UNIDIRECTIONAL_SEQUENCE_RNN", expand=sequence),
    Import("tflite", "RNN", expand=single),
    Import("tflite", "BIDIRECTIONAL_SEQUENCE_RNN", expand=bidirectional),
)
