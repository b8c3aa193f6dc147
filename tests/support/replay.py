# SPDX-License-Identifier: Apache-2.0
"""Compares what two checkouts of mcugen emit for the same models: bytes, then compiled sections, and costs.

Records of builds are kept in a folder, by a hash of the checkout's files, so that only what is new is built again;
digests of compiled files are kept by a hash of what the compiler reads.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcugen import target
from mcugen.toolchain.elf import read_elf
from mcugen.toolchain.process import run_checked

WORKER = Path(__file__).with_name("replay_build.py")
PARTS = ("mcugen", "templates", "c_runtime", "boards")
"""The folders of a checkout that decide what it emits."""

COSTS = ("RAM", "constants", "cycles")
BUILD_LIMIT_S = 3600.0
_INCLUDE = re.compile(rb'^\s*#\s*include "([\w./]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Checkout:
    """A folder with mcugen in it. key: a hash of the files that decide what it emits."""

    root: Path
    key: str

    @classmethod
    def at(cls, root: Path) -> Checkout:
        digest = hashlib.sha256()
        for path in sorted(p for part in PARTS for p in (root / part).rglob("*") if p.is_file()):
            if "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
        return cls(root, digest.hexdigest()[:16])


@dataclass(frozen=True)
class Job:
    """One model, built for some cores and presets by both checkouts.

    results: the folder of records and digests; costs_only: changed code is not compiled to be compared
    """

    name: str
    model: Path
    pairs: tuple[tuple[str, str], ...]
    results: Path
    costs_only: bool = False


@dataclass(frozen=True)
class Verdict:
    """The result of one build. outcome: one of OUTCOMES; worse: the costs that rose, as text."""

    build: str
    outcome: str
    files: tuple[str, ...] = ()
    worse: tuple[str, ...] = field(default=())


OUTCOMES = {
    "identical": "all files are the same, or both checkouts refuse the model with the same words",
    "same C": "C files are the same, others are not",
    "same code": "C files differ, their compiled code and constants do not",
    "not compiled": "C files differ, and costs alone were to be compared",
    "different": "code or constants differ, or only one checkout builds it",
}


def compared(job: Job, old: Checkout, new: Checkout) -> list[Verdict]:
    """The verdicts of all builds of a job."""
    pairs = zip(records(job, old), records(job, new), strict=True)
    return [_verdict(job, old, new, before, after) for before, after in pairs]


def records(job: Job, checkout: Checkout) -> list[dict[str, Any]]:
    """A record of each build of a job by a checkout, in the order of its pairs; kept ones are not built again."""
    folder = job.results / checkout.key / job.name
    kept = {pair: folder / f"{'-'.join(pair)}.json" for pair in job.pairs}
    missing = [pair for pair, path in kept.items() if not path.is_file()]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            for made in _build(job.model, checkout, missing, Path(scratch) / "out"):
                kept[made["core"], made["preset"]].write_text(json.dumps(made), encoding="utf-8")
    return [json.loads(path.read_text(encoding="utf-8")) for path in kept.values()]


def _build(model: Path, checkout: Checkout, pairs: Iterable[tuple[str, str]], out: Path) -> list[dict[str, Any]]:
    python = ["env", f"PYTHONPATH={checkout.root}", "PYTHONDONTWRITEBYTECODE=1", sys.executable, "-P"]
    asked = [word for pair in pairs for word in pair]
    run_checked([*python, WORKER, model, out, *asked], timeout_s=BUILD_LIMIT_S)
    found: list[dict[str, Any]] = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def _verdict(job: Job, old: Checkout, new: Checkout, before: Mapping[str, Any], after: Mapping[str, Any]) -> Verdict:
    core, preset = before["core"], before["preset"]
    build = f"{job.name} {core} {preset}"
    if "refused" in before or "refused" in after:
        same = before.get("refused") == after.get("refused")
        told = [f"{side}: {r.get('refused', 'built')}" for side, r in (("old", before), ("new", after))]
        return Verdict(build, "identical" if same else "different", () if same else tuple(told))
    names = sorted(before["files"].keys() | after["files"].keys())
    changed = tuple(n for n in names if before["files"].get(n) != after["files"].get(n))
    worse = tuple(
        f"{cost} {before[cost]:,} -> {after[cost]:,}" for cost in COSTS if (after[cost] or 0) > (before[cost] or 0)
    )
    if not any(name.endswith((".c", ".h")) for name in changed):
        return Verdict(build, "same C" if changed else "identical", changed, worse)
    if job.costs_only:
        return Verdict(build, "not compiled", changed, worse)
    same_code = _sections(job, old, core, preset) == _sections(job, new, core, preset)
    return Verdict(build, "same code" if same_code else "different", changed, worse)


def _sections(job: Job, checkout: Checkout, core: str, preset: str) -> list[str]:
    """Sorted digests of all sections of code and constants of a build: names of files and functions may change."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        _build(job.model, checkout, [(core, preset)], out)
        sources = sorted(p for p in out.rglob("*.c") if p.name != "main.c")
        return sorted(digest for source in sources for digest in _compiled(source, out, core, job.results / "objects"))


def _compiled(source: Path, include: Path, core: str, kept: Path) -> Sequence[str]:
    """Digests of the sections of one file, compiled for the core at -O2; kept by what the compiler reads."""
    read = hashlib.sha256(core.encode())
    for content in _closure(source, include):
        read.update(content)
    path = kept / f"{read.hexdigest()}.json"
    if not path.is_file():
        chain, made = target.load(core).toolchain, include / f"{source.stem}.o"
        flags = [*chain.flags, "-std=c99", "-O2", "-ffunction-sections", "-fdata-sections", f"-I{include}"]
        run_checked([chain.cc, *flags, "-c", source, "-o", made], timeout_s=600, package=chain.package)
        held = [s for s in read_elf(made).sections.values() if s.name.startswith((".text", ".rodata")) and s.data]
        kept.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([hashlib.sha256(s.data).hexdigest() for s in held]), encoding="utf-8")
    found: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _closure(source: Path, include: Path) -> list[bytes]:
    """The contents of a file and of all that it includes by a quoted name."""
    wanted, seen = [source], dict[Path, bytes]()
    while wanted:
        path = wanted.pop()
        if path.is_file() and path not in seen:
            seen[path] = path.read_bytes()
            names = [name.decode() for name in _INCLUDE.findall(seen[path])]
            wanted += [folder / name for folder in (path.parent, include) for name in names]
    return [seen[path] for path in sorted(seen)]
