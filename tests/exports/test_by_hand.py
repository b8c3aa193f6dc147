# SPDX-License-Identifier: Apache-2.0
"""The recipe of docs/firmware.md for a build on an emulated core, typed as it stands there."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from mcugen.cli import main
from mcugen.machines.toolchain.process import run_checked

ROOT = Path(__file__).resolve().parents[2]


def test_a_build_is_linked_and_run_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example with a recorded input exits with 0 where the outputs are those of the runtime."""
    text = (ROOT / "docs" / "firmware.md").read_text().partition("## By hand on an emulated core")[2]
    startup, build, rest = re.findall(r"```(?:c|shell|text)\n(.*?)```", text, re.DOTALL)[:3]
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "digits" / "digits.tflite", "model.tflite")
    Path("startup.c").write_text(startup)
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(build)[1:], "--selftest", "--quiet"])
    assert not ended.value.code
    done = run_checked(["sh", "-e", "-c", rest])
    assert re.findall(r"model_output\[(\d)\] = [\d.]+", done.text) == [str(k) for k in range(10)]
