"""Writes a build's files into a folder: all or none, nothing outside the folder. The user's own files are never
removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mcugen.errors import UsageError

REPORT = "report.json"


@dataclass(frozen=True)
class SharedFiles:
    """Files for a folder that several builds share. folder: its path relative to the output folder."""

    folder: str
    files: Mapping[str, bytes]


NOTHING_SHARED = SharedFiles("", {})


def sums_of(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """A line per file with a hash of its text. A later build detects edits by it."""
    return tuple(f"{_sum(content)}  {name}" for name, content in sorted(files.items()))


def _sum(content: bytes) -> str:
    """Hash with normalised line endings, so that Git's CRLF conversion does not count as an edit."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()[:16]


def write(folder: Path, files: Mapping[str, bytes], shared: SharedFiles = NOTHING_SHARED) -> tuple[str, ...]:
    """Write files, by path relative to `folder`. The folder is new, empty, or holds an earlier build.

    Files of the earlier build that the new one lacks are removed. The user's own files stay. Edited files of the
    earlier build are renamed; their new names are returned. Shared files are written first. Their names contain their
    hash, so existing ones stay, and none is ever removed. Raises UsageError if the folder cannot be written, holds
    anything else, or contains a user's file under a name that the build needs.
    """
    with _writing(folder):
        folder = folder.resolve()
        kept: tuple[str, ...] = ()
        earlier = _earlier_files(folder)
        _write_shared(folder / shared.folder, shared.files)
        with _staged(folder, files) as staged:
            if folder.exists():
                kept = _move_into(folder, staged, files, earlier)
            else:
                staged.rename(folder)
        return kept


def require_place(folder: Path) -> None:
    """Raise UsageError, before any work, unless a folder is new, empty, or holds an earlier build."""
    with _writing(folder):
        _earlier_files(folder.resolve())


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Convert errors of the operating system to a UsageError."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:  # also for a cycle of links, or a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        hint = "check the path and its permissions"
        raise UsageError(f"cannot write {str(folder)!r}: {reason}", hint=hint) from error


def _write_shared(folder: Path, files: Mapping[str, bytes]) -> None:
    """Add missing files. Raises UsageError for an existing file of the same name with other contents."""
    for name, content in files.items():
        path = folder / name
        if path.exists() and path.read_bytes() != content:
            raise UsageError(
                f"{str(path)!r} exists, and its text is not what mcugen writes under this name",
                where="--kernels-dir",
                hint="remove it, or choose another folder",
            )
    for name, content in files.items():
        path = folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name}.{os.getpid()}")
            part.write_bytes(content)
            part.replace(path)


def _earlier_files(folder: Path) -> list[str]:
    """Paths of the earlier build's files in `folder`; none if it is new or empty. Raises UsageError for any other
    folder.
    """
    if not folder.exists():
        return []
    if folder.is_dir() and not any(folder.iterdir()):
        return []
    report = folder / REPORT
    if not folder.is_dir() or not report.is_file():
        raise UsageError(f"{str(folder)!r} exists and is not an earlier build", hint="choose another folder with -o")
    try:
        names = json.loads(report.read_bytes())["files"]
    except (ValueError, LookupError, TypeError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{REPORT} in {str(folder)!r} was not written by mcugen", hint="choose another folder with -o")
    return [name for name in names if is_inside(name)]


def is_inside(name: str) -> bool:
    """Whether a path relative to the output folder stays within it."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name


@contextlib.contextmanager
def _staged(folder: Path, files: Mapping[str, bytes]) -> Iterator[Path]:
    """The files in a temporary folder on the same file system: inside `folder` if it exists, otherwise beside it."""
    beside = folder if folder.exists() else folder.parent
    made = _make_parents(beside)
    staged = Path(tempfile.mkdtemp(prefix=".mcugen-", dir=beside))
    try:
        staged.chmod(0o755)
        for name, content in files.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).write_bytes(content)
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        for parent in made:
            with contextlib.suppress(OSError):  # not empty: the build lies in it
                parent.rmdir()


def _make_parents(folder: Path) -> list[Path]:
    """Create a folder; returns the folders created, innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _edited(folder: Path, files: Mapping[str, bytes], earlier: list[str]) -> list[str]:
    """Files of the earlier build that were edited, and that also differ from the new build."""
    try:
        sums = dict(line.split("  ", 1)[::-1] for line in json.loads((folder / REPORT).read_bytes())["sums"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []

    def is_edited(name: str) -> bool:
        text = (folder / name).read_bytes()
        return text != files.get(name) and _sum(text) != sums[name]

    return [name for name in earlier if name in sums and (folder / name).is_file() and is_edited(name)]


def _keep(folder: Path, name: str) -> str:
    """Rename an edited file so that no compiler picks it up. Returns the new name."""
    numbered = (f"{name}.edited{number or ''}" for number in itertools.count())
    beside = next(other for other in numbered if not (folder / other).exists())
    (folder / name).rename(folder / beside)
    return beside


def _move_into(folder: Path, staged: Path, files: Mapping[str, bytes], earlier: list[str]) -> tuple[str, ...]:
    """Replace an earlier build file by file, its report last. Nothing changes unless every file can be replaced."""
    for name in (*files, *earlier):
        _require_plain(folder, name)
    for name in files:
        _require_ours(folder, name, files[name], earlier)
    kept = tuple(_keep(folder, name) for name in _edited(folder, files, earlier))
    for name in sorted(files, key=lambda name: (name == REPORT, name)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staged / name, folder / name)
    for name in earlier:
        if name not in files:
            (folder / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty
                (folder / name).parent.rmdir()
    return kept


def _require_ours(folder: Path, name: str, content: bytes, earlier: list[str]) -> None:
    """Raise UsageError for a file that the earlier build did not write and that has other bytes.

    A file with equal bytes may come from a build that was interrupted before it wrote its report.
    """
    path = folder / name
    if name not in (REPORT, *earlier) and path.exists() and path.read_bytes() != content:
        raise UsageError(
            f"{name} in {str(folder)!r} is not a file of the earlier build and would be replaced",
            hint="move it away, or choose another folder with -o or another --name",
        )


def _require_plain(folder: Path, name: str) -> None:
    """Raise UsageError for a link or a folder under the name of a file. Writing there would reach outside, or fail
    halfway.
    """
    path = folder / name
    parents = [parent for parent in path.parents if parent != folder and folder in parent.parents]
    if path.is_symlink() or path.is_dir() or any(p.is_symlink() or (p.exists() and not p.is_dir()) for p in parents):
        raise UsageError(
            f"{name} in {str(folder)!r} is a link or a folder; the build writes a file of this name",
            hint="remove it, or choose another folder",
        )
