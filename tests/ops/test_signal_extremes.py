# SPDX-License-Identifier: Apache-2.0
"""Roots, noise estimates, gains and logarithms where bit lengths and roundings change: C against the oracle."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

import mcugen
from mcugen.oracle import interpreter
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from tests.support.tflite_writer import ModelWriter

Inputs = Sequence[np.ndarray]


def ends(bits: int) -> np.ndarray:
    """Numbers beside each power of 2, and the least and largest ones."""
    near = {(1 << k) + d for k in range(bits + 1) for d in (-2, -1, 0, 1, 2)} | {(3 << k) + 1 for k in range(bits - 1)}
    return np.array(sorted(v for v in near if 0 <= v < 1 << bits), np.uint64)


def pairs() -> Inputs:
    """All pairs of such numbers of 32 bits, some of them."""
    a, b = (v.reshape(-1) for v in np.meshgrid(ends(32), ends(32)))
    return [a[::7].astype(np.uint32), b[::7].astype(np.uint32)]


def squares() -> Inputs:
    """Numbers at which a rounded root changes, and all others that `ends` has."""
    rng = np.random.default_rng(5)
    roots = np.concatenate([rng.integers(0, 1 << k, 40) for k in (4, 8, 12, 16, 20, 24, 28, 32)]).astype(np.uint64)
    roots = np.concatenate([roots, ends(24), [65534, 65535, 65536, (1 << 32) - 1]]).astype(np.uint64)
    turns = np.concatenate([roots * roots + d for d in (roots, roots + 1, np.uint64(0), 2 * roots)])
    return [np.concatenate([turns, ends(64)]).astype(np.uint64), np.array(0, np.int32)]


def written(
    folder: Path, name: str, given: Inputs, results: tuple[str, ...], gains: bool, fixed: Inputs = (), **options: int
) -> Path:
    """A model of one operator on these inputs, then on `fixed`, which are constants."""
    m, shape = ModelWriter(), given[0].shape
    dtypes = {np.dtype(np.uint32): "u32", np.dtype(np.uint64): "u64", np.dtype(np.int32): "s32"}
    inputs = [m.tensor(f"x{k}", a.shape, dtypes[a.dtype]) for k, a in enumerate(given)]
    constants = [m.tensor(f"c{k}", a.shape, dtypes[a.dtype], data=a) for k, a in enumerate(fixed)]
    table = np.random.default_rng(2).integers(-32768, 32768, 125).astype(np.int16)
    constants += [m.tensor("gains", table.shape, "s16", data=table)] if gains else []
    outputs = [m.tensor(f"y{k}", shape, dtype) for k, dtype in enumerate(results)]
    data = bytes(flexbuffers.Dumps(dict(sorted(options.items()))))
    m.op("CUSTOM", [*inputs, *constants], outputs, custom_code=f"Signal{name}", custom_options=data)
    path = folder / "signal.tflite"
    path.write_bytes(m.build(inputs, outputs))
    return path


def roots(folder: Path) -> tuple[Path, Inputs]:
    given = squares()
    return written(folder, "FilterBankSquareRoot", given, ("u32",), gains=False), given


def gain(folder: Path) -> tuple[Path, Inputs]:
    """Random gains, of which half are negative, and products that leave 32 bits."""
    given = pairs()
    return written(folder, "PCAN", given, ("u32",), gains=True, snr_shift=6), given


def wide_gain(folder: Path) -> tuple[Path, Inputs]:
    given = pairs()
    return written(folder, "PCAN", given, ("u32",), gains=True, snr_shift=21), given


def gain_of_constant_noise(folder: Path) -> tuple[Path, Inputs]:
    x, noise = pairs()
    return written(folder, "PCAN", [x], ("u32",), gains=True, fixed=[noise], snr_shift=6), [x]


def logarithm(folder: Path) -> tuple[Path, Inputs]:
    given = [ends(32).astype(np.uint32)]
    options = {"input_correction_bits": 3, "output_scale": 64}
    return written(folder, "FilterBankLog", given, ("s16",), gains=False, **options), given


def clamped_logarithm(folder: Path) -> tuple[Path, Inputs]:
    given = [ends(32).astype(np.uint32)]
    options = {"input_correction_bits": 0, "output_scale": 40000}
    return written(folder, "FilterBankLog", given, ("s16",), gains=False, **options), given


def subtraction(folder: Path) -> tuple[Path, Inputs]:
    given = [ends(32).astype(np.uint32)]
    options = {
        "smoothing": 409, "one_minus_smoothing": 15975, "alternate_smoothing": 983,
        "alternate_one_minus_smoothing": 15401, "smoothing_bits": 10, "spectral_subtraction_bits": 14,
        "min_signal_remaining": 819, "clamping": 0, "num_channels": given[0].size,
    }  # fmt: skip
    return written(folder, "FilterBankSpectralSubtraction", given, ("u32", "u32"), gains=False, **options), given


EXTREMES = [roots, gain, wide_gain, logarithm, gain_of_constant_noise, clamped_logarithm, subtraction]


def sets(given: Inputs) -> list[Inputs]:
    """The inputs of three runs: later ones have the numbers in another order."""
    return [[np.roll(a, 11 * k) if a.ndim else a for a in given] for k in range(3)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("made", EXTREMES)
def test_extremes_are_those_of_the_oracle(made: Callable[[Path], tuple[Path, Inputs]], tmp_path: Path) -> None:
    path, given = made(tmp_path)
    model = mcugen.load(path)
    graph = mcugen.compile(path, name="m").imported
    for inputs, values in zip(sets(given), interpreter.runs(graph, sets(given), "tflm"), strict=True):
        found = model.run(*inputs)
        for a, name in zip(found if isinstance(found, tuple | list) else [found], graph.outputs, strict=True):
            np.testing.assert_array_equal(np.asarray(a).reshape(values[name].shape), values[name])


@pytest.mark.whole
@pytest.mark.parametrize("made", EXTREMES)
def test_cores_have_them_too(made: Callable[[Path], tuple[Path, Inputs]], tmp_path: Path, emulated_core: str) -> None:
    path, given = made(tmp_path)
    artifact = mcugen.compile(path, name="m", board=emulated_core)
    first = next(iter(cases(artifact.imported, 1)))
    then = tuple(sets(given)[1:]) if artifact.imported.states else ()
    case = dataclasses.replace(first, inputs=given, then=then)
    assert emulated.simulate(artifact, [case]).verdict.exact


def test_numbers_of_64_bits_are_drawn(tmp_path: Path) -> None:
    graph = mcugen.compile(roots(tmp_path)[0], name="m").imported
    drawn = [case.inputs[0] for case in cases(graph, 1)]
    assert max(int(x.max()) for x in drawn) == 2**64 - 1
    assert len(set(drawn[0].tolist())) == drawn[0].size
