# SPDX-License-Identifier: Apache-2.0
"""Damaged files: each gives a build or a McugenError, within 2 s and 500 MB; soak.py runs all of them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from mcugen.errors import CorruptModelError
from mcugen.formats.tflite import flatbuffer
from tests.formats import damage, small_models, soak
from tests.formats.edits import Editor


def _explained(verdicts: list[damage.Verdict], names: list[str] | None = None) -> str:
    return "\n".join(f"{names[v.case] if names else v.case}: {v.text}" for v in damage.failures(verdicts)[:5])


def test_a_file_cut_at_any_byte_is_refused() -> None:
    verdicts = damage.judge(damage.truncations(small_models.three_dense()))
    assert len(verdicts) == len(small_models.three_dense())
    assert not damage.failures(verdicts), _explained(verdicts)
    assert {v.kind for v in verdicts} == {damage.REFUSED}
    assert all(v.text.startswith("CorruptModelError") for v in verdicts)


def test_a_twentieth_of_the_byte_flips() -> None:
    verdicts = damage.judge(soak.flipped_files(soak.FLIPS // 20))
    assert len(verdicts) == soak.FLIPS // 20
    assert not damage.failures(verdicts), _explained(verdicts)
    assert {v.kind for v in verdicts} == {damage.BUILT, damage.REFUSED}


def test_edited_fields_of_every_own_model() -> None:
    names, files = soak.edited_files(every=4800)
    verdicts = damage.judge(files)
    assert len(verdicts) == len(files) > 22
    assert not damage.failures(verdicts), _explained(verdicts, names)


def test_the_limits_are_real(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(path: object, choices: object) -> tuple[str, str]:
        return damage.BUILT, str(len(np.ones(MEMORY := 80_000_000)) + MEMORY)  # 640 MB

    def endless(path: object, choices: object) -> tuple[str, str]:
        while time.process_time() < 60:
            pass
        return damage.BUILT, ""

    def guarded(path: object, choices: object) -> tuple[str, str]:
        try:
            return greedy(path, choices)
        except MemoryError:
            return damage.FAILED, "out of memory"

    monkeypatch.setattr(damage, "attempt", guarded)
    assert [v.text for v in damage.judge([b"", b""])] == ["out of memory"] * 2
    monkeypatch.setattr(damage, "CPU_SECONDS", 0.2)
    monkeypatch.setattr(damage, "attempt", endless)
    assert [v.text for v in damage.judge([b"", b""])] == ["ended by SIGPROF"] * 2


def test_tables_that_share_their_parts_are_not_read_for_ever() -> None:
    editor = Editor(small_models.shared_name(tensors=400, name_bytes=20_000))
    with pytest.raises(CorruptModelError, match="overlap"):
        flatbuffer.read(editor.data())
