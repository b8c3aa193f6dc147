"""The test models: oracle and generated C against what LiteRT and TFLM computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import conformance, vectors

NAMES = vectors.model_names()
EVERY = 3
"""Models whose C runs against the recordings: one of so many; with --whole, all of them."""


def test_there_is_a_model_with_vectors_for_each_family() -> None:
    assert len(NAMES) >= 130
    assert all((vectors.MODELS / f"{name}.npz").is_file() for name in NAMES)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_equals_the_runtimes(name: str) -> None:
    differences = vectors.oracle_differences(name)
    assert not differences, "\n".join(differences[:8])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "built" in metafunc.fixturenames:
        metafunc.parametrize("built", NAMES[:: 1 if metafunc.config.getoption("--whole") else EVERY])


@pytest.mark.sampled(2)
def test_the_generated_code_equals_the_runtimes(built: str, tmp_path: Path) -> None:
    group = vectors.group(built)
    problems = conformance.run_host(conformance.compile_host(group, tmp_path), list(group.cases))
    assert not problems, "\n".join(map(str, problems[:8]))
    assert {which for case in group.cases for which in case.expected} == set(vectors.load(built).outputs)


@pytest.mark.parametrize("name", NAMES)
def test_what_tflm_refuses_is_known_at_build_time(name: str) -> None:
    predicted = vectors.imported(name).refusals["tflm"]
    recorded = vectors.load(name).refused
    assert bool(predicted) == bool(recorded), f"predicted: {predicted or 'runs'}; recorded: {recorded or 'runs'}"
