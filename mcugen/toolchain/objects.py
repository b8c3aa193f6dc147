"""Object files: each source by itself, as many at a time as the machine has processors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mcugen.toolchain.process import run_checked


@dataclass(frozen=True)
class Compiler:
    """A compiler driver and the folder that it runs in.

    Sources and include folders inside `place` are named relative to it: the same content gives the same command in any
    folder, which is what caches of compilers go by.
    """

    cc: str
    place: Path
    package: str = ""

    def compile(
        self, jobs: Sequence[tuple[Path, Sequence[str]]], include: Sequence[Path], out_dir: Path, timeout_s: float
    ) -> list[Path]:
        """The object files in `out_dir` of sources with their flags, in order. Raises ToolError with the messages."""
        folders = [f"-I{self._named(folder)}" for folder in include]
        objects = [out_dir.absolute() / f"{i:03d}_{source.stem}.o" for i, (source, _) in enumerate(jobs)]

        def compile_one(job: tuple[Path, Sequence[str]], out: Path) -> None:
            source, flags = job
            command: list[str | Path] = [self.cc, *flags, *folders, "-c", self._named(source), "-o", out]
            run_checked(command, cwd=self.place, timeout_s=timeout_s, package=self.package)

        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(compile_one, jobs, objects))
        return objects

    def _named(self, path: Path) -> str:
        path, place = path.absolute(), self.place.absolute()
        return str(path.relative_to(place) if path.is_relative_to(place) else path)
