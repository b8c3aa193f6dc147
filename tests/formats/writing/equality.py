# SPDX-License-Identifier: Apache-2.0
"""Whether two graphs are equal but for the names of their tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mcugen.formats import registry
from mcugen.formats.tflite import read
from mcugen.ir.graph import Graph, Tensor


def imported(model: bytes) -> Graph:
    return read.load(model, registry.load(), path=Path("m.tflite"), sha256="", shapes={})


def differences(a: Graph, b: Graph) -> list[str]:
    """The differences of two graphs: operators, operands, types, quantization, constants, labels and first values.

    An absent operand, such as a bias, may have become zeros, and a constant may have got a scale. Of
    tensors with one label all but one get another.
    """
    if len(a.nodes) != len(b.nodes):
        return [f"{[type(n.op).__name__ for n in a.nodes]} are now {[type(n.op).__name__ for n in b.nodes]}"]
    pairs = [*_pairs("inputs", a.inputs, b.inputs), *_pairs("outputs", a.outputs, b.outputs)]
    for m, n in zip(a.nodes, b.nodes, strict=True):
        pairs += [*_pairs(f"{m.op} operands", m.inputs, n.inputs), *_pairs(f"{m.op} results", m.outputs, n.outputs)]
    for s, t in zip(a.states, b.states, strict=False):
        pairs += _pairs("state", (s.before, s.after), (t.before, t.after))
    found = [f"{m.op} is now {n.op}" for m, n in zip(a.nodes, b.nodes, strict=True) if m.op != n.op]
    found += _initial(a, b)
    labels = Counter(t.label for t in a.tensors.values() if not t.is_constant)
    known: dict[str, str] = {}
    for where, old, new in pairs:
        if old is None or new is None:
            is_zeros = old is None and new is not None and not _any(b.tensors[new])
            found += [] if old == new or is_zeros else [f"{where}: {old} is now {new}"]
        else:
            found += [f"{where}: {text}" for text in _changed(a.tensors[old], b.tensors[new], known, labels)]
    return found


def _pairs(
    where: str, a: tuple[str | None, ...], b: tuple[str | None, ...]
) -> list[tuple[str, str | None, str | None]]:
    """Corresponding tensors; absent operands at the end are none at all."""
    size = max(len(a), len(b))
    padded = [(*names, *[None] * (size - len(names))) for names in (a, b)]
    return [(where, x, y) for x, y in zip(*padded, strict=True)]


def _any(t: Tensor) -> bool:
    """Whether anything but zeros may be in a tensor."""
    return t.data is None or bool(t.data.any())


def _initial(a: Graph, b: Graph) -> list[str]:
    if len(a.states) != len(b.states):
        return [f"{len(a.states)} states are now {len(b.states)}"]
    pairs = zip(a.states, b.states, strict=True)
    return [f"first value of {s.before}" for s, t in pairs if not np.array_equal(s.initial, t.initial)]


def _changed(old: Tensor, new: Tensor, known: dict[str, str], labels: Mapping[str, int]) -> list[str]:
    if old.is_constant or new.is_constant:
        same = old.data is not None and new.data is not None and np.array_equal(old.data, new.data)
        kept = old.type == (new.type if old.type.quant else replace(new.type, quant=None))
        return ([] if same else ["constant"]) + ([] if kept else [f"{old.type} is now {new.type}"])
    found = [] if known.setdefault(old.name, new.name) == new.name else [f"{old.name} is now two tensors"]
    found += [] if old.type == new.type else [f"{old.type} is now {new.type}"]
    is_known = old.label == new.label or not old.label or labels[old.label] > 1
    return found + ([] if is_known else [f"{old.label!r} is now {new.label!r}"])
