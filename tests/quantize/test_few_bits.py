# SPDX-License-Identifier: Apache-2.0
"""Weights of 2 bits and ternary weights: their integers, error feedback, files and the C made of these."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import UsageError
from mcugen.formats import read, registry
from mcugen.quantize import quantize_model, rounding
from mcugen.quantize.recipe import ODD, TERNARY, Widths
from mcugen.quantize.rounding import Moments
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.quantize.test_blocks import network, samples

GRIDS = {ODD: {-3, -1, 1, 3}, TERNARY: {-1, 0, 1}, 4: set(range(-7, 8))}


def moments(rng: np.random.Generator, taps: int) -> Moments:
    x = rng.normal(size=(400, taps)) @ rng.normal(size=(taps, taps))
    return Moments(len(x), x.mean(axis=0)[None], np.zeros((1, 6)), (x.T @ x / len(x))[None], None)


@pytest.mark.parametrize("bits", GRIDS)
def test_integers_are_those_nearest_to_the_weights(bits: int) -> None:
    steps = np.random.default_rng(1).normal(0, 2, 2000)
    grid = np.array(sorted(GRIDS[bits]))
    wanted = grid[np.abs(steps[:, None] - grid).argmin(axis=1)]
    np.testing.assert_array_equal(rounding.on_grid(steps, bits), wanted)


@pytest.mark.parametrize("bits", [ODD, TERNARY])
def test_feedback_of_errors_gains_two_decibels_over_the_nearest(bits: int) -> None:
    rng = np.random.default_rng(2)
    w, m = rng.normal(size=(1, 6, 48)), moments(rng, 48)
    nearest = rounding.nearest(w, rounding.scales(w, bits), bits)
    found = rounding.least_squares(w.copy(), m, bits)
    assert {*np.unique(found.integers).astype(int).tolist()} <= GRIDS[bits]
    noise = [float(np.einsum("gok,gkl,gol->", r.real - w, m.xx, r.real - w)) for r in (nearest, found)]
    assert 10 * np.log10(noise[0] / noise[1]) > 2


@pytest.mark.parametrize(("bits", "file_format"), [(ODD, "onnx"), (TERNARY, "tflite")])
def test_files_hold_them_in_four_bits_and_the_c_computes_them(tmp_path: Path, bits: int, file_format: str) -> None:
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format=file_format, widths=Widths(bits))
    found = quantize_model.quantize(network(tmp_path), samples(tmp_path), choices)
    path = tmp_path / f"written.{file_format}"
    path.write_bytes(found.written(file_format))
    again = read.load(path, registry.load())
    weights = [t for t in again.tensors.values() if t.type.dtype == "s4" and t.data is not None]
    assert len(weights) == 4
    assert {int(v) for t in weights if t.data is not None for v in np.unique(t.data)} <= GRIDS[bits]
    artifact = mcugen.compile(path, name="net")
    assert host.verify(artifact, list(cases(artifact.imported, 1))).agrees


def of_layer(layer: str) -> quantize_model.QuantizeOptions:
    return quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx", layers=(layer,))


def test_a_single_layer_has_few_bits(tmp_path: Path) -> None:
    found = quantize_model.quantize(network(tmp_path), samples(tmp_path), of_layer("v2_0=wt"))
    few = [t.label for t in found.graph.tensors.values() if t.type.dtype == "s4"]
    assert len(few) == 1
    with pytest.raises(UsageError, match="'v2_0=w3' does not give bits to a layer"):
        quantize_model.quantize(network(tmp_path), samples(tmp_path), of_layer("v2_0=w3"))
