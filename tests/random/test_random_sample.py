# SPDX-License-Identifier: Apache-2.0
"""Recorded random models: the oracle computes what ONNX Runtime did, and the C what the oracle does."""

from __future__ import annotations

from collections import Counter

from tests.random import judging
from tests.random.recording import Recorded


def test_random_models_are_computed_as_by_the_runtime() -> None:
    sample = Recorded()
    verdicts = judging.judged_together(sample, range(len(sample.models)))
    assert not [verdict for verdict in verdicts if verdict.outcome in judging.FAILURES]
    counts = Counter(verdict.outcome for verdict in verdicts)
    assert counts[judging.EQUAL] >= (1 - sample.LIKELY) * len(verdicts) and len(verdicts) > 30
