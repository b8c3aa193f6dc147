"""Layout of a build's C files: in the output folder or one of its folders; kernels may lie in a shared folder
outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

EXAMPLE = "examples/main.c"
"""Path of the example program. Build systems that compile every file they see can skip its folder."""

EXAMPLES = "examples/"
"""Folder of the example program, and of further C that a program may use or replace."""

_KERNELS = ("kernels", "mcugen")


@dataclass(frozen=True)
class BuildFolders:
    """Folders of a build. code: folder of the C, which some build systems require. kernels: shared folder outside,
    relative to the output folder.
    """

    code: str = ""
    kernels: str = ""

    def path(self, emitted: str) -> str:
        """Path of an emitted file, relative to the output folder."""
        if emitted.startswith(EXAMPLES):
            return emitted
        folder = self.kernels if self.kernels and PurePosixPath(emitted).parts[0] in _KERNELS else self.code
        return str(PurePosixPath(folder, emitted))

    def paths(self, emitted: Iterable[str]) -> list[str]:
        """Paths of emitted files, in the order given."""
        return [self.path(name) for name in emitted]

    @property
    def include(self) -> tuple[str, ...]:
        """Folders to search for headers, relative to the output folder."""
        return (self.code or ".", *([self.kernels] if self.kernels else []))

    def split(self, emitted: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """Splits files into those of the output folder, by path, and those of the shared folder, by path in it."""
        own, shared = dict[str, bytes](), dict[str, bytes]()
        for name, text in emitted.items():
            is_shared = bool(self.kernels) and PurePosixPath(name).parts[0] in _KERNELS
            (shared if is_shared else own)[name if is_shared else self.path(name)] = text
        return own, shared


PLAIN = BuildFolders()
"""Layout with everything in the output folder, at the paths that #include lines use."""
