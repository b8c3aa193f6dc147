"""Class labels of an output, as C text for the templates. A label is data, never code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.ir.graph import Graph

MAX_ENUMERATOR = 24
"""Most characters of a label that its enumerator's name contains."""


@dataclass(frozen=True)
class LabelView:
    """A class label. enumerator: end of its name in C, after the output's macro. text: the label as a C string."""

    enumerator: str
    text: str


def labels_of(graph: Graph, name: str) -> list[LabelView]:
    """Labels of an output whose values are class indices, in index order. Empty for any other tensor."""
    texts = graph.texts.get(graph.outputs.index(name), ()) if name in graph.outputs else ()
    return _views(texts)


def _views(texts: Sequence[str]) -> list[LabelView]:
    names: list[str] = []
    for k, text in enumerate(texts):
        plain = re.sub(r"[^A-Z0-9]+", "_", text.upper().encode("ascii", "ignore").decode()).strip("_")
        name = plain[:MAX_ENUMERATOR].rstrip("_")
        names.append(name if name and name not in (*names, "LEN", "SIZE", "CLASSES") else f"CLASS_{k}")
    return [
        LabelView(_unlike(name, k, names), literal(t)) for k, (name, t) in enumerate(zip(names, texts, strict=True))
    ]


def _unlike(name: str, k: int, names: Sequence[str]) -> str:
    """The name, with underscores appended if earlier labels have the same name."""
    return name + "_" * names[:k].count(name)


def literal(text: str) -> str:
    """A C string with the text's UTF-8 bytes. Bytes other than plain characters become octal escapes."""
    return '"' + "".join(_byte(b) for b in text.encode("utf-8", "surrogateescape")) + '"'


def _byte(value: int) -> str:
    return chr(value) if 0x20 <= value < 0x7F and chr(value) not in '"\\?' else f"\\{value:03o}"
