# SPDX-License-Identifier: Apache-2.0
"""Runs commands, two at a time, until a limit; what they took is remembered, so that long ones are not begun late."""

from __future__ import annotations

import json
import textwrap
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcugen.errors import ToolError
from mcugen.machines.toolchain.process import run


def conduct(commands: Mapping[str, Sequence[str]], end: float, memory: Path, folder: Path) -> dict[str, str]:
    """The outcome of each command by its name: "passed", "failed", "stopped" or "left". Failures are printed.

    end: when `time.monotonic` says so, what runs is stopped. memory: a file with the seconds that commands took.
    """
    times: dict[str, float] = json.loads(memory.read_text(encoding="utf-8")) if memory.is_file() else {}

    def one(name: str) -> tuple[str, str, str]:
        began = time.monotonic()
        if began + times.get(name, 0.0) >= end:
            return name, "left", ""
        try:
            done = run(commands[name], cwd=folder, timeout_s=end - began)
        except ToolError:
            times[name] = max(times.get(name, 0.0), time.monotonic() - began)
            return name, "stopped", ""
        times[name] = time.monotonic() - began
        return name, "failed" if done.returncode else "passed", done.text

    outcomes = {}
    with ThreadPoolExecutor(2) as pool:
        for name, outcome, output in pool.map(one, commands):
            outcomes[name] = outcome
            if outcome in ("passed", "failed"):
                shown = f":\n{output}" if outcome == "failed" else f" in {times[name]:.0f} s"
                print(f"{outcome} {name}{shown}", flush=True)
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(json.dumps(times, indent=1, sort_keys=True), encoding="utf-8")
    return outcomes


def summary(outcomes: Mapping[str, str], seconds: float) -> str:
    """The outcomes: unfinished tests by name, and counts of the others."""
    lines = []
    for outcome, title in (("stopped", "stopped at the limit"), ("left", "not begun")):
        names = ", ".join(name for name, ended in outcomes.items() if ended == outcome)
        if names:
            text = f"{title}, and left to ci/test: {names}"
            lines.append(textwrap.fill(text, 80, break_on_hyphens=False, break_long_words=False))
    counts = Counter(outcomes.values())
    ended = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "stopped", "left"))
    return "\n".join([*lines, f"ci/quick: of {len(outcomes)} files and cases {ended}, in {seconds:.0f} s"])
