"""Element-wise operators of ONNX: Arithmetic for integers without a scale, Logical for booleans, others for floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.op import Op
from mcugen.ir.types import NUMPY_DTYPES, TensorType
from mcugen.ops.abs import Abs
from mcugen.ops.add import Add
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.cast import Cast
from mcugen.ops.compare import Compare
from mcugen.ops.div import Div
from mcugen.ops.float_functions import Elu, Sign
from mcugen.ops.logical import Logical
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.neg import Neg
from mcugen.ops.relu import Relu
from mcugen.ops.sub import Sub


def is_plain(t: TensorType) -> bool:
    """Whether a tensor has integers without a scale."""
    return not t.is_float and t.quant is None and t.dtype != "bool"


def binary(op: Op, kind: str, source: Source, e: Expansion) -> Sequence[str]:
    """A function of two tensors. Source: ONNX Add-14, Sub-14, Mul-14, Div-14."""
    a, b = operands(e, 2)
    return [join(e, op, kind, a, b)]


def join(e: Expansion, op: Op, kind: str, a: str, b: str) -> str:
    """`op` of two tensors, or Arithmetic of this kind if both are integers without a scale."""
    plain = is_plain(e.type(a)) and is_plain(e.type(b))
    return e.node(Arithmetic(kind) if plain else op, a, b)


def chain(op: Op, kind: str, source: Source, e: Expansion) -> Sequence[str]:
    """A function of two tensors applied to all operands from left to right. Source: ONNX Sum-13, Max-13, Min-13."""
    first, *rest = operands(e, len(e.inputs))
    for other in rest:
        first = join(e, op, kind, first, other)
    return [first]


def mean(source: Source, e: Expansion) -> Sequence[str]:
    """The mean of tensors, element by element. Source: ONNX Mean-13."""
    total = chain(Add(), "add", source, e)[0]
    return [e.node(Mul(), total, e.constant(np.array(1.0 / len(e.inputs), np.float32)))]


def negative(source: Source, e: Expansion) -> Sequence[str]:
    """-x; the least integer stays itself. Source: ONNX Neg-13."""
    (x,) = operands(e, 1)
    return [e.node(Arithmetic("sub"), _zero(e, x), x) if is_plain(e.type(x)) else e.node(Neg(), x)]


def magnitude(source: Source, e: Expansion) -> Sequence[str]:
    """|x|; the least integer stays itself. Source: ONNX Abs-13."""
    (x,) = operands(e, 1)
    if not is_plain(e.type(x)):
        return [e.node(Abs(), x)]
    return [e.node(Arithmetic("max"), x, e.node(Arithmetic("sub"), _zero(e, x), x))]


def sign(source: Source, e: Expansion) -> Sequence[str]:
    """-1, 0 or 1. Source: ONNX Sign-13."""
    (x,) = operands(e, 1)
    if not is_plain(e.type(x)):
        return [e.node(Sign(), x)]
    one = e.constant(np.array(1, e.type(x).np_dtype))
    high = e.node(Arithmetic("min"), x, one)
    if e.type(x).dtype == "u8":
        return [high]
    return [e.node(Arithmetic("max"), high, e.node(Arithmetic("sub"), _zero(e, x), one))]


def modulo(source: Source, e: Expansion) -> Sequence[str]:
    """The remainder of a quotient that is rounded down, or towards zero with `fmod`. Source: ONNX Mod-13."""
    a, b = operands(e, 2)
    return [e.node(Arithmetic("fmod" if source.attributes["fmod"] else "mod"), a, b)]


def power(source: Source, e: Expansion) -> Sequence[str]:
    """a to the power of b, in the type of a. Source: ONNX Pow-15."""
    a, b = operands(e, 2)
    base, exponent = e.type(a).dtype, e.type(b).dtype
    if base == exponent or (base != "f32" and exponent != "f32"):
        return [e.node(Arithmetic("pow"), a, cast(e, b, base))]
    return [cast(e, e.node(Arithmetic("pow"), cast(e, a, "f32"), cast(e, b, "f32")), base)]


def shift(source: Source, e: Expansion) -> Sequence[str]:
    """The bits of a shifted by b. Source: ONNX BitShift-11."""
    direction = source.attributes["direction"]
    if direction not in ("LEFT", "RIGHT"):
        raise CorruptModelError(f"direction {direction!r} is neither LEFT nor RIGHT")
    return [e.node(Arithmetic(f"shift_{direction.lower()}"), *operands(e, 2))]


def bitwise(kind: str, source: Source, e: Expansion) -> Sequence[str]:
    """A function of bits. Source: ONNX BitwiseAnd-18, BitwiseOr-18, BitwiseXor-18."""
    return [e.node(Arithmetic(kind), *operands(e, 2))]


def complement(source: Source, e: Expansion) -> Sequence[str]:
    """All bits inverted. Source: ONNX BitwiseNot-18."""
    (x,) = operands(e, 1)
    t = e.type(x)
    ones = np.array(255 if t.dtype == "u8" else -1, t.np_dtype)
    return [e.node(Arithmetic("xor"), x, e.constant(ones))]


def opposite(source: Source, e: Expansion) -> Sequence[str]:
    """The negation of a truth value. Source: ONNX Not-1, TFLite LOGICAL_NOT."""
    (x,) = operands(e, 1)
    return [e.node(Logical("xor"), x, e.constant(np.array(True)))]


def is_nan(source: Source, e: Expansion) -> Sequence[str]:
    """Whether x is NaN, that is, differs from itself. Source: ONNX IsNaN-13."""
    (x,) = operands(e, 1)
    return [e.node(Compare("NOT_EQUAL"), x, x)]


def is_infinite(source: Source, e: Expansion) -> Sequence[str]:
    """Whether x is infinite, with a sign that the attributes enable. Source: ONNX IsInf-10."""
    (x,), a = operands(e, 1), source.attributes
    most = e.constant(np.array(np.finfo(np.float32).max, np.float32))
    least = e.constant(np.array(np.finfo(np.float32).min, np.float32))
    high = e.node(Compare("GREATER"), x, most) if a["detect_positive"] else None
    low = e.node(Compare("LESS"), x, least) if a["detect_negative"] else None
    if high and low:
        return [e.node(Logical("or"), high, low)]
    return [high or low or e.constant(np.zeros(e.type(x).shape, np.bool_))]


def clip(source: Source, e: Expansion) -> Sequence[str]:
    """x clamped to bounds, each of which may be absent. Source: ONNX Clip-13, Clip-6 with attributes."""
    x, a = operands(e, 1)[0], source.attributes
    stated = [*e.inputs[1:3], None, None][:2]
    if any(name is not None and e.type(name).size != 1 for name in stated):
        raise ShapeError("a bound of Clip must be one number")
    low, high = (None if name is None else e.data(name) for name in stated)
    computed = any(name is not None and e.data(name) is None for name in stated)
    if is_plain(e.type(x)) or computed:
        for kind, op, name in zip(("max", "min"), (Maximum(), Minimum()), stated, strict=True):
            x = x if name is None else join(e, op, kind, x, name)
        return [x]
    values = (-math.inf if a.get("min") is None else a.get("min"), math.inf if a.get("max") is None else a.get("max"))
    least, most = (v if data is None else data.item() for v, data in zip(values, (low, high), strict=True))
    return [e.node(Relu(float(least), float(most)), x)]


def hard_sigmoid(source: Source, e: Expansion) -> Sequence[str]:
    """min(max(alpha * x + beta, 0), 1), multiplied by alpha last, as in TFLite models. Source: ONNX HardSigmoid-22."""
    (x,) = operands(e, 1)
    alpha, beta = (np.float32(source.attributes[name]) for name in ("alpha", "beta"))
    with np.errstate(all="ignore"):
        most, first = np.float32(1) / alpha, beta / alpha
    if not (alpha > 0 and np.isfinite(most) and np.isfinite(first)):
        moved = e.node(Add(), e.node(Mul(), x, e.constant(np.array(alpha))), e.constant(np.array(beta)))
        return [e.node(Relu(0.0, 1.0), moved)]
    activation = "RELU6" if most == 6 else "NONE"
    moved = e.node(Add(activation), x, e.constant(np.array(first)))
    clamped = moved if activation == "RELU6" else e.node(Relu(0.0, float(most)), moved)
    return [e.node(Mul(), clamped, e.constant(np.array(alpha)))]


def elu(source: Source, e: Expansion) -> Sequence[str]:
    """x where x >= 0, alpha * (exp(x) - 1) elsewhere. Source: ONNX Elu-22."""
    (x,), alpha = operands(e, 1), source.attributes["alpha"]
    y = e.node(Elu(), x)
    if alpha == 1:
        return [y]
    below = e.node(Mul(), e.node(Relu(-math.inf, 0.0), y), e.constant(np.array(alpha, np.float32)))
    return [e.node(Add(), e.node(Relu(), x), below)]


def cast_like(source: Source, e: Expansion) -> Sequence[str]:
    """The first operand in the type of the second. Source: ONNX CastLike-15."""
    source.attributes.ignore("saturate", "round_mode")  # only for 8 bit floats
    x, like = operands(e, 2)
    return [cast(e, x, e.type(like).dtype)]


def cast(e: Expansion, x: str, dtype: str) -> str:
    """A value in another element type."""
    return x if e.type(x).dtype == dtype else e.node(Cast(dtype), x)


def operands(e: Expansion, count: int) -> list[str]:
    """The first operands, which must be present. Raises ShapeError."""
    found = [name for name in e.inputs[:count] if name is not None]
    if len(found) < max(count, 1):
        raise ShapeError(f"the operator needs {max(count, 1)} operands")
    return found


def _zero(e: Expansion, x: str) -> str:
    return e.constant(np.zeros((), NUMPY_DTYPES[e.type(x).dtype]))


_BINARY = {"Add": (Add(), "add"), "Sub": (Sub(), "sub"), "Mul": (Mul(), "mul"), "Div": (Div(), "div")}
_CHAINS = {"Sum": (Add(), "add"), "Max": (Maximum(), "max"), "Min": (Minimum(), "min")}
_BITS = {"BitwiseAnd": "and", "BitwiseOr": "or", "BitwiseXor": "xor"}
_OTHERS = {
    "Mean": mean,
    "Neg": negative,
    "Abs": magnitude,
    "Sign": sign,
    "Mod": modulo,
    "Pow": power,
    "BitShift": shift,
    "BitwiseNot": complement,
    "Not": opposite,
    "IsNaN": is_nan,
    "IsInf": is_infinite,
    "Clip": clip,
    "Elu": elu,
    "HardSigmoid": hard_sigmoid,
    "CastLike": cast_like,
}
IMPORTS = (
    *(Import("onnx", name, expand=partial(binary, *of)) for name, of in _BINARY.items()),
    *(Import("onnx", name, expand=partial(chain, *of)) for name, of in _CHAINS.items()),
    *(Import("onnx", name, expand=partial(bitwise, kind)) for name, kind in _BITS.items()),
    *(Import("onnx", name, expand=expand) for name, expand in _OTHERS.items()),
    Import("tflite", "LOGICAL_NOT", expand=opposite),
)
