# SPDX-License-Identifier: Apache-2.0
"""Damaged model files by their seed: random models of all formats, cut, with bytes flipped, or with a field edited.

`python -m tests.formats.soak random` judges them: each is built or refused by name, within limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tests.formats import edits, nnef_edits, nnef_models, onnx_damage
from tests.random import quantized, tflite_networks
from tests.random.drawing import kind

Pairs = Iterator[tuple[str, bytes]]
_MOST_SKIPPED = 400
"""Edits of a model among which one is chosen."""


def _nnef(seed: int) -> bytes:
    return nnef_models.tar(nnef_models.small() if seed % 3 else nnef_edits.floats())


def _nnef_edits(seed: int) -> Pairs:
    return nnef_edits.edited(nnef_models.small() if seed % 3 else nnef_edits.floats())


@dataclass(frozen=True)
class Format:
    """One format: its share of the files, a file name, the file of a seed, and that file with single fields edited."""

    share: float
    name: str
    whole: Callable[[int], bytes]
    edited: Callable[[int, bytes], Pairs]


FORMATS: dict[str, Format] = {
    ".tflite": Format(
        0.4, "net.tflite", lambda seed: tflite_networks.draw(seed).drawn.model, lambda seed, data: edits.edited(data)
    ),
    "quantized ONNX": Format(
        0.2,
        "net.onnx",
        lambda seed: quantized.draw(seed).model.SerializeToString(),
        lambda seed, data: onnx_damage.edited(data),
    ),
    "ONNX": Format(
        0.15, "net.onnx", lambda seed: kind("onnx").draw(seed).data, lambda seed, data: onnx_damage.edited(data)
    ),
    "ONNX-ML": Format(
        0.05, "net.onnx", lambda seed: kind("classical").draw(seed).data, lambda seed, data: onnx_damage.edited(data)
    ),
    "NNEF": Format(0.2, "net.tar", _nnef, lambda seed, data: _nnef_edits(seed)),
}


DRAWN_ALONE = (".tflite", "quantized ONNX", "NNEF")
"""The formats whose files are drawn without ONNX Runtime."""


def draw(seed: int, labels: Sequence[str] = tuple(FORMATS)) -> tuple[str, str, bytes]:
    """(what was done, a name with the format's suffix, the file); the same for a seed at any time."""
    rng = np.random.default_rng([seed, 11])
    shares = np.array([FORMATS[label].share for label in labels])
    label = str(rng.choice(labels, p=shares / shares.sum()))
    chosen = FORMATS[label]
    data, how = chosen.whole(seed), rng.random()
    if how < 0.1:
        size = int(rng.integers(len(data)))
        return f"{label} cut at {size}", chosen.name, data[:size]
    if how < 0.5:
        return f"{label} flipped", chosen.name, _flipped(data, rng)
    edited = list(islice(chosen.edited(seed, data), int(rng.integers(1, _MOST_SKIPPED))))
    what, changed = edited[-1] if edited else ("nothing to edit", data)
    return f"{label}: {what}", chosen.name, changed


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    damaged = bytearray(data)
    for place in rng.integers(0, len(data), rng.integers(1, 4)):
        damaged[place] ^= 1 << int(rng.integers(8)) if rng.random() < 0.7 else int(rng.integers(1, 256))
    return bytes(damaged)
