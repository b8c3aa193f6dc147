# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of samples: small graphs, arrays, files, and the check of an error."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Tensor
from mcugen.ir.types import TensorType
from mcugen.samples import load

IMAGE = (1, 3, 8, 6)


def graph(*inputs: tuple[str, tuple[int, ...]], dtype: str = "f32") -> Graph:
    """A graph of inputs alone, by default one image."""
    given = inputs or (("image", IMAGE),)
    tensors = {f"t{k}": Tensor(f"t{k}", TensorType(shape, dtype), label=name) for k, (name, shape) in enumerate(given)}
    return Graph("net", tensors, (), tuple(tensors), ())


def images(n: int = 5, shape: tuple[int, ...] = IMAGE[1:]) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((n, *shape)).astype(np.float32)


def saved(tmp_path: Path, **arrays: np.ndarray) -> Path:
    path = tmp_path / "calib.npz"
    np.savez(path, **arrays)
    return path


def refused(path: Path, net: Graph, *parts: str, **choices: Any) -> None:
    """Loading raises UsageError, quickly and without much memory, with every part in what the user reads."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(UsageError) as caught:
        load(path, net, **choices)
    text = caught.value.explain()
    assert "hint: " in text
    for part in parts:
        assert part in text, text
    assert time.monotonic() - start < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 900_000
