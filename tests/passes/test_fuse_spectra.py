# SPDX-License-Identifier: Apache-2.0
"""From samples to energies in one step: which operators it takes in, and its bits, also where sums wrap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import passes
from mcugen.ir.graph import Graph
from mcugen.ops.power_spectrum import PowerSpectrum
from mcugen.oracle import fourier
from mcugen.verify import emulated, host
from mcugen.verify.cases import Case, cases
from tests.passes.front import Front
from tests.passes.net import differences, read

LENGTHS = {512: 480, 256: 256, 60: 60, 1024: 1024, 400: 399, 486: 240, 128: 100}
"""Numbers of a transform -> samples. Among their stages are all radices, first and not first."""


def whole_front(length: int, samples: int) -> bytes:
    """All four operators."""
    front = Front(length, samples)
    x, bits = front.scaled(front.flat(front.window(front.x)))
    return front.build(front.energies(front.spectrum(x), 3, length // 2 - 2), bits)


def plain_front(length: int, samples: int) -> bytes:
    """A transform and its energies."""
    front = Front(length, samples)
    return front.build(front.energies(front.spectrum(front.flat(front.x)), 0, length // 2 + 1))


def spectrum_alone(length: int, samples: int) -> bytes:
    front = Front(length, samples)
    return front.build(front.spectrum(front.flat(front.x)))


def turning(length: int, samples: int, seed: int) -> np.ndarray:
    """Words of -32768 and 32767 that turn at one frequency: nearly all of their transforms wrap."""
    rng, at = np.random.default_rng(seed), np.arange(length // 2)
    z = np.exp(2j * np.pi * (rng.integers(0, length // 2) * at / (length // 2) + rng.uniform()))
    words = np.where(np.stack([z.real, z.imag], axis=1).reshape(-1) >= 0, 32767, -32768)
    return words.astype(np.int16)[None, :samples]


def inputs_of(graph: Graph, length: int, turns: int) -> list[Case]:
    """Random samples, extremes, and samples whose sums wrap."""
    (samples,) = (graph.type(name).size for name in graph.inputs)
    wrapping = [Case(f"turning {seed}", (turning(length, samples, seed),)) for seed in range(turns)]
    return [*list(cases(graph, 1))[:3], *wrapping]


def spectra(graph: Graph) -> list[PowerSpectrum]:
    return [node.op for node in graph.nodes if isinstance(node.op, PowerSpectrum)]


def test_turning_words_wrap() -> None:
    """At least nine of ten transforms of 512: their results are not those of a transform that cannot wrap."""
    x = np.concatenate([turning(512, 512, seed) for seed in range(50)])
    exact = np.fft.rfft(x.astype(np.float64)) / 512
    y = fourier.forward(x.astype(np.int64), 16)
    apart = np.maximum(np.abs(exact.real - y[:, 0::2]), np.abs(exact.imag - y[:, 1::2]))
    assert (apart.max(axis=1) > 40).sum() >= 45


@pytest.mark.sampled(8)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("front", [whole_front, plain_front, spectrum_alone])
def test_c_equals_the_separate_operators(front: Any, length: int, tmp_path: Path) -> None:
    path = tmp_path / "front.tflite"
    path.write_bytes(front(length, LENGTHS[length]))
    artifact = mcugen.compile(path)
    assert len(spectra(artifact.graph)) == (front is not spectrum_alone)
    assert host.verify(artifact, inputs_of(artifact.imported, length, 8)).exact


@pytest.mark.whole
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("front", [whole_front, plain_front, spectrum_alone])
def test_cores_equal_the_separate_operators(front: Any, length: int, emulated_core: str, tmp_path: Path) -> None:
    path = tmp_path / "front.tflite"
    path.write_bytes(front(length, LENGTHS[length]))
    artifact = mcugen.compile(path, board=emulated_core, optimize="speed")
    assert emulated.simulate(artifact, inputs_of(artifact.imported, length, 4)).exact


def test_all_operators_become_one_step_that_holds_no_other_tensor(tmp_path: Path) -> None:
    before = read(whole_front(512, 480), tmp_path)
    after = passes.run(before, "tflm")
    assert spectra(after) == [PowerSpectrum(512, 3, 254, 12, True)] and len(after.nodes) == 1
    assert [part.what for part in after.removed].count("fused spectra") == 4
    assert differences(before, after, "tflm") == []


def test_what_another_node_reads_stays(tmp_path: Path) -> None:
    front = Front(64, 64)
    windowed = front.window(front.x)
    x, bits = front.scaled(front.flat(windowed))
    y = front.energies(front.spectrum(x), 0, 9)
    graph = passes.run(read(front.build(y, bits, windowed), tmp_path), "tflm")
    assert spectra(graph) == [PowerSpectrum(64, 0, 9, None, True)]


@pytest.mark.parametrize("read_too", [0, 1])
def test_a_spectrum_or_scaled_samples_that_are_read_are_computed(read_too: int, tmp_path: Path) -> None:
    front = Front(64, 64)
    x, bits = front.scaled(front.flat(front.window(front.x)))
    spectrum = front.spectrum(x)
    y = front.energies(spectrum, 0, 9)
    graph = passes.run(read(front.build(y, bits, (x, spectrum)[read_too]), tmp_path), "tflm")
    assert [found.scales for found in spectra(graph)] == [[False], []][read_too]
