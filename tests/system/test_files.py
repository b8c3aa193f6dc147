# SPDX-License-Identifier: Apache-2.0
"""Files that the user names are read at once: what is no regular file is refused, and nothing waits or grows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import mcugen
from mcugen.errors import UsageError
from mcugen.system import files
from mcugen.verify import golden
from tests.support.plugin import ROOT, run

DIGITS = ROOT / "examples" / "digits" / "digits.tflite"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/random", "pipe", "folder"])
def test_a_model_that_is_no_regular_file(device: str, tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    if device == "pipe":
        os.mkfifo(model)
    elif device == "folder":
        model.mkdir()
    else:
        model.symlink_to(device)
    done = run(tmp_path, "build", model, "-o", tmp_path / "out", timeout_s=20)
    reason = "is not a model file that mcugen reads" if device == "folder" else "is not a regular file"
    assert done.returncode == 2 and reason in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_a_link_to_a_model_is_a_model(tmp_path: Path) -> None:
    (tmp_path / "linked.tflite").symlink_to(DIGITS)
    assert mcugen.compile(tmp_path / "linked.tflite").name == "linked"


def test_recorded_vectors_that_are_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "golden.npz")
    imported = mcugen.compile(DIGITS).imported
    with pytest.raises(UsageError, match="is not a regular file"):
        golden.cases(tmp_path / "golden.npz", imported)
    (tmp_path / "other.npz").write_bytes(b"PK")
    with pytest.raises(UsageError, match=r"other\.npz cannot be read"):
        golden.cases(tmp_path / "other.npz", imported)


def test_what_is_too_large_or_absent(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(11))
    assert files.read(file, 11) == bytes(11)
    with pytest.raises(UsageError, match="is larger than 10 bytes"):
        files.read(file, 10)
    with pytest.raises(UsageError, match="No such file"):
        files.read(tmp_path / "absent")
    with pytest.raises(UsageError, match="cannot read"):
        files.read(Path("a\0b"))
