"""The claims of `ci/quantize --check` on a small network: they hold, and they are missed where the bar is too high."""

from __future__ import annotations

import numpy as np
import pytest

from tests.quantize import claims
from tests.quantize.test_quantize import network, samples


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> claims.Case:
    folder = tmp_path_factory.mktemp("claims")
    data = samples(folder / "calib.npz", 24)
    return claims.Case(network(folder / "small_net.onnx"), data, data)


@pytest.mark.whole
@pytest.mark.parametrize("name", ["sixteen", "few"])
def test_claims_hold_and_can_be_missed(case: claims.Case, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(claims.GAIN_16, "small", 10.0)
    assert claims.check(name, case)
    monkeypatch.setitem(claims.GAIN_16, "small", 200.0)
    monkeypatch.setattr(claims, "_MARGIN", -200.0)
    assert not claims.check(name, case)


@pytest.mark.whole
def test_a_case_finds_its_bar_by_a_word_of_its_name(case: claims.Case) -> None:
    assert case.bar({"small": 3.0, "other": 4.0}) == 3.0
    assert case.bar({"mall": 3.0}) is None
    assert np.isfinite(claims.sqnr(case.made(limit=12)))
