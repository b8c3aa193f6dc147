# SPDX-License-Identifier: Apache-2.0
"""The sweep of PyTorch's layers, without PyTorch: its table, and its verdicts on files written here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.formats.onnx_models import Writer
from tests.torch_files.judge import Verdict, difference, verdicts
from tests.torch_files.rows import rows
from tests.torch_files.soak import faults


def test_every_row_is_python_and_has_inputs() -> None:
    found = rows()
    assert len(found) * 2 >= 500 and len({(row.layer, row.inputs) for row in found}) == len(found)
    for row in found:
        compile(row.layer, "layers.txt", "eval")
        assert all(kind[0] in "fibpu" and min(shape) > 0 for kind, shape in row.inputs) and row.inputs
    assert [row.number for row in rows(["nn.Conv3d"])] == sorted(
        row.number for row in found if "nn.Conv3d" in row.layer
    )


@pytest.mark.whole  # needs ONNX Runtime, which ci/soak installs
@pytest.mark.parametrize("by_oracle", [False, True])
def test_files_are_judged_against_the_runtime(tmp_path: Path, by_oracle: bool) -> None:
    """A layer that is equal, one that is refused, and one that the other exporter did not write."""
    equal, refused = Writer(), Writer()
    files = {"1.torchscript": equal.model(equal.node("Relu", [equal.input([1, 3])]))}
    files["2.torchscript"] = refused.model(refused.node("Det", [refused.input([2, 2])]))
    for name, model in files.items():
        (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    np.savez(tmp_path / "1.npz", np.array([[-1, 0, 2]], np.float32))
    np.savez(tmp_path / "2.npz", np.eye(2, dtype=np.float32))
    (tmp_path / "dynamo.json").write_text(json.dumps({"1": "no aten::odd"}))
    found = list(verdicts(tmp_path, by_oracle=by_oracle))
    assert [(v.exporter, v.row.number, v.outcome) for v in found] == [
        ("torchscript", 1, "equal"),
        ("torchscript", 2, "refused"),
        ("dynamo", 1, "not exported"),
    ]
    assert "Det" in found[1].why and found[2].why == "no aten::odd"


def test_differences_and_too_few_files_are_faults() -> None:
    one = np.array([1.0, 2.0], np.float32)
    assert not difference([one + np.float32(1e-6)], [one], [one])
    assert "(1 of 2 differ)" in difference([one + np.float32([0, 0.1])], [one], [one])
    assert "not float32 [1, 2]" in difference([one], [one[None]], [one])
    row = rows()[0]
    refused = [Verdict(row, "dynamo", "refused", "why")]
    many = [Verdict(row, "dynamo", "equal")] * 600
    assert not faults(many + refused, f"`{row.layer}`: why")
    assert len(faults(many + refused, "")) == 1
    assert len(faults([*many, Verdict(row, "dynamo", "wrong", "why")], "")) == 1
    assert len(faults(many[:400], "")) == 1 and len(faults(many + refused * 30, row.layer)) == 2
