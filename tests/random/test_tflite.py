# SPDX-License-Identifier: Apache-2.0
"""Random .tflite networks of fixed seeds: the C against the oracle, with states over several runs, and refusals."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mcugen.errors import UnsupportedError
from mcugen.ir.graph import Graph
from mcugen.machines.toolchain.runtimes import Answer
from mcugen.oracle import interpreter
from tests.formats import damage
from tests.random import judging, mutants, tflite_networks
from tests.random.drawing import Drawn, Sets
from tests.random.kinds import tflite
from tests.runtimes.graphs import GraphSketch
from tests.runtimes.judging import imported


class _WithoutRuntimes:
    """The kind where no runtime is installed: the C is compared with the oracle alone."""

    LIKELY = tflite.LIKELY

    def draw(self, seed: int) -> Drawn:
        return tflite.draw(seed)

    def differs(self, drawn: Drawn, graph: Graph, oracle: Sets) -> str:
        return ""


def test_networks_of_fixed_seeds_are_right_in_c() -> None:
    verdicts = judging.judged_together(_WithoutRuntimes(), range(40, 46))
    wrong = [v for v in verdicts if v.outcome in judging.FAILURES]
    assert not wrong, wrong
    assert sum(v.outcome == judging.EQUAL for v in verdicts) >= 4


def test_a_network_with_states_is_right_run_after_run() -> None:
    seed = next(k for k in range(100) if tflite_networks.draw(k).kind == "recurrent")
    (verdict,) = judging.judged_together(_WithoutRuntimes(), [seed])
    assert verdict.outcome == judging.EQUAL, verdict


def test_the_judge_of_hybrid_recurrent_layers_finds_a_wrong_step() -> None:
    seed = next(k for k in range(500) if tflite_networks.draw(k).kind == "hybrid recurrent")
    network = tflite_networks.draw(seed)
    graph, sets = imported(network.drawn.model), network.drawn.sets
    values = interpreter.runs(graph, sets, "litert")
    right = [[value[name] for name in graph.outputs] for value in values]
    assert not tflite._recurrent(graph, "litert", sets, Answer(outputs=right))
    right[1][0] = right[1][0] + np.float32(1e-4) * np.abs(right[1][0]).max()
    (difference,) = tflite._recurrent(graph, "litert", sets, Answer(outputs=right))
    assert difference.startswith("litert run 1: ")


def test_an_operator_of_the_user_is_refused_by_its_name() -> None:
    for seed in range(4):
        with pytest.raises(UnsupportedError, match=re.escape(f"CUSTOM:{tflite_networks.CUSTOM}")):
            imported(tflite_networks.KINDS["custom"][1](seed).model)


def test_float_data_with_4_bit_weights_is_refused_where_no_runtime_computes_it() -> None:
    for seed in range(3):
        s = GraphSketch(f"nibbles {seed}", "f32")
        tflite_networks._four_bits("DEPTHWISE_CONV_2D")(s)
        with pytest.raises(UnsupportedError, match="no runtime has a kernel for float data with 4-bit weights"):
            imported(s.drawn().model)


def test_damaged_random_models_are_built_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damage, "CPU_SECONDS", 10)  # whole networks, not the small ones that the limit is for
    drawn = [mutants.draw(seed, mutants.DRAWN_ALONE) for seed in range(36)]
    for name in {own for _, own, _ in drawn}:
        verdicts = damage.judge([data for _, own, data in drawn if own == name], name=name)
        assert len(verdicts) > 2
        assert not damage.failures(verdicts), verdicts
