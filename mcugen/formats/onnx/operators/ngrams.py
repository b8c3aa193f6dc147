"""TfIdfVectorizer: number of times that sequences of tokens (integers) occur in each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.formats.operators.elements import operands
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ir.types import Shape
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.compare import Compare
from mcugen.ops.gather import Gather
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sum import Sum

MAX_ELEMENTS = 1 << 20


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """Counts as sums of products of shifted one-hot tokens, times weights. Source: ONNX TfIdfVectorizer-9."""
    (x,), a = operands(e, 1), source.attributes
    shape = e.type(x).shape
    if a.get("pool_strings"):
        raise UnsupportedError("sequences of text are not supported", hint="number the tokens before the model")
    if len(shape) not in (1, 2) or e.type(x).dtype not in ("s32", "s64"):
        raise ShapeError(f"tokens are rows of int32 or int64, not {e.type(x)}")
    pool, places, mode = _pool(a), tuple(a["ngram_indexes"]), a["mode"]
    if sum(map(len, pool.values())) != len(places) or not places or min(places) < 0:
        raise CorruptModelError("ngram_indexes must have an index of 0 or more for each sequence")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise UnsupportedError(f"the mode {mode} is not supported; TF, IDF and TFIDF are")
    tokens = {token: k for k, token in enumerate(sorted({t for grams in pool.values() for g in grams for t in g}))}
    rows, length = (1, *shape)[-2:]
    if rows * length * max(len(tokens), len(places)) > MAX_ELEMENTS or max(places) >= MAX_ELEMENTS:
        raise UnsupportedError(f"{len(tokens)} tokens in {rows} rows of {length} are not supported")
    seen = _seen(e, x, (rows, length, 1), list(tokens))
    counts = [_counts(e, seen, size, grams, tokens, a) for size, grams in sorted(pool.items()) if grams]
    found = _placed(e, counts, rows, places)
    return [e.node(Reshape((*shape[:-1], max(places) + 1)), _weighted(e, found, mode, a["weights"], places))]


def _pool(a: Attributes) -> dict[int, list[tuple[int, ...]]]:
    """Length -> the sequences of this length."""
    starts, pool = tuple(a["ngram_counts"]), tuple(a["pool_int64s"] or ())
    ends = (*starts[1:], len(pool))[: len(starts)]
    found: dict[int, list[tuple[int, ...]]] = {}
    for size, (first, end) in enumerate(zip(starts, ends, strict=True), 1):
        if not 0 <= first <= end <= len(pool) or (end - first) % size:
            raise CorruptModelError(f"tokens {first} to {end} of the pool do not divide into sequences of {size}")
        found[size] = [tuple(pool[k : k + size]) for k in range(first, end, size)]
    return found


def _seen(e: Expansion, x: str, shape: Shape, tokens: Sequence[int]) -> str:
    """One-hot tokens [rows, length, tokens]: 1 where the token in a row is tokens[k], else 0."""
    known = e.constant(np.array(tokens, e.type(x).np_dtype))
    return e.node(Cast("f32"), e.node(Compare("EQUAL"), e.node(Reshape(shape), x), known))


def _counts(
    e: Expansion, seen: str, size: int, grams: Sequence[tuple[int, ...]], tokens: Mapping[int, int], a: Attributes
) -> str:
    """The count of each sequence of `size` tokens, [rows, sequences], with up to max_skip_count tokens skipped."""
    rows, length, _ = e.type(seen).shape
    total = ""
    if a["min_gram_length"] <= size <= a["max_gram_length"]:
        for step in range(1, 2 + (a["max_skip_count"] if size > 1 else 0)):
            places = length - (size - 1) * step
            if places < 1:
                break
            product = ""
            for k in range(size):
                part = _from(e, seen, k * step, places)
                index = np.array([tokens[gram[k]] for gram in grams], np.int32)
                chosen = e.node(Gather(2), part, e.constant(index))
                product = e.node(Mul(), product, chosen) if product else chosen
            count = e.node(Sum((1,), False), product)
            total = e.node(Add(), total, count) if total else count
    return total or e.constant(np.zeros((rows, len(grams)), np.float32))


def _from(e: Expansion, seen: str, first: int, count: int) -> str:
    rows, length, tokens = e.type(seen).shape
    if count == length:
        return seen
    return e.node(StridedSlice(((0, rows, 1), (first, count, 1), (0, tokens, 1)), (rows, count, tokens)), seen)


def _placed(e: Expansion, counts: Sequence[str], rows: int, places: Sequence[int]) -> str:
    """The counts, moved to their indices `places` in the result; other results are 0.

    A column of zeros after all counts is what Gather reads for results without a count.
    """
    parts, at = [], 0
    for count in counts:
        width = e.type(count).shape[1]
        parts.append(e.node(Pad(((0, 0), (at, len(places) - at - width + 1))), count))
        at += width
    total = parts[0]
    for part in parts[1:]:
        total = e.node(Add(), total, part)
    index = np.full(max(places) + 1, len(places), np.int32)
    index[list(places)] = np.arange(len(places))
    return e.node(Gather(1), total, e.constant(index))


def _weighted(e: Expansion, counts: str, mode: str, weights: Sequence[float] | None, places: Sequence[int]) -> str:
    if mode == "TF":
        return counts
    seen = e.node(Minimum(), counts, e.constant(np.array(1.0, np.float32))) if mode == "IDF" else counts
    if not weights:
        return seen
    if len(weights) != len(places):
        raise CorruptModelError("attribute weights must have a weight for each sequence")
    factors = np.ones(max(places) + 1, np.float32)
    factors[list(places)] = weights
    return e.node(Mul(), seen, e.constant(factors))


IMPORTS = (Import("onnx", "TfIdfVectorizer", expand=expand),)
