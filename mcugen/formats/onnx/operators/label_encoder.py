"""ZipMap, ArrayFeatureExtractor and LabelEncoder: operators on scores and labels of classical models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.compare import Compare
from mcugen.ops.gather import Gather
from mcugen.ops.reshape import Reshape
from mcugen.ops.select import Select

MAX_KEYS = 1 << 16
MAX_TABLE = 1 << 12
"""Integer keys from 0 to below this become indices of a table."""

MAX_COMPARED = 64
"""Most keys that are compared one by one."""

Value = int | float | str


def zip_map(source: Source, e: Expansion) -> Sequence[str]:
    """The scores unchanged: an array in the order of the classes, instead of ONNX's map. Source: ZipMap-1."""
    source.attributes.ignore("classlabels_int64s", "classlabels_strings")
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    return [e.inputs[0]]


def extractor(source: Source, e: Expansion) -> Sequence[str]:
    """Elements of the last axis. Source: ONNX ai.onnx.ml ArrayFeatureExtractor-1; array_feature_extractor.cc."""
    if len(e.inputs) != 2 or None in e.inputs:
        raise ShapeError("ArrayFeatureExtractor needs two operands")
    x, index = str(e.inputs[0]), str(e.inputs[1])
    shape, count = e.type(x).shape, e.type(index).size
    if not shape or not count:
        raise ShapeError(f"{count} indices cannot select from data of shape {list(shape)}")
    wanted = e.data(index)
    if wanted is not None and not 0 <= wanted.min() <= wanted.max() < shape[-1]:
        raise CorruptModelError(f"an index is outside of the last axis, which has {shape[-1]} elements")
    flat = e.node(Reshape((count,)), index) if e.type(index).shape != (count,) else index
    y = _looked_up(e, x, flat)
    return [e.node(Reshape((1, count)), y) if len(shape) == 1 else y]


def _looked_up(e: Expansion, x: str, index: str) -> str:
    """x[..., index]. If x is the constant 0, 1, 2, ..., this is the index, and no operator is needed."""
    data, t = e.data(x), e.type(x)
    own = data is not None and t.dtype == "s64" and np.array_equal(data.reshape(-1), np.arange(t.size))
    if own and e.type(index).dtype == "s64" and t.size == t.shape[-1]:
        found = e.node(Reshape((*t.shape[:-1], -1)), index)
        return e.text(found, e.texts(x)) if e.texts(x) else found
    return e.node(Gather(len(t.shape) - 1), x, index)


def encoder(meets_nan: bool, source: Source, e: Expansion) -> Sequence[str]:
    """A value for each key, or the default one. Source: ONNX ai.onnx.ml LabelEncoder-4; label_encoder.h.

    meets_nan: whether a key NaN matches NaN, as it does from version 4 on.
    """
    a = source.attributes
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    x = e.inputs[0]
    keys, values = _list(a, "keys"), _list(a, "values")
    if not keys or len(keys) != len(values) or len(keys) > MAX_KEYS:
        raise CorruptModelError(f"LabelEncoder has {len(keys)} keys, but {len(values)} values")
    known = dict(reversed(list(zip(keys, values, strict=True))))
    known = {key: value for key, value in known.items() if meets_nan or key == key}
    other = _default(a, values[0])
    if e.texts(x):
        return [_mapped(e, x, [known.get(text, other) for text in e.texts(x)])]
    if isinstance(keys[0], str):
        raise UnsupportedError("labels that are read as text are not supported", hint="number them before the model")
    return [_compared(e, x, known, other)]


def _compared(e: Expansion, x: str, known: Mapping[Value, Value], other: Value) -> str:
    """Values for numbers: by a table if all keys are small integers, else by a comparison with each key."""
    t = e.type(x)
    keys = [key for key in known if not isinstance(key, str)]
    if t.dtype != "f32" and t.dtype not in ("s32", "s64"):
        raise UnsupportedError(f"keys for {t.dtype} data are not supported")
    if t.dtype != "f32" and all(key == int(key) and 0 <= key < MAX_TABLE for key in keys):
        size = int(max(keys)) + 1
        # Keys below and above the table give the default.
        table = [other, *(known.get(k, other) for k in range(size)), other]
        return _mapped(e, _within(e, x, size), table)
    if len(keys) > MAX_COMPARED:
        raise UnsupportedError(
            f"{len(keys)} keys are not supported: at most {MAX_COMPARED}, or integers below {MAX_TABLE}"
        )
    place = e.constant(np.full(t.shape, len(keys), np.int64))
    for k, key in enumerate(keys):
        wanted = e.constant(np.array(key, t.np_dtype))
        both = key != key
        same = e.node(Compare("NOT_EQUAL" if both else "EQUAL"), x, x if both else wanted)
        place = e.node(Select(), same, e.constant(np.array(k, np.int64)), place)
    return _mapped(e, place, [*(known[key] for key in keys), other])


def _within(e: Expansion, x: str, size: int) -> str:
    """Index of each key into a table: 0 for keys below 0, key + 1 for keys below `size`, size + 1 for larger keys."""
    dtype = e.type(x).np_dtype
    one, least, most = (e.constant(np.array(v, dtype)) for v in (1, -1, size))
    low = e.node(Select(), e.node(Compare("LESS"), x, least), least, x)
    high = e.node(Select(), e.node(Compare("GREATER"), low, most), most, low)
    return e.node(Arithmetic("add"), high, one)


def _mapped(e: Expansion, x: str, values: list[Value]) -> str:
    """values[x]; values that are strings are stored as indices."""
    if isinstance(values[0], str):
        table = e.constant(np.array(values, object))
    else:
        table = e.constant(np.array(values, np.int64 if isinstance(values[0], int) else np.float32))
    found = e.node(Gather(0), table, x)
    return e.text(found, e.texts(table)) if e.texts(table) else found


def _list(a: Attributes, name: str) -> list[Value]:
    """The attribute `name`_int64s, _floats, _strings or _tensor, whichever the file has, as a list; [] without any."""
    for kind in ("int64s", "floats", "strings", "tensor"):
        given = a.get(f"{name}_{kind}")
        if given is not None and len(given):
            found = np.asarray(given, object).reshape(-1).tolist()
            return [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in found]
    return []


def _default(a: Attributes, like: Value) -> Value:
    """The value for keys that are not listed, converted to the type of `like`."""
    tensor = a.get("default_tensor")
    texts, whole, real = a.get("default_string", "_Unused"), a.get("default_int64", -1), a.get("default_float", -0.0)
    if tensor is not None and np.asarray(tensor).size == 1:
        texts = whole = real = np.asarray(tensor).reshape(-1)[0]
    return str(texts) if isinstance(like, str) else int(whole) if isinstance(like, int) else float(real)


IMPORTS = (
    Import("onnx", "ai.onnx.ml:ZipMap", expand=zip_map),
    Import("onnx", "ai.onnx.ml:ArrayFeatureExtractor", expand=extractor),
    Import("onnx", "ai.onnx.ml:LabelEncoder", since=2, until=3, expand=partial(encoder, False)),
    Import("onnx", "ai.onnx.ml:LabelEncoder", since=4, expand=partial(encoder, True)),
)
