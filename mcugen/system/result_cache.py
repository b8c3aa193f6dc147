"""Cache of builds: files and report of a build, stored on this computer for the next equal build.

An entry is valid if the program, the arguments and every file and folder that the build opened are the same, all by
content; Python, libraries and plugins by version. Python tells of files that are opened, not of those whose existence
is asked for: code that reads an optional file must list its folder, or open it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import stat
import sys
import sysconfig
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

from mcugen.system import resources
from mcugen.system.output_folder import SharedFiles
from mcugen.system.tabular import Parts, TableColumn, TextTable

MOST_BYTES = 256 << 20
"""Size of the cache. The entries that were not used for the longest time are removed first."""

MOST_ENTRY_BYTES = 32 << 20
"""Larger builds are not stored."""

_LIBRARIES = ("numpy", "onnx", "tflite", "jinja2", "pycparser")
_RESULT, _FILES, _SHARED = "result.json", "files/", "shared/"

_State = tuple[int, ...] | None
"""Type, size, time of change and number of a file or a folder; None if there is none."""


@dataclass(frozen=True)
class BuildResult:
    """The files that a build writes, and its report. shared: files for a folder that several builds share. facts: the
    report as JSON. parts: the report as text.
    """

    files: Mapping[str, bytes]
    shared: SharedFiles
    facts: Any
    parts: Parts


def folder_of(environment: Mapping[str, str]) -> Path | None:
    """The cache's folder, MCUGEN_CACHE; None if that is not set: then nothing is stored."""
    named = environment.get("MCUGEN_CACHE", "")
    return Path(named) if named else None


def result_of(folder: Path, arguments: Sequence[str], make: Callable[[], BuildResult]) -> BuildResult:
    """The stored result of an equal build, else that of `make`, which is stored.

    folder: the cache. arguments: all that determines the build, but for the content of files.
    """
    key = json.dumps([*arguments, *map(_kind_of, arguments), _current_folder(), _program(), *_versions()])
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.zip"
    if (stored := _read(path)) is not None:
        return stored
    with _recorded() as inputs:
        result = make()
    with contextlib.suppress(OSError):  # a full or protected disk: the build itself is done
        _write(path, result, inputs)
    return result


def _read(path: Path) -> BuildResult | None:
    """The stored result, if all files that it was made from are unchanged. A damaged entry counts as none."""
    try:
        with zipfile.ZipFile(path) as entry:
            stored = json.loads(entry.read(_RESULT))
            if any(_digest(name) != digest for name, digest in stored["inputs"].items()):
                return None
            shared = SharedFiles(stored["folder"], _members(entry, _SHARED))
            result = BuildResult(_members(entry, _FILES), shared, stored["facts"], _parts_of(stored["parts"]))
        os.utime(path)
        return result
    except (OSError, ValueError, LookupError, TypeError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def _members(entry: zipfile.ZipFile, prefix: str) -> dict[str, bytes]:
    return {name[len(prefix) :]: entry.read(name) for name in entry.namelist() if name.startswith(prefix)}


def _write(path: Path, result: BuildResult, inputs: Mapping[str, _State]) -> None:
    """Store a result: completely, or not at all. Nothing is stored if an input changed since it was opened."""
    files = {_FILES + name: content for name, content in result.files.items()}
    files |= {_SHARED + name: content for name, content in result.shared.files.items()}
    if sum(map(len, files.values())) > MOST_ENTRY_BYTES or any(_state(name) != old for name, old in inputs.items()):
        return
    stored = {
        "inputs": {name: _digest(name) for name in inputs},
        "folder": result.shared.folder,
        "facts": result.facts,
        "parts": [part if isinstance(part, str) else _stored_table(part) for part in result.parts],
    }
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    try:
        with zipfile.ZipFile(part, "w") as entry:
            for name, content in {_RESULT: json.dumps(stored).encode(), **files}.items():
                entry.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, compresslevel=1)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    _remove_oldest(path.parent)


class _Recorder:
    """An audit hook of the Python interpreter, called for every file and folder that is opened. Hooks cannot be
    removed, so a process has one.

    inputs: path -> its state when it was opened first, while a build is recorded.
    """

    def __init__(self) -> None:
        self.inputs: dict[str, _State] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.inputs is None or event not in ("open", "os.listdir", "os.scandir"):
            return
        if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            return
        place = arguments[0]
        with contextlib.suppress(OSError, ValueError):
            if isinstance(place, int):  # a file that a library opened
                place = os.readlink(f"/proc/self/fd/{place}")
            self._note(_source(os.path.abspath(os.fsdecode(place if place is not None else "."))))

    def _note(self, path: str) -> None:
        assert self.inputs is not None
        if path not in self.inputs and not path.startswith(_covered()):
            state = _state(path)
            if state is None or stat.S_ISREG(state[0]) or stat.S_ISDIR(state[0]):
                self.inputs[path] = state


@functools.cache
def _recorder() -> _Recorder:
    return _Recorder()


@contextlib.contextmanager
def _recorded() -> Iterator[Mapping[str, _State]]:
    """The files and folders that this process reads inside the `with` block."""
    recorder, found = _recorder(), dict[str, _State]()
    recorder.inputs = found
    try:
        yield found
    finally:
        recorder.inputs = None


@functools.cache
def _covered() -> tuple[str, ...]:
    """Folders whose files are covered by `_program` and `_versions`, what is compiled of them, and the kernel's."""
    places = sysconfig.get_paths()
    folders = [*_program_folders(), *(Path(places[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib"))]
    folders += [Path(importlib.util.cache_from_source(str(folder / "any.py"))).parent for folder in folders]
    folders += [Path("/proc"), Path("/sys")]
    return tuple(f"{os.path.abspath(folder)}{os.sep}" for folder in folders)


def _source(path: str) -> str:
    """The Python source of a compiled module, other paths unchanged."""
    try:
        return importlib.util.source_from_cache(path) if path.endswith(".pyc") else path
    except ValueError:
        return path


def _state(path: str) -> _State:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mode, found.st_size, found.st_mtime_ns, found.st_ino


def _digest(path: str) -> str:
    """The hash of a file's content, or of a folder's names; "" if there is neither."""
    try:
        if os.path.isdir(path):
            return hashlib.sha256(json.dumps(sorted(os.listdir(path))).encode()).hexdigest()
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _kind_of(argument: str) -> str:
    """The kind of file that an argument names, "" for none: a new file of this name may change its meaning."""
    try:
        return "folder" if os.path.isdir(argument) else "file" if os.path.exists(argument) else ""
    except ValueError:
        return ""


def _program_folders() -> list[Path]:
    return [resources.package(), resources.templates(), resources.c_runtime(), resources.boards()]


def _program() -> str:
    """The hash of every file of mcugen: code, templates, C and boards."""
    found = hashlib.sha256()
    for top in _program_folders():
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(folder, name)
                found.update(f"{os.path.relpath(path, top)}\0{os.path.getsize(path)}\0".encode())
                with open(path, "rb") as file:
                    found.update(file.read())
    return found.hexdigest()


def _versions() -> list[str]:
    """Python, the libraries that builds use, and plugins."""
    found = [sys.version]
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    for group in sorted(group for group in entry_points().groups if group.startswith("mcugen.")):
        for entry in entry_points(group=group):
            found.append(f"{group} {entry.name} {entry.value} {entry.dist.version if entry.dist else ''}")
    return found


def _stored_table(table: TextTable) -> dict[str, Any]:
    return {"columns": [asdict(column) for column in table.columns], "rows": table.rows, "top": sorted(table.top)}


def _parts_of(stored: Sequence[Any]) -> Parts:
    return [
        part
        if isinstance(part, str)
        else TextTable(
            tuple(TableColumn(**column) for column in part["columns"]),
            tuple(tuple(row) for row in part["rows"]),
            frozenset(part["top"]),
        )
        for part in stored
    ]


def _remove_oldest(folder: Path) -> None:
    """Keep the size of the cache within MOST_BYTES. Other processes may remove entries at the same time."""
    found = []
    for path in folder.glob("*.zip"):
        with contextlib.suppress(FileNotFoundError):
            state = path.stat()
            found.append((state.st_mtime_ns, state.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= MOST_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size
