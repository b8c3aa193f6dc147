"""Compiles object files. Sources are compiled in parallel; equal sources are compiled once per process."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mcugen.machines.toolchain.process import run_checked

_KEPT_BYTES = 32 * 2**20
"""Size of the cache of objects in bytes. Firmware for other schedules of a model shares most of its kernels."""
_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)
_BESIDE = (".o", ".su")
_Key = tuple[object, ...]


class _Objects:
    """A cache of compiler results, by command and source texts. The oldest entry is removed if the cache is full."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._each: defaultdict[_Key, threading.Lock] = defaultdict(threading.Lock)
        self._made: dict[_Key, dict[str, bytes]] = {}

    def turn(self, key: _Key) -> threading.Lock:
        """The lock for an object while it is compiled, so that no two threads compile the same object."""
        with self._lock:
            return self._each[key]

    def known(self, key: _Key) -> dict[str, bytes] | None:
        with self._lock:
            return self._made.get(key)

    def keep(self, key: _Key, made: dict[str, bytes]) -> None:
        with self._lock:
            self._made[key] = made
            while sum(len(data) for files in self._made.values() for data in files.values()) > _KEPT_BYTES:
                oldest = next(iter(self._made))
                del self._made[oldest], self._each[oldest]


_OBJECTS = _Objects()


@dataclass(frozen=True)
class Compiler:
    """A compiler driver and the folder that it runs in.

    Sources and include folders inside `place` are named relative to it. Equal content then gives equal commands in any
    folder, which compiler caches depend on.
    """

    cc: str
    place: Path
    package: str = ""

    def compile(
        self, jobs: Sequence[tuple[Path, Sequence[str]]], include: Sequence[Path], out_dir: Path, timeout_s: float
    ) -> list[Path]:
        """The object files in `out_dir`, in the order of `jobs`. jobs: (source, flags). Raises ToolError with the
        messages.
        """
        folders = [f"-I{self._named(folder)}" for folder in include]
        objects = [out_dir.absolute() / f"{i:03d}_{source.stem}.o" for i, (source, _) in enumerate(jobs)]

        def compile_one(job: tuple[Path, Sequence[str]], out: Path) -> None:
            source, flags = job
            command: list[str | Path] = [self.cc, *flags, *folders, "-c", self._named(source)]
            key = (*command, *_texts(source, include))
            with _OBJECTS.turn(key):
                known = _OBJECTS.known(key)
                if known is None:
                    run_checked([*command, "-o", out], cwd=self.place, timeout_s=timeout_s, package=self.package)
                    made = [out.with_suffix(suffix) for suffix in _BESIDE]
                    _OBJECTS.keep(key, {file.suffix: file.read_bytes() for file in made if file.exists()})
                for suffix, data in (known or {}).items():
                    out.with_suffix(suffix).write_bytes(data)

        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(compile_one, jobs, objects))
        return objects

    def _named(self, path: Path) -> str:
        path, place = path.absolute(), self.place.absolute()
        return str(path.relative_to(place) if path.is_relative_to(place) else path)


def _texts(source: Path, include: Sequence[Path]) -> Iterator[str]:
    """Hashes of a source and of the files that it includes with quotes. The compiler's own headers do not change."""
    waiting, seen = [source], {source}
    while waiting:
        file = waiting.pop()
        data = file.read_bytes()
        yield hashlib.sha256(data).hexdigest()
        for name in _INCLUDE.findall(data):
            found = (folder / name.decode() for folder in (file.parent, *include))
            other = next((path for path in found if path.is_file()), None)
            if other is not None and other not in seen:
                seen.add(other)
                waiting.append(other)
