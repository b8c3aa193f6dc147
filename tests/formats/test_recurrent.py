# SPDX-License-Identifier: Apache-2.0
"""Damaged and unusual recurrent layers of .tflite files: each is refused with what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.errors import InternalError, McugenError
from mcugen.formats import read, registry
from tests.support.tflite_writer import ModelWriter

B, T, N, H = 1, 2, 3, 4
Change = Callable[[ModelWriter, dict[int, int]], dict[str, Any] | None]


def load(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(content)
    read.load(path, registry.load())


def lstm(change: Change, name: str = "UNIDIRECTIONAL_SEQUENCE_LSTM", shape: tuple[int, ...] = (B, T)) -> bytes:
    """An int8 layer that is sound but for what `change` does to its operands, or returns as options."""
    m = ModelWriter()
    at = {0: m.tensor("x", (*shape, N), "s8", scale=0.1)}
    for k in range(4):
        at[1 + k] = m.tensor(f"w{k}", (H, N), "s8", scale=0.01, data=np.ones((H, N)))
        at[5 + k] = m.tensor(f"r{k}", (H, H), "s8", scale=0.01, data=np.ones((H, H)))
        at[12 + k] = m.tensor(f"b{k}", (H,), "s32", scale=0.001, data=np.ones(H))
    at[18] = m.tensor("h", (B, H), "s8", scale=1 / 128, is_variable=True)
    at[19] = m.tensor("c", (B, H), "s16", scale=2.0**-12, is_variable=True)
    options = {"fused_activation_function": "TANH", **(change(m, at) or {})}
    last = 1 + max(at, default=-1) if at.pop(-1, None) is not None else 24
    y = m.tensor("y", (*shape, H), "s8", scale=1 / 128)
    m.op(name, [at.get(k, -1) for k in range(last)], [y], options)
    return m.build([at.get(0, 0)], [y])


def svdf(change: Change) -> bytes:
    m = ModelWriter()
    at = {
        0: m.tensor("x", (1, N), "s8", scale=0.1),
        1: m.tensor("features", (H, N), "s8", scale=0.01, data=np.ones((H, N))),
        2: m.tensor("times", (H, T), "s8", scale=0.01, data=np.ones((H, T))),
        3: m.tensor("bias", (H,), "s32", scale=0.001, data=np.ones(H)),
        4: m.tensor("memory", (1, H * T), "s8", scale=0.1, is_variable=True),
    }
    options = {"rank": 1, **(change(m, at) or {})}
    y = m.tensor("y", (1, H), "s8", scale=0.1)
    m.op("SVDF", [at.get(k, -1) for k in range(1 + max(at, default=-1))], [y], options)
    return m.build([at.get(0, 0)], [y])


def put(k: int, shape: tuple[int, ...], dtype: str = "s8", **more: Any) -> Change:
    """Operand k becomes another one; without a shape a computed one."""

    def change(m: ModelWriter, at: dict[int, int]) -> None:
        at[k] = m.tensor(f"other {k}", shape, dtype, **{"scale": 0.01, **more})

    return change


def without(*operands: int) -> Change:
    def change(m: ModelWriter, at: dict[int, int]) -> None:
        for k in operands:
            del at[k]

    return change


def cut(m: ModelWriter, at: dict[int, int]) -> None:
    """No operands at all."""
    at.clear()
    at[-1] = 0


def stated(**options: Any) -> Change:
    return lambda m, at: options


def norms(m: ModelWriter, at: dict[int, int]) -> None:
    for k in range(4):
        at[20 + k] = m.tensor(f"n{k}", (H,), "s16", scale=0.001, data=np.ones(H))


def stated_with(change: Change, **options: Any) -> Change:
    return lambda m, at: change(m, at) or options


ONES = {"data": np.ones((H, N))}
LSTMS: dict[str, tuple[Change, str]] = {
    "no operands": (cut, "needs 1|operand"),
    "no state": (without(18), "state"),
    "a state that is no variable": (put(18, (B, H), data=np.zeros((B, H))), "not a variable"),
    "a state of another size": (put(18, (B, H + 1), is_variable=True), "must have"),
    "a cell of another type": (put(19, (B, H), is_variable=True, scale=0.5), "not supported"),
    "a cell with an odd scale": (put(19, (B, H), "s16", scale=0.3, is_variable=True), "power of two"),
    "a cell without a scale": (put(19, (B, H), "s16", scale=None, is_variable=True), "scale"),
    "no weights of a gate": (without(3), "not a constant"),
    "weights of another width": (put(2, (H, N + 1), data=np.ones((H, N + 1))), "fit"),
    "weights with a zero point": (put(2, (H, N), zero_point=3, **ONES), "zero points"),
    "a gate coupled in part": (without(1), "coupled"),
    "weights of the cell for one gate": (put(10, (H,), "s16", data=np.ones(H)), "operands .9, .* not a constant"),
    "a projection of what has no scale": (put(16, (H, H), data=np.ones((H, H))), "intermediate values"),
    "a norm of one gate": (put(21, (H,), "s16", data=np.ones(H)), "operands .20, .* not a constant"),
    "norms of sums without scales": (norms, "intermediate values"),
    "a bound that is no number": (stated_with(without(1, 5, 12), cell_clip=float("inf")), "inf"),
    "another activation": (stated(fused_activation_function="RELU"), "RELU"),
}
SVDFS: dict[str, tuple[Change, str]] = {
    "no operands": (lambda m, at: at.clear(), "operand"),
    "no memory": (without(4), "needs 5|memory"),
    "a memory of another size": (put(4, (1, H * T + 1), is_variable=True), "does not fit"),
    "a memory that is no variable": (put(4, (1, H * T), data=np.ones((1, H * T))), "variable"),
    "a memory without a scale": (put(4, (1, H * T), scale=None, is_variable=True), "scale"),
    "a memory of another type": (put(4, (1, H * T), "s16", is_variable=True), "memory"),
    "rank 0": (stated(rank=0), "rank 0"),
    "a negative rank": (stated(rank=-3), "rank -3"),
    "a rank that does not divide": (stated(rank=3), "rank 3"),
    "features of another width": (put(1, (H, N + 1), data=np.ones((H, N + 1))), "vectors"),
    "a bias of another size": (put(3, (H + 1,), "s32", data=np.ones(H + 1)), "bias"),
}


def test_a_sound_one_is_read(tmp_path: Path) -> None:
    load(tmp_path, lstm(stated()))
    load(tmp_path, lstm(stated(), "LSTM", (B,)))
    load(tmp_path, svdf(stated()))


@pytest.mark.parametrize("name", LSTMS)
def test_damaged_lstms(name: str, tmp_path: Path) -> None:
    change, message = LSTMS[name]
    with pytest.raises(McugenError, match=message) as caught:
        load(tmp_path, lstm(change))
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize("name", SVDFS)
def test_damaged_filters(name: str, tmp_path: Path) -> None:
    change, message = SVDFS[name]
    with pytest.raises(McugenError, match=message) as caught:
        load(tmp_path, svdf(change))
    assert not isinstance(caught.value, InternalError)
