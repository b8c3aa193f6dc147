# SPDX-License-Identifier: Apache-2.0
"""Changes single fields of NNEF models: numbers, lists, names and texts of their graphs, and heads of tensor files."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import numpy as np

from tests.formats import nnef_models
from tests.formats.nnef_models import Files

NUMBERS = ("0", "-1", "1", "7", "0.0", "-0.5", "1e-45", "1e30", "65536", "2147483647", "-2147483648")
NUMBERS += ("4294967296", "9223372036854775807", "99999999999999999999", "nan", "x")
TEXTS = ("", "constant", "reflect", "replicate", "../x", "*/ x", "\\n")
WORDS = (0, 1, 7, 255, 65536, 2**31 - 1, 2**32 - 1)
_NUMBER = re.compile(r"(?<![\w.'])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.'])")
_FIELD = re.compile(r"\[[^\[\]]*\]|'[^']*'|\"[^\"]*\"|\b(?:true|false)\b")
_OPERAND = re.compile(r"(?<=[(,] )\b[a-z]\d*\b(?= *[,)])|(?<=\()\b[a-z]\d*\b(?= *[,)])")
_HEAD_WORDS = range(4, 52, 4)
"""Bytes of a tensor file at which its size, its rank, its extents, its bits and its kind of item stand."""


def floats() -> Files:
    """Windows, moves, reductions, comparisons and functions of floats."""
    body = (
        "c1 = conv(x, w, b, padding = [(1, 0), (0, 1)], stride = [2, 1], dilation = [1, 2], groups = 1);",
        "c2 = deconv(x, w2, 0.0, stride = [2, 2], output_shape = [1, 3, 12, 12]);",
        "c3 = box(x, size = [1, 1, 2, 2], stride = [1, 1, 1, 1], border = 'ignore', normalize = true);",
        "c4 = avg_pool(x, size = [1, 1, 3, 3], padding = [], border = 'constant');",
        "c5 = max_pool(x, size = [1, 1, 2, 3], padding = [(0, 0), (0, 0), (1, 0), (1, 1)], border = 'ignore');",
        "c6 = nearest_upsample(x, factor = [2, 3]);",
        "c7 = slice(x, axes = [2, 3], begin = [1, 0], end = [4, 0]);",
        "c8 = transpose(x, axes = [0, 2, 3, 1]);",
        "c9 = pad(x, padding = [(0, 0), (0, 0), (1, 2), (0, 1)], border = 'constant', value = 0.0);",
        "d1 = tile(x, repeats = [1, 2, 1, 1]);",
        "d2 = mean_reduce(x, axes = [2, 3]);",
        "d3 = softmax(x, axes = [1]);",
        "d4 = concat([x, x], axis = 1);",
        "d5 = select(lt(x, 0.5), x, pow(x, 2.0));",
        "d6 = clamp(x, -0.5, 1.5);",
        "d7 = argmax_reduce(max_reduce(x, axes = [3]), axes = [1]);",
        "d8 = unsqueeze(squeeze(x, axes = [0]), axes = [1]);",
        "d9 = leaky_relu(x, alpha = 0.2);",
    )
    tensors = {"w": np.ones((3, 2, 2, 2), "f4"), "b": np.ones((1, 3), "f4"), "w2": np.ones((2, 3, 2, 2), "f4")}
    outputs = [line.split(" ")[0] for line in body]
    made = nnef_models.model("\n    ".join(body), tensors)
    made["graph.nnef"] = made["graph.nnef"].replace(b"-> (y)", f"-> ({', '.join(outputs)})".encode())
    return made


def all_edited() -> Iterator[tuple[str, bytes]]:
    """Every edit of all the models."""
    for files in (floats(), nnef_models.small()):
        yield from edited(files)


def edited(files: Files) -> Iterator[tuple[str, bytes]]:
    """Archives of the model with one field changed, and what was changed."""
    for name in files:
        found = _of_tensor(files[name]) if name.endswith(".dat") else _of_text(files[name].decode())
        for what, data in found:
            yield f"{name}: {what}", nnef_models.tar({**files, name: data})


def _of_text(text: str) -> Iterator[tuple[str, bytes]]:
    names = sorted({found.group() for found in _OPERAND.finditer(text)})
    for found in (*_NUMBER.finditer(text), *_FIELD.finditer(text)):
        old = found.group()
        yield from ((f"{old} at {found.start()} = {v}", _with(text, found, v)) for v in _others(old) if v != old)
    for found in _OPERAND.finditer(text):
        others = [*names[:3], "nothing", "1.5", "[]"]
        yield from ((f"{found.group()} at {found.start()} = {v}", _with(text, found, v)) for v in others)


def _others(old: str) -> tuple[str, ...]:
    if old in ("true", "false"):
        return ("true", "false", "2", "''")
    if old[0] in "'\"":
        return tuple(old[0] + text + old[0] for text in TEXTS)
    if old[0] != "[":
        return NUMBERS
    inner = old[1:-1]
    first, _, rest = inner.partition(",")
    return ("[]", f"[{rest}]", f"[{inner}, {first or 1}]", first or "1")


def _with(text: str, found: re.Match[str], new: str) -> bytes:
    return (text[: found.start()] + new + text[found.end() :]).encode()


def _of_tensor(data: bytes) -> Iterator[tuple[str, bytes]]:
    for place in _HEAD_WORDS:
        for word in WORDS:
            yield f"word {place} = {word}", data[:place] + struct.pack("<I", word) + data[place + 4 :]
    for number in (np.nan, np.inf, 3e38, 1e-45):
        body = np.full((len(data) - 128) // 4, number, "<f4").tobytes()
        yield f"numbers {number}", data[:128] + body.ljust(len(data) - 128, b"\0")
