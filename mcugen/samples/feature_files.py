"""Features of a folder of samples, for training outside of mcugen."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mcugen import samples
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Tensor
from mcugen.ir.types import TensorType
from mcugen.samples import folders, identity, preprocess
from mcugen.samples.fit import moved
from mcugen.samples.identity import Identity


@dataclass(frozen=True, eq=False)
class FeatureFile:
    """values: float32 [n, ...]; labels: int64 [n], None without classes."""

    values: np.ndarray
    labels: np.ndarray | None
    identity: Identity

    def as_npz(self) -> bytes:
        """The bytes of an .npz with x, y and the identity; equal features give equal bytes."""
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {"x": self.values, "y": self.labels, identity.KEY: self.identity.stored}
        np.savez(buffer, **{key: array for key, array in arrays.items() if array is not None})
        return buffer.getvalue()


def of(folder: Path, words: str, limit: int | None = None) -> FeatureFile:
    """The features of a folder of sounds, images or arrays, or of the first `limit` files. Raises UsageError."""
    plan = preprocess.parse(words, samples.words())
    if not folder.is_dir():
        hint = "give a folder of .wav files, images or .npy files, or one with a folder for each class"
        raise UsageError("is no folder of samples", where=str(folder), hint=hint)
    source = samples.contents(folder, plan)
    shape = moved(source.columns[0], plan)
    t = TensorType((1, *shape), "f32")
    graph = Graph("features", {"x": Tensor("x", t, label="x")}, (), ("x",), ())
    found = samples.load(folder, graph, limit=limit, preprocess=words, with_labels=True, to_run=True)
    made = identity.of(plan, source.columns[0].rate)
    classes = folders.listing(folder).classes
    labels = found.labels if isinstance(found.labels, np.ndarray) else None  # folders have a class for each file
    return FeatureFile(found.arrays[0].reshape(-1, *shape), labels, replace(made, classes=classes))
