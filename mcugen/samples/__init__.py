"""Samples for calibration and for tests: the user's data as arrays that fit the model's inputs.

docs/samples.md describes the sources, their rules and every refusal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.types import TensorType
from mcugen.samples import arrays, camera, folders, identity, images, keys, labels, motion, preprocess, signals, sounds
from mcugen.samples.column import BLOCK_BYTES, Column
from mcugen.samples.fit import SampleFit, fit
from mcugen.samples.labels import Truth
from mcugen.samples.preprocess import IMAGE, MOTION, NUMBER, SOUND, Plan, Word

MAX_BYTES = 1 << 29
"""Most bytes of samples in memory, in the types of the model's inputs."""
MAX_COMPARED = 100_000
"""Most samples that are searched for duplicates."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples that fit a model, whose values are finite.

    arrays: one for each input of the model, in order: [n, *shape of the input], float32 for float inputs, else of the
    input's type
    labels: for tests: int64 classes [n, ...], float32 targets [n, ...], or a truth whose size differs from sample to
    sample; None if the source has none
    sha256: hash of the inputs' names, and of the arrays' types, shapes and bytes
    notes: warnings for the user
    features: hash of the front end that made the arrays, see `identity`; "" if none did
    """

    arrays: tuple[np.ndarray, ...]
    labels: Truth
    sha256: str
    notes: tuple[str, ...]
    features: str = ""

    @property
    def count(self) -> int:
        return len(self.arrays[0])


@dataclass(frozen=True, eq=False)
class SampleArrays:
    """The contents of a source: a column per input, in the model's order, and labels.

    features: hash of the front end that made them; "" if none did. plan: words that are still to be applied.
    """

    columns: tuple[Column, ...]
    labels: np.ndarray | Column | Mapping[str, Column] | None = None
    notes: tuple[str, ...] = ()
    features: str = ""
    plan: Plan = field(default_factory=Plan)


def load(
    path: Path,
    graph: Graph,
    *,
    limit: int | None = None,
    preprocess: str = "",
    with_labels: bool = False,
    to_run: bool = False,
) -> Samples:
    """The samples of a file or folder, or the first `limit` of them, as inputs of the graph.

    preprocess: words of `--preprocess`. with_labels: the samples are a test, and have classes or targets.
    to_run: the samples are inputs to run a model with, not to calibrate it: quantized inputs also take real numbers,
    and equal samples are allowed. Raises UsageError.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"{limit} is no number of samples", where="--samples", hint="give a positive number")
    if not graph.inputs:
        raise UsageError(f"{graph.name!r} has no input", where=path.name, hint="only models with inputs have samples")
    plan = _plan(preprocess, graph)
    if graph.stream is not None:
        plan = signals.plan_of(plan, graph.stream, words()) if _has_sounds(path) else Plan()
    found = _source(path, graph, plan, with_labels)
    plan = found.plan
    if graph.stream is None:
        identity.require_same(found.features, path.name, graph.features, graph.name)
    total = _count(found.columns)
    n = total if limit is None else min(limit, total)
    types = [graph.type(name) for name in graph.inputs]
    pairs = list(zip(found.columns, types, strict=True))
    pairs = [(signals.in_turn(column, t), t) for column, t in pairs] if graph.stream else pairs
    as_read = signals.type_of if graph.stream else partial(_as_given, plan) if to_run else _as_taken
    fits = [fit(column, as_read(column, t), plan) for column, t in pairs]
    _check_memory(fits, n)
    values = tuple(signals.stored(item.read(n), t) for item, t in zip(fits, types, strict=True))
    names = [graph.tensors[name].label or name for name in graph.inputs]
    notes = [*found.notes, *(item.note for item in fits if item.note)]
    if limit is not None and total < limit:
        notes.append(f"{path.name} has {total} samples; {limit} were asked for")
    notes += _byte_notes(values, names, plan) if to_run else _oddities(values, names, plan, path.name)
    wanted = labels.of(found.labels, total, n) if with_labels else labels.Labels(None)
    return Samples(values, wanted.values, _sha256(names, values), (*notes, *wanted.notes), found.features)


def _plan(text: str, graph: Graph) -> Plan:
    if text and len(graph.inputs) != 1:
        message = f"needs a model with one input, but this one has {len(graph.inputs)}"
        raise UsageError(message, where=preprocess.WHERE, hint="give an .npz of arrays as the model takes them")
    return preprocess.parse(text, words())


def words() -> tuple[Word, ...]:
    """The words of `--preprocess`, in the order in which they may be given."""
    return (*camera.WORDS, *images.WORDS, *sounds.WORDS, *motion.WORDS, *preprocess.WORDS)


def _has_sounds(path: Path) -> bool:
    """Whether a source is a .wav file, or a folder of such files."""
    return folders.listing(path).kind == SOUND if path.is_dir() else path.suffix.lower() == ".wav"


def _source(path: Path, graph: Graph, plan: Plan, with_labels: bool) -> SampleArrays:
    if path.is_dir():
        _check_single(graph, path.name)
        return _folder(path, plan, with_labels)
    if path.suffix.lower() == ".wav":
        _check_single(graph, path.name)
        notes = _no_labels(with_labels, path.name, "give a folder with a folder for each class")
        return SampleArrays((sounds.column((path,), plan, path.name),), notes=notes, plan=plan)
    if arrays.kind(path) == arrays.ZIP:
        return _archive(path, graph, plan, with_labels)
    column = _worded(arrays.single(path), plan)
    _check_single(graph, path.name)
    notes = _no_labels(with_labels, path.name, "give an .npz with a key 'y'")
    return SampleArrays((column,), notes=notes, features=_made(plan), plan=plan)


def _archive(path: Path, graph: Graph, plan: Plan, with_labels: bool) -> SampleArrays:
    """The arrays of an .npz. If they are features, the words must be those of the file, and are not applied again."""
    found = arrays.archive(path)
    made = identity.taken(found, path.name)
    if made is not None and plan.steps:
        identity.require_same(made.sha256, path.name, identity.of(plan, made.rate).sha256, preprocess.WHERE)
        plan = Plan()
    chosen = keys.choose(found, graph, path.name, with_labels)
    columns = tuple(_worded(column, plan) for column in chosen.columns)
    return SampleArrays(columns, chosen.labels, chosen.notes, made.sha256 if made else _made(plan), plan)


def _worded(column: Column, plan: Plan) -> Column:
    """Arrays after the words for motion, or for a camera's bytes. Raises UsageError."""
    return motion.column(column, plan) if plan.kind == MOTION else camera.column(column, plan)


def _made(plan: Plan) -> str:
    """The hash of what words make of motion or of a camera's bytes; "" if there are none for these."""
    return identity.of(plan).sha256 if plan.kind == MOTION or plan.frame else ""


def _of_arrays(paths: Sequence[Path], plan: Plan, where: str) -> Column:
    return _worded(arrays.column(paths, where), plan)


_FILES = {"arrays": (MOTION, _of_arrays), "images": (IMAGE, images.column), "sounds": (SOUND, sounds.column)}
"""Kind of a folder's files -> the words that apply to them, and the function that reads them."""


def contents(folder: Path, plan: Plan) -> SampleArrays:
    """The samples of a folder after the words for images or sounds, with their classes. Raises UsageError."""
    return _folder(folder, plan, with_labels=True)


def _folder(path: Path, plan: Plan, with_labels: bool) -> SampleArrays:
    found = folders.listing(path)
    takes_bytes = plan.frame is not None and found.kind == "arrays"
    if plan.frame is not None and found.kind == IMAGE:
        word = plan.steps[0].text
        hint = f"leave out {word!r}, or give the camera's bytes as .npy files"
        raise UsageError(f"{word!r} takes a camera's bytes, but the samples are images", where=path.name, hint=hint)
    kind, read = _FILES[found.kind]
    plan.require(IMAGE if takes_bytes else kind, found.kind)
    column = read(found.paths, plan, path.name)
    made = identity.of(plan, column.rate).sha256 if plan.steps else ""
    if found.labels is None:
        notes = _no_labels(with_labels, path.name, "give a folder for each class")
        return SampleArrays((column,), notes=notes, features=made, plan=plan)
    listed = ", ".join(f"{k} {name!r}" for k, name in enumerate(found.classes[:20]))
    notes = (f"{path.name}: folders are classes: {listed}" + ", ..." * (len(found.classes) > 20),)
    return SampleArrays((column,), found.labels, notes if with_labels else (), made, plan)


def _no_labels(with_labels: bool, where: str, remedy: str) -> tuple[str, ...]:
    return (f"{where} has no labels: {remedy} to measure accuracy",) if with_labels else ()


def _check_single(graph: Graph, where: str) -> None:
    if len(graph.inputs) != 1:
        names = ", ".join(repr(graph.tensors[name].label or name) for name in graph.inputs)
        message = f"holds one array, but the model has {len(graph.inputs)} inputs: {names}"
        raise UsageError(message, where=where, hint="give an .npz with one array for each input")


def _as_taken(column: Column, t: TensorType) -> TensorType:
    return t


def _as_given(plan: Plan, column: Column, t: TensorType) -> TensorType:
    """The type of an input; float32 if it is quantized and the source has real numbers."""
    if t.is_float or t.quant is None or t.quant.per_channel or not column.count:
        return t
    is_real = bool(plan.of(NUMBER)) or next(column.blocks(1)).dtype.kind == "f"
    return TensorType(t.shape, "f32") if is_real else t


def _count(columns: Sequence[Column]) -> int:
    """The number of samples. Raises UsageError if it differs between inputs, or is 0."""
    first = columns[0]
    for column in columns[1:]:
        if column.count != first.count:
            message = f"has {column.count} samples, but {first.where} has {first.count}"
            raise UsageError(message, where=column.where, hint="give as many samples for each input")
    if not first.count:
        raise UsageError("holds no samples", where=first.where, hint="give at least one; 100 are a good number")
    return first.count


def _check_memory(fits: Sequence[SampleFit], n: int) -> None:
    each = sum(item.wanted.size * (4 if item.wanted.is_float else item.wanted.np_dtype.itemsize) for item in fits)
    if n * each > MAX_BYTES:
        message = f"{n} samples take {n * each:,} bytes, more than {MAX_BYTES:,}"
        raise UsageError(message, where=fits[0].column.where, hint=f"take fewer: --samples {max(1, MAX_BYTES // each)}")


def _oddities(values: Sequence[np.ndarray], names: Sequence[str], plan: Plan, where: str) -> list[str]:
    """Warnings about the values. Raises UsageError for values that make calibration impossible."""
    n = len(values[0])
    looks = _byte_notes(values, names, plan)
    if n == 1:
        return [f"{where} has a single sample: ranges will be those of this sample", *looks]
    same = [name for array, name in zip(values, names, strict=True) if _is_same(array)]
    if len(same) == len(names):
        raise UsageError(f"all {n} samples are equal", where=where, hint="give samples as the model will meet them")
    copies = n - len(set(zip(*map(_hashes, values), strict=True))) if n <= MAX_COMPARED else 0
    notes = [f"{where}: {copies} of {n} samples are copies of others"] if copies else []
    notes += [f"{where}: input {name!r} is the same in all samples" for name in same]
    return [*notes, *looks]


def _is_same(array: np.ndarray) -> bool:
    return all((part == array[0]).all() for part in _blocks(array))


def _hashes(array: np.ndarray) -> list[bytes]:
    return [hashlib.blake2b(sample.data, digest_size=16).digest() for sample in np.ascontiguousarray(array)]


def _byte_notes(values: Sequence[np.ndarray], names: Sequence[str], plan: Plan) -> list[str]:
    looks = [_byte_note(array, name) for array, name in zip(values, names, strict=True) if not plan.of(NUMBER)]
    return list(filter(None, looks))


def _byte_note(array: np.ndarray, name: str) -> str:
    """A warning if the values for a float input look like bytes of an image, else ""."""
    if array.dtype.kind != "f" or not (array.min() >= 0 and 64 <= array.max() <= 255):
        return ""
    if any((part % 1).any() for part in _blocks(array)):
        return ""
    return (
        f"input {name!r} takes floats and gets whole numbers 0..{array.max():g}, as they are: if the model was trained "
        "on 0..1, give --preprocess scale=1/255; for -1..1 scale=1/127.5,offset=-1"
    )


def _blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    """The samples in blocks, so that computing on them takes little memory."""
    each = max(1, BLOCK_BYTES // max(1, array[0].nbytes))
    return (array[start : start + each] for start in range(0, len(array), each))


def _sha256(names: Sequence[str], values: Sequence[np.ndarray]) -> str:
    found = hashlib.sha256()
    for name, array in zip(names, values, strict=True):
        found.update(f"{name!r} {array.dtype.str} {list(array.shape)}\n".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
