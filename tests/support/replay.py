# SPDX-License-Identifier: Apache-2.0
"""Compares what two checkouts of mcugen emit for the same models: all bytes, compiled code, or costs.

Records of builds are kept in a folder, by a hash of the checkout's files and of the model's, so that only what is new
is built again; facts of compiled files are kept by a hash of what the compiler reads.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcugen.boards import target
from mcugen.errors import UsageError
from mcugen.machines.toolchain.process import run, run_checked
from tests.support import objects

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("replay_build.py")
PARTS = ("mcugen", "templates", "c_runtime", "boards")
"""The folders of a checkout that decide what it emits."""

LAST_TAG = "tag"
"""The word for the last tag, in place of a revision."""

COSTS = ("RAM", "constants", "cycles")
BUILD_LIMIT_S = 3600.0
_SHOWN_FILES = 6
_INCLUDE = re.compile(rb'^\s*#\s*include "([\w./]+)"', re.MULTILINE)
_DEVICE_TEXT = (
    (re.compile(r"(\bsource\[\] = \{\n).*?(\n\};)", re.DOTALL), r"\g<1>0\g<2>"),
    (re.compile(r"(\.source_hash = )\"[0-9a-f]+\""), r'\g<1>""'),
    (re.compile(r"(\.lines = )\d+u"), r"\g<1>0u"),
)
"""The text of kernels for a device, which C has as strings: the .cl file is compared in its place."""


@dataclass(frozen=True)
class Checkout:
    """A folder with mcugen in it. key: a hash of the files that decide what it emits, and how they are asked."""

    root: Path
    key: str

    @classmethod
    def at(cls, root: Path) -> Checkout:
        digest = hashlib.sha256(WORKER.read_bytes())
        for path in sorted(p for part in PARTS for p in (root / part).rglob("*") if p.is_file()):
            if "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
        return cls(root, digest.hexdigest()[:16])


@contextlib.contextmanager
def checkout(given: str, repository: Path = ROOT) -> Iterator[Checkout]:
    """The checkout in a folder, or one of a revision of the repository, in a folder that is removed at the end.

    given: a folder, a revision, or LAST_TAG. Raises UsageError where there is none.
    """
    if Path(given).is_dir():
        yield Checkout.at(Path(given).resolve())
        return
    git = ["git", "-C", repository]
    revision = given
    if given == LAST_TAG:
        described = run([*git, "describe", "--tags", "--abbrev=0"])
        if described.returncode:
            raise UsageError(
                "the repository has no tag to compare with",
                hint="name a revision, as in `ci/soak --old HEAD~20`, or fetch the tags: git fetch --tags",
            )
        revision = described.stdout.decode().strip()
    archived = run([*git, "archive", revision], timeout_s=300)
    if archived.returncode:
        raise UsageError(f"{given} is neither a folder nor a revision", hint="`git log --oneline` lists revisions")
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Checkout.at(Path(folder))


@dataclass(frozen=True)
class Build:
    """One model for one bare core or device and one preset."""

    name: str
    model: Path
    board: str
    preset: str

    @functools.cached_property
    def backend(self) -> str:
        return "c" if target.load(self.board).device is None else "opencl"

    @property
    def request(self) -> dict[str, str]:
        return {"model": str(self.model), "board": self.board, "preset": self.preset, "backend": self.backend}

    def record(self, results: Path, checkout: Checkout) -> Path:
        """The file of the record of the build."""
        return results / checkout.key / f"{self.name}-{_hash_of(self.model)}" / f"{self.board}-{self.preset}.json"


@functools.cache
def _hash_of(model: Path) -> str:
    """A hash of a model file, or of all files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(p for p in (model, *model.rglob("*")) if p.is_file()):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Verdict:
    """The result of one build. why: in what the checkouts differ, "" where nothing that counts does."""

    build: Build
    why: str
    refused: bool = False


def compared(builds: Sequence[Build], old: Checkout, new: Checkout, sameness: str, results: Path) -> list[Verdict]:
    """The verdicts of builds. sameness: a key of SAMENESSES."""
    pairs = zip(*(records(builds, side, results, sameness == "code") for side in (old, new)), strict=True)
    return [
        verdict(build, before, after, sameness, results) for build, (before, after) in zip(builds, pairs, strict=True)
    ]


def records(builds: Sequence[Build], checkout: Checkout, results: Path, whole: bool = False) -> list[dict[str, Any]]:
    """A record of each build by a checkout; those that are kept are not built again.

    whole: the emitted files are kept too, each under its hash in results/files.
    """
    store = results / "files" if whole else None
    paths = {build: build.record(results, checkout) for build in builds}
    missing = [build for build, path in paths.items() if not _is_kept(path, store)]
    if missing:
        with tempfile.TemporaryDirectory(prefix="mcugen-") as scratch:
            request, answer = Path(scratch) / "request.json", Path(scratch) / "records.json"
            asked = {"builds": [build.request for build in missing], "store": str(store.resolve()) if store else ""}
            request.write_text(json.dumps(asked), encoding="utf-8")
            python = ["env", f"PYTHONPATH={checkout.root}", "PYTHONDONTWRITEBYTECODE=", sys.executable, "-P"]
            run_checked([*python, WORKER, request, answer], timeout_s=BUILD_LIMIT_S)
            for build, record in zip(missing, json.loads(answer.read_text(encoding="utf-8")), strict=True):
                paths[build].parent.mkdir(parents=True, exist_ok=True)
                paths[build].write_text(json.dumps(record), encoding="utf-8")
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths.values()]


def _is_kept(path: Path, store: Path | None) -> bool:
    if not path.is_file():
        return False
    files = json.loads(path.read_text(encoding="utf-8")).get("files", {}) if store else {}
    return all((store / digest).is_file() for digest in files.values()) if store else True


Record = Mapping[str, Any]


def verdict(build: Build, before: Record, after: Record, sameness: str, results: Path) -> Verdict:
    refusals = [side.get("refused") for side in (before, after)]
    if all(refusals):
        why = "" if refusals[0] == refusals[1] or sameness != "bytes" else "; ".join(map(str, refusals))
        return Verdict(build, why, refused=True)
    if refusals[1] or (refusals[0] and sameness != "costs"):
        return Verdict(build, "; ".join(f"{n}: {r or 'built'}" for n, r in zip(("old", "new"), refusals, strict=True)))
    if refusals[0]:
        return Verdict(build, "")
    return Verdict(build, SAMENESSES[sameness](build, before, after, results))


def _bytes(build: Build, before: Record, after: Record, results: Path) -> str:
    changed = _changed(before, after)
    more = [f"and {len(changed) - _SHOWN_FILES} more files"] if len(changed) > _SHOWN_FILES else []
    return "; ".join([*changed[:_SHOWN_FILES], *more, *_risen(before, after)]) if changed else ""


def _code(build: Build, before: Record, after: Record, results: Path) -> str:
    if not any(name.endswith((".c", ".h", ".cl", ".bin", ".blob")) for name in _changed(before, after)):
        return ""
    same = _code_of(build, before["files"], results) == _code_of(build, after["files"], results)
    return "" if same else "; ".join(["code or constants", *_changed(before, after)[:_SHOWN_FILES]])


def _costs(build: Build, before: Record, after: Record, results: Path) -> str:
    return "; ".join(_risen(before, after))


SAMENESSES: Mapping[str, Callable[[Build, Record, Record, Path], str]] = {
    "bytes": _bytes,
    "code": _code,
    "costs": _costs,
}
"""The comparisons; each gives the difference of two records, "" where there is none."""


def _changed(before: Record, after: Record) -> list[str]:
    names = sorted(before["files"].keys() | after["files"].keys())
    return [name for name in names if before["files"].get(name) != after["files"].get(name)]


def _risen(before: Record, after: Record) -> list[str]:
    return [
        f"{cost} {before[cost] or 0:,} -> {after[cost]:,}" for cost in COSTS if (after[cost] or 0) > (before[cost] or 0)
    ]


def _code_of(build: Build, files: Mapping[str, str], results: Path) -> list[str]:
    """Digests of the objects of a build, of its other texts without comments, and of its files of constants."""
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        out = Path(folder)
        for name, digest in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes((results / "files" / digest).read_bytes())
        if build.backend == "opencl":
            _without_device_text(out)
        texts = [out / name for name in sorted(files) if name.endswith((".cl", "main.c"))]
        sources = [out / name for name in sorted(files) if name.endswith(".c") and out / name not in texts]
        compiled = objects.digests(_compiled(source, out, build.board, results / "objects") for source in sources)
        data = [digest for name, digest in sorted(files.items()) if name.endswith((".bin", ".blob"))]
        return [*compiled, *map(_uncommented, texts), *data]


def _without_device_text(out: Path) -> None:
    text = (out / "model.c").read_text(encoding="utf-8")
    for pattern, new in _DEVICE_TEXT:
        text = pattern.sub(new, text)
    text = objects.numbered(text, (out / "model.cl").read_text(encoding="utf-8"))
    (out / "model.c").write_text(text, encoding="utf-8")


def _uncommented(path: Path) -> str:
    """A hash of a source without its comments and empty lines, and with hashes in names as numbers in order."""
    text = run_checked(["gcc", "-fpreprocessed", "-dD", "-E", "-P", "-x", "c", path]).stdout.decode()
    return hashlib.sha256(objects.numbered(text, text).encode()).hexdigest()


def _compiled(source: Path, include: Path, board: str, folder: Path) -> objects.Object:
    """One file, compiled for the board at -O2; kept by what the compiler reads."""
    digest = hashlib.sha256(board.encode())
    for content in _closure(source, include):
        digest.update(content)
    path = folder / f"{digest.hexdigest()}.json"
    if not path.is_file():
        chain, out = target.load(board).toolchain, include / f"{source.stem}.o"
        flags = [*chain.flags, "-std=c99", "-O2", "-ffunction-sections", "-fdata-sections", f"-I{include}"]
        run_checked([chain.cc, *flags, "-c", source, "-o", out], timeout_s=600, package=chain.package)
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(objects.read(out))), encoding="utf-8")
    return objects.Object(**json.loads(path.read_text(encoding="utf-8")))


def _closure(source: Path, include: Path) -> list[bytes]:
    """The contents of a file and of all that it includes by a quoted name."""
    waiting, seen = [source], dict[Path, bytes]()
    while waiting:
        path = waiting.pop()
        if path.is_file() and path not in seen:
            seen[path] = path.read_bytes()
            names = [name.decode() for name in _INCLUDE.findall(seen[path])]
            waiting += [folder / name for folder in (path.parent, include) for name in names]
    return [seen[path] for path in sorted(seen)]
