"""Sparse constants of .tflite files: the indices of the stored elements, from checked parameters.

Storage is a tree with one level per axis. A dense level has all indices of its axis; a sparse one lists the stored
indices for each entry of the level above. If a tensor of rank d has blocks, the blocks' axes are numbered from d on.
Source: TensorFlow Lite schema, SparsityParameters; format_converter.cc, SparseToDense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcugen.errors import CorruptModelError
from mcugen.ir.types import Shape


@dataclass(frozen=True, eq=False)
class Level:
    """One level of the storage: the axis's size if it is dense, else segments and indices.

    The stored indices for entry k of the level above are indices[segments[k]:segments[k + 1]].
    """

    size: int
    segments: np.ndarray | None = None
    indices: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Sparsity:
    """Storage of a sparse tensor.

    order: the axis of each level; block_map: the tensor's axis that each axis of the blocks divides
    """

    order: tuple[int, ...]
    block_map: tuple[int, ...]
    levels: tuple[Level, ...]


def places(sparsity: Sparsity, shape: Shape) -> np.ndarray:
    """The flat index of each stored element in the dense tensor. Raises CorruptModelError for damaged parameters."""
    sizes = _sizes(sparsity, shape)
    total = math.prod(shape)
    found = np.zeros((1, len(sizes)), np.int64)
    at = np.zeros(1, np.int64)
    for axis, level in zip(sparsity.order, sparsity.levels, strict=True):
        rows, index, at = _entries(level, at, sizes[axis], total)
        found = found[rows]
        found[:, axis] = index
    rank = len(shape)
    dense = found[:, :rank].copy()
    for k, axis in enumerate(sparsity.block_map):
        dense[:, axis] = dense[:, axis] * sizes[rank + k] + found[:, rank + k]
    return np.asarray(np.ravel_multi_index(tuple(dense.T), shape)) if rank else np.zeros(1, np.int64)


def _sizes(sparsity: Sparsity, shape: Shape) -> list[int]:
    """Sizes of the tensor's axes, counted in blocks, followed by sizes of the blocks' axes."""
    rank, blocks = len(shape), len(sparsity.block_map)
    if sorted(sparsity.order) != list(range(rank + blocks)) or len(sparsity.levels) != rank + blocks:
        raise CorruptModelError(f"sparse storage of {len(sparsity.levels)} levels does not fit rank {rank}")
    if len(set(sparsity.block_map)) != blocks or any(not 0 <= axis < rank for axis in sparsity.block_map):
        raise CorruptModelError(f"blocks of axes {list(sparsity.block_map)} do not fit rank {rank}")
    sizes = [*shape, *(0,) * blocks]
    for axis, level in zip(sparsity.order, sparsity.levels, strict=True):
        if axis >= rank:
            divided = sparsity.block_map[axis - rank]
            if level.segments is not None or level.size < 1 or shape[divided] % level.size:
                raise CorruptModelError(f"blocks of {level.size} do not divide an axis of {shape[divided]}")
            sizes[axis] = level.size
            sizes[divided] = shape[divided] // level.size
    return sizes


def _entries(level: Level, above: np.ndarray, size: int, total: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of a level: (entry of the level above, index along the axis, entry number in this level).

    above: entry numbers of the level above; size: size of the axis; total: greatest number of entries allowed
    """
    if level.segments is None or level.indices is None:
        if level.size != size or above.size * size > total:
            raise CorruptModelError(f"a dense level of {level.size} does not fit an axis of {size}")
        rows = np.repeat(np.arange(above.size), size)
        index = np.tile(np.arange(size), above.size)
        return rows, index, above[rows] * size + index
    segments, indices = level.segments.astype(np.int64), level.indices.astype(np.int64)
    if above.size and int(above.max()) + 1 >= segments.size:
        raise CorruptModelError(f"{segments.size} segments are too few for the level above")
    first, end = segments[above], segments[above + 1]
    if (first < 0).any() or (end < first).any() or (end > indices.size).any() or int((end - first).sum()) > total:
        raise CorruptModelError("segments of sparse storage do not ascend, or point past the indices")
    counts = end - first
    rows = np.repeat(np.arange(above.size), counts)
    at = first[rows] + np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    index = indices[at]
    if index.size and (int(index.min()) < 0 or int(index.max()) >= size):
        raise CorruptModelError(f"an index of sparse storage is outside an axis of {size}")
    return rows, index, at
