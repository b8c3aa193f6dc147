# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: writes which tests passed, how long each took, and which functions of mcugen it called.

MCUGEN_CALLED names the JSON file: test -> {"passed", "seconds", "called": ["mcugen/passes/x.py: function", ...]}.
Calls in fixtures count for the first test that uses them; those in other processes do not count.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from types import FrameType

import pytest

import mcugen

_ROOT = f"{Path(mcugen.__file__).resolve().parents[1]}{os.sep}"
_found: dict[str, dict[str, object]] = {}
_failed: set[str] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    codes = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        codes.add(frame.f_code)

    start = time.monotonic()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        own = {(c.co_filename.removeprefix(_ROOT), c.co_qualname) for c in codes if c.co_filename.startswith(_ROOT)}
        called = sorted({f"{file}: {function_of(name)}" for file, name in own if file.startswith("mcugen")})
        passed = item.nodeid not in _failed
        _found[item.nodeid] = {"passed": passed, "seconds": time.monotonic() - start, "called": called}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid)


def function_of(qualified: str) -> str:
    """The outermost function of a qualified name: `C.f.<locals>.g` is part of f."""
    return qualified.split(".<locals>")[0].rsplit(".", 1)[-1]


def pytest_sessionfinish() -> None:
    Path(os.environ["MCUGEN_CALLED"]).write_text(json.dumps(_found), encoding="utf-8")
