"""Assigns the arrays of an .npz to inputs and labels, by their keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.samples.column import Column
from mcugen.samples.labels import COUNTS

LABELS = frozenset({"y", "label", "labels", "target", "targets", "class", "classes"})
"""Words that name labels, alone or beside one of the words below, as in `y` and `test_labels`."""
CALIBRATION = frozenset({"train", "calib", "calibration"})
TEST = frozenset({"test"})
_PARTS = ("boxes", "classes")
"""Keys of a ragged truth besides the number of its rows and the labels."""
_SPLITS = CALIBRATION | TEST | {"val", "valid", "validation"}


@dataclass(frozen=True, eq=False)
class ChosenArrays:
    """The arrays of the inputs, in the model's order, and the labels, if there are any: an array, or by key those of a
    ragged truth.
    """

    columns: tuple[Column, ...]
    labels: Column | Mapping[str, Column] | None
    notes: tuple[str, ...] = ()


def choose(found: Mapping[str, Column], graph: Graph, where: str, test: bool) -> ChosenArrays:
    """The arrays of a calibration, or of a test, by their keys. Raises UsageError, naming the keys, if unclear.

    An input's key is its name in the model, with or without `serving_default_` and `:0`, or mcugen's name for it. Keys
    that name labels are never inputs. A single input may also have another key: that of the only other array, or the
    one with the word train, calib or calibration (for a test: test). An array of counts makes the labels a truth with
    a number of rows for each sample.
    """
    named = {name: _key_of(name, graph, found) for name in graph.inputs}
    taken = {key for key in named.values() if key is not None}
    others = {key: column for key, column in found.items() if key not in taken}
    ragged = _ragged(others, where)
    others = {key: column for key, column in others.items() if key not in ragged}
    labels = {key: column for key, column in others.items() if _is_label(key)}
    rest = [key for key in others if key not in labels]
    if len(graph.inputs) == 1 and not taken:
        named = dict.fromkeys(graph.inputs, _only(rest, test))
        rest = [] if None not in named.values() else rest
    missing = [name for name, key in named.items() if key is None]
    if missing or rest:
        raise _unclear(missing, rest, list(found), graph, where)
    columns = tuple(found[key] for key in named.values() if key is not None)
    if ragged:
        return ChosenArrays(columns, ragged if test else None)
    used = next(iter(named.values())) or ""
    return ChosenArrays(columns, _labels(labels, used, test, where), _notes(bool(labels), test, where))


def _key_of(name: str, graph: Graph, found: Mapping[str, Column]) -> str | None:
    """The key that names an input, or None."""
    label = graph.tensors[name].label
    short = re.sub(r":\d+$", "", label).removeprefix("serving_default_")
    shorts = [re.sub(r":\d+$", "", graph.tensors[n].label).removeprefix("serving_default_") for n in graph.inputs]
    candidates = [label, name, *([short] if shorts.count(short) == 1 else [])]
    return next((key for key in candidates if key in found), None)


def _ragged(others: Mapping[str, Column], where: str) -> dict[str, Column]:
    """The arrays of a truth with a number of rows for each sample; none if there are no counts of rows.

    Raises UsageError for boxes without counts.
    """
    if COUNTS in others:
        return {key: column for key, column in others.items() if key in (COUNTS, *_PARTS) or _is_label(key)}
    if "boxes" in others:
        hint = f"add an array {COUNTS!r} [samples] with the number of boxes of each image"
        raise UsageError(f"has boxes, but no array {COUNTS!r}", where=where, hint=hint)
    return {}


def _words(key: str) -> set[str]:
    return set(re.split(r"[\W_]+", key.lower())) - {""}


def _is_label(key: str) -> bool:
    words = _words(key) - _SPLITS
    return len(words) == 1 and words <= LABELS


def _only(keys: list[str], test: bool) -> str | None:
    """The key of a single input: the only key, or the only one whose words name the wanted split; else None."""
    fitting = keys if len(keys) == 1 else [key for key in keys if _words(key) & (TEST if test else CALIBRATION)]
    return fitting[0] if len(fitting) == 1 and (len(keys) == 1 or all(_words(k) & _SPLITS for k in keys)) else None


def _labels(labels: Mapping[str, Column], used: str, test: bool, where: str) -> Column | None:
    """The labels of the samples with key `used`: the only labels, or the ones of the same split, such as train."""
    if not test or not labels:
        return None
    part = _words(used) & _SPLITS
    fitting = [key for key in labels if len(labels) == 1 or _words(key) & _SPLITS == part]
    if len(fitting) != 1:
        listed = ", ".join(map(repr, labels))
        raise UsageError(f"{listed} could each be the labels", where=where, hint="keep one of them")
    return labels[fitting[0]]


def _notes(has_labels: bool, test: bool, where: str) -> tuple[str, ...]:
    if has_labels or not test:
        return ()
    return (f"{where} has no labels: add an array with the key 'y' to measure accuracy",)


def _unclear(missing: list[str], rest: list[str], keys: list[str], graph: Graph, where: str) -> UsageError:
    names = ", ".join(repr(graph.tensors[name].label or name) for name in graph.inputs)
    lacking = ", ".join(repr(graph.tensors[name].label or name) for name in missing)
    listed = ", ".join(map(repr, keys[:12])) + (", ..." if len(keys) > 12 else "")
    what = f"no array for input {lacking}" if missing else f"unknown key {', '.join(map(repr, rest[:12]))}"
    hint = f"give one array for each input: {names}; labels are named 'y'"
    return UsageError(f"{what}; the keys are {listed}", where=where, hint=hint)
