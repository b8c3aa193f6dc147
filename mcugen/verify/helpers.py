"""Compares the header's functions for real numbers, NAME_..._quantize and _dequantize, with the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mcugen.ir.types import TensorType
from mcugen.machines.toolchain import process
from mcugen.oracle import quantized
from mcugen.pipeline import Artifact

_RANDOM = 2000
_TIMEOUT_S = 60.0


def differences(artifact: Artifact, program: Path) -> Iterator[str]:
    """A text with the first differing value for each function that differs. program: the verifying program."""
    graph, view = artifact.imported, artifact.view
    for name, end in zip((*graph.inputs, *graph.outputs), (*view.inputs, *view.outputs), strict=True):
        if end.scale and end.is_narrow:
            t = graph.type(name)
            x = _reals(t) if end.is_input else _stored(t)
            expected = quantized.from_real(x, t).astype(t.np_dtype) if end.is_input else quantized.to_real(x, t)
            done = process.run_checked([program, end.function], stdin=x.tobytes(), timeout_s=_TIMEOUT_S)
            got = np.frombuffer(done.stdout, expected.dtype)
            wrong = np.flatnonzero(got != expected) if got.size == expected.size else [0]
            if len(wrong):
                k, way = int(wrong[0]), "quantize" if end.is_input else "dequantize"
                yield f"{end.function}_{way}({x[k]:.9g}) gives {got[k : k + 1]}, the oracle {expected[k : k + 1]}"


def _stored(t: TensorType) -> np.ndarray:
    """Every value of an 8-bit type; for 16 bits, both ends, 0, and random values."""
    info = np.iinfo(t.np_dtype)
    if info.bits == 8:
        return np.arange(info.min, info.max + 1).astype(t.np_dtype)
    rng = np.random.default_rng(0)
    return np.concatenate([[info.min, info.max, 0], rng.integers(info.min, info.max, _RANDOM)]).astype(t.np_dtype)


def _reals(t: TensorType) -> np.ndarray:
    """Float32 test numbers: values of stored integers, halfway between two, next to these, and far outside."""
    steps = np.unique(_stored(t).astype(np.int64)) - t.zero_point
    scale = np.float32(t.scale)
    with np.errstate(over="ignore"):
        places = np.concatenate([steps, steps + 0.5, [-0.0, 0.5, -0.5]]).astype(np.float32) * scale
        beside = [np.nextafter(places, np.float32(end)) for end in (-np.inf, np.inf)]
        far = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38], np.float32)
        rng = np.random.default_rng(1)
        spread = rng.uniform(2 * steps.min() - 1, 2 * steps.max() + 1, _RANDOM).astype(np.float32) * scale
    return np.concatenate([places, *beside, far, spread]).astype(np.float32)
