"""UNIDIRECTIONAL_SEQUENCE_LSTM and LSTM: layers on float or integer data, with their state and cell as variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcugen.errors import CorruptModelError, QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source, cleared
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _hybrid
from mcugen.ops.full_lstm import FullLstm
from mcugen.ops.hybrid_lstm import HybridLstm
from mcugen.ops.lstm import Lstm
from mcugen.ops.lstm_quantized import QuantizedLstm, litert_lacks
from mcugen.ops.projected_lstm import ProjectedLstm
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose


class Places(NamedTuple):
    """Indices of the operands of one direction; gates in the order i, f, c, o."""

    w: tuple[int, ...] = (1, 2, 3, 4)
    r: tuple[int, ...] = (5, 6, 7, 8)
    peepholes: tuple[int, ...] = (9, 10, 11)
    biases: tuple[int, ...] = (12, 13, 14, 15)
    projection: tuple[int, ...] = (16, 17)
    state: int = 18
    cell: int = 19
    norms: tuple[int, ...] = ()


_ONE = Places(norms=(20, 21, 22, 23))


def sequence(source: Source, e: Expansion) -> Sequence[str]:
    """Source: TFLite UNIDIRECTIONAL_SEQUENCE_LSTM; unidirectional_sequence_lstm.cc of both runtimes."""
    if source.attributes["diagonal_recurrent_tensors"]:
        raise UnsupportedError("an LSTM with diagonal weights is not supported")
    t, x = source.inputs[0], e.inputs[0]
    if x is None or t is None or len(t.shape) != 3:
        raise ShapeError(f"an LSTM over a sequence needs data of rank 3, not {t}")
    return [_layer(source, e, x, time_major=source.attributes["time_major"])]


def single(source: Source, e: Expansion) -> Sequence[str]:
    """One step. Source: TFLite LSTM, its full form; LiteRT's lstm.cc."""
    if source.attributes["kernel_type"] not in (0, "FULL"):
        raise UnsupportedError("LSTM with kernel_type BASIC is not supported")
    t, x = source.inputs[0], e.inputs[0]
    if x is None or t is None or len(t.shape) != 2:
        raise ShapeError(f"an LSTM of one step needs data of rank 2, not {t}")
    e.refuse("tflm", "no kernel of LSTM")
    y = _layer(source, e, e.node(Reshape((1, *t.shape)), x, quant=t.quant), time_major=True)
    return [e.node(Reshape(e.type(y).shape[1:]), y, quant=e.type(y).quant)]


def _layer(source: Source, e: Expansion, x: str, *, time_major: bool) -> str:
    """The results of all steps of data of rank 3."""
    a = source.attributes
    symmetric = not a["asymmetric_quantize_inputs"]  # only matters for float data with int8 weights
    parts = (("projection", _ONE.projection), ("layer normalization", _ONE.norms))
    present = [name for name, operands in parts if any_of(source, operands)]
    if a["fused_activation_function"] != "TANH":
        raise UnsupportedError(
            f"an LSTM with the activation {a['fused_activation_function']} is not supported, only TANH"
        )
    w, r = (source.inputs[k] for k in (2, 6))
    dtypes = (e.type(x).dtype, *("none" if t is None else t.dtype for t in (w, r)))
    if dtypes == ("f32", "f32", "f32"):
        y = float_layer(source, e, turned(e, x, time_major=time_major), _ONE)
        return turned(e, y, time_major=time_major)
    if dtypes == ("s8", "s8", "s8") and (present or any_of(source, _ONE.peepholes) or not any_of(source, _ONE.w[:1])):
        return _full(source, e, x, time_major=time_major)
    if present or a["proj_clip"]:
        raise UnsupportedError(
            f"an LSTM of {dtypes[0]} data and {dtypes[1]} weights with {' and '.join(present) or 'a bound of results'}"
            " is not supported"
        )
    if dtypes == ("f32", "s8", "s8"):
        y = hybrid_layer(source, e, turned(e, x, time_major=time_major), _ONE, symmetric=symmetric)
        return turned(e, y, time_major=time_major)
    if dtypes in (("s8", "s8", "s8"), ("s16", "s8", "s8")):
        return _quantized(source, e, x, time_major=time_major)
    raise UnsupportedError(f"an LSTM of {dtypes[0]} data with {dtypes[1]} and {dtypes[2]} weights is not supported")


def any_of(source: Source, operands: Sequence[int]) -> bool:
    return any(k < len(source.inputs) and source.inputs[k] is not None for k in operands)


def _state(source: Source, e: Expansion, k: int, *, is_cell: bool = False) -> tuple[str, TensorType]:
    """A variable operand: its name and type."""
    t, variable = source.inputs[k], e.variables[k]
    if t is None or variable is None:
        raise UnsupportedError(f"operand {k} of an LSTM, its {'cell' if is_cell else 'state'}, is not a variable")
    return variable, t


def _joined(source: Source, e: Expansion, operands: Sequence[int]) -> str:
    """Constant operands of the gates joined along their first axis."""
    types, arrays = [source.inputs[k] for k in operands], [source.constant(k) for k in operands]
    known = [(t, a) for t, a in zip(types, arrays, strict=True) if t is not None and a is not None]
    if len(known) < len(operands):
        raise UnsupportedError(f"one of the operands {list(operands)} of an LSTM is not a constant")
    if len({(t.shape[1:], t.dtype) for t, _ in known}) > 1 or not known[0][0].shape:
        raise CorruptModelError(f"operands {list(operands)} of an LSTM do not fit each other")
    quants = [t.quant for t, _ in known if t.quant is not None]
    quant = None
    if len(quants) == len(known) and known[0][0].dtype in ("s8", "s16"):
        scales = tuple(q.scale[0] for (t, _), q in zip(known, quants, strict=True) for _ in range(t.shape[0]))
        if any(q.per_channel or any(q.zero_point) for q in quants):
            raise UnsupportedError("weights of an LSTM with several scales or with zero points are not supported")
        quant = QuantParams(scales, (0,) * len(scales))
    return e.constant(np.concatenate([array for _, array in known]), quant)


def _quantized(source: Source, e: Expansion, x: str, *, time_major: bool) -> str:
    if any_of(source, _ONE.peepholes) or not any_of(source, _ONE.w[:1]):
        raise UnsupportedError("an LSTM of int16 data with peephole weights or coupled gates is not supported")
    (state, h), (cell, c) = _state(source, e, _ONE.state), _state(source, e, _ONE.cell, is_cell=True)
    why = litert_lacks(h, c)
    if why:
        e.refuse("litert", why)
    op = QuantizedLstm(time_major, max(source.attributes["cell_clip"], 0.0))
    weights = [_joined(source, e, operands) for operands in (_ONE.w, _ONE.r, _ONE.biases)]
    before = e.read(state, cleared(h), h.quant), e.read(cell, cleared(c), c.quant)
    after, y = e.nodes(op, x, *weights, *before, quant=(c.quant, source.outputs[0].quant))
    e.write(cell, after)
    e.write(state, _last(e, y, h, time_major=time_major))
    return y


def _full(source: Source, e: Expansion, x: str, *, time_major: bool) -> str:
    """A layer with a projection, norms, peephole weights or coupled gates. Source: LiteRT lstm_eval.cc."""
    (state, h), (cell, c) = _state(source, e, _ONE.state), _state(source, e, _ONE.cell, is_cell=True)
    e.refuse("tflm", "no kernel for an LSTM with projections, norms, peephole weights or coupled gates")
    why = litert_lacks(h, c)
    if any_of(source, _ONE.peepholes) and h.shape != c.shape:
        why = "it applies peephole weights to only as many cells as there are results"
    if why:
        e.refuse("litert", why)
    coupled = not any_of(source, _ONE.w[:1])
    if coupled and any_of(source, (_ONE.r[0], _ONE.peepholes[0], _ONE.biases[0], _ONE.norms[0])):
        e.refuse("litert", "it does not allow operands of the input gate with coupled gates")
    own = (1, 2, 3) if coupled else (0, 1, 2, 3)
    weights = [_joined(source, e, [group[k] for k in own]) for group in (_ONE.w, _ONE.r, _ONE.biases)]
    peepholes = [_ONE.peepholes[k] for k in ((1, 2) if coupled else (0, 1, 2))]
    norms = [_ONE.norms[k] for k in own]
    further = [_joined(source, e, places) if any_of(source, places) else None for places in (peepholes, norms)]
    projection = [e.inputs[k] if k < len(e.inputs) else None for k in _ONE.projection]
    scales, hidden = _inner(source, h, normalized=further[1] is not None, projected=projection[0] is not None)
    clips = [max(source.attributes[name], 0.0) for name in ("cell_clip", "proj_clip")]
    op = FullLstm(scales, hidden.scale[0], hidden.zero_point[0], coupled, time_major, *clips)
    before = e.read(state, cleared(h), h.quant), e.read(cell, cleared(c), c.quant)
    after, y = e.nodes(op, x, *weights, *before, *further, *projection, quant=(c.quant, source.outputs[0].quant))
    e.write(cell, after)
    e.write(state, _last(e, y, h, time_major=time_major))
    return y


def _inner(
    source: Source, h: TensorType, *, normalized: bool, projected: bool
) -> tuple[tuple[float, ...], QuantParams]:
    """The scales of the gates' sums, 2^-12 without layer norms, and the quantization of the projection's input."""
    known = [*source.inner, *[None] * 5][:5]
    stated = [q for q in known[:4] if q is not None]
    hidden = known[4] if projected else h.quant
    if hidden is None or (normalized and len(stated) < 4):
        raise QuantizationError("an LSTM of int8 data does not state the scales of its intermediate values")
    return (tuple(q.scale[0] for q in stated) if normalized else (2.0**-12,) * 4), hidden


def _last(e: Expansion, y: str, h: TensorType, *, time_major: bool) -> str:
    """The result of the last step."""
    shape, axis = e.type(y).shape, 0 if time_major else 1
    ranges = tuple((d - 1 if k == axis else 0, 1 if k == axis else d, 1) for k, d in enumerate(shape))
    sliced = tuple(1 if k == axis else d for k, d in enumerate(shape))
    step = y if shape[axis] == 1 else e.node(StridedSlice(ranges, sliced), y, quant=e.type(y).quant)
    return e.node(Reshape(h.shape), step, quant=h.quant)


def float_layer(source: Source, e: Expansion, x: str, places: Places) -> str:
    """One direction over time-major data.

    Gates are in the order i, o, f, c, as in Lstm. With coupled gates, i has the weights of f.
    """
    coupled = not any_of(source, places.w[:1])
    if coupled or any_of(source, places.peepholes):
        e.refuse("tflm", "no kernel for an LSTM with coupled gates or peephole weights")
    w, r, b = _of_gates(source, e, places)
    clip, limit = (max(source.attributes[name], 0.0) for name in ("cell_clip", "proj_clip"))
    if not any_of(source, (*places.projection, *places.norms)):
        op: Op = Lstm(("Sigmoid", "Tanh", "Tanh"), 0.0, "input" if coupled else "", clip)
        return _stateful(source, e, op, (x, w, r, b), places)
    e.refuse("tflm", "no kernel for an LSTM with projections or norms")
    further = [e.inputs[k] if k < len(e.inputs) else None for k in places.projection]
    norms = None
    if any_of(source, places.norms):
        norms = _joined(source, e, [places.norms[k] for k in ((1, 3, 1, 2) if coupled else (0, 3, 1, 2))])
    op = ProjectedLstm(coupled, clip, limit)
    return _stateful(source, e, op, (x, w, r, b), places, (*further, norms))


def hybrid_layer(source: Source, e: Expansion, x: str, places: Places, *, symmetric: bool) -> str:
    """A float layer with int8 weights that quantizes the data of each step. Source: lstm_eval.cc, EvalHybrid."""
    steps, batches = e.type(x).shape[:2]
    types = [source.inputs[k] for k in places.peepholes if any_of(source, (k,))]
    if any(t is not None and t.dtype != "s8" for t in types):
        e.refuse("litert", "its peephole weights must be int8 like the other weights")
    op = HybridLstm(not any_of(source, places.w[:1]), max(source.attributes["cell_clip"], 0.0), symmetric)
    found = _hybrid.quantized(source, e, x, steps * batches, symmetric=symmetric)
    return _stateful(source, e, op, (*found, *_of_gates(source, e, places)), places)


def _of_gates(source: Source, e: Expansion, places: Places) -> list[str]:
    """[weights of the data, weights of the state, biases], each joined over all gates."""
    order = (0, 3, 1, 2) if any_of(source, places.w[:1]) else (1, 3, 1, 2)
    return [_joined(source, e, [group[k] for k in order]) for group in (places.w, places.r, places.biases)]


def _stateful(
    source: Source,
    e: Expansion,
    op: Op,
    operands: Sequence[str],
    places: Places,
    further: Sequence[str | None] = (),
) -> str:
    """The results of a layer on its operands, its state and its cell, which it updates.

    further: operands after the peephole weights
    """
    peepholes: list[str | None] = [None] if further else []
    if any_of(source, places.peepholes):
        order = (0, 2, 1) if any_of(source, places.w[:1]) else (1, 2, 1)
        found = _joined(source, e, [places.peepholes[k] for k in order])
        peepholes = [found if e.type(found).is_float else _in_floats(e, found)]
    (state, h), (cell, c) = _state(source, e, places.state), _state(source, e, places.cell, is_cell=True)
    y, last, kept = e.nodes(op, *operands, e.read(state, cleared(h)), e.read(cell, cleared(c)), *peepholes, *further)
    e.write(state, last)
    e.write(cell, kept)
    return y


def _in_floats(e: Expansion, name: str) -> str:
    """Constant quantized peephole weights as floats."""
    data, quant = e.data(name), e.type(name).quant
    if data is None or quant is None:
        raise UnsupportedError("peephole weights of an LSTM have no scale")
    return e.constant(data.astype(np.float32) * np.array(quant.scale, np.float32))


def turned(e: Expansion, value: str, *, time_major: bool) -> str:
    """Data [batches, steps, ...] as [steps, batches, ...], or back; unchanged if `time_major`."""
    return value if time_major else e.node(Transpose((1, 0, 2)), value)


IMPORTS = (
    Import("tflite", "UNIDIRECTIONAL_SEQUENCE_LSTM", expand=sequence),
    Import("tflite", "LSTM", expand=single),
)
