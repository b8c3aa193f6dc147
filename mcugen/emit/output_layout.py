"""Layout of a build's C: at the top of the output folder or in a folder of it, kernels also outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

EXAMPLE = "examples/main.c"
"""The example program, in a folder that build systems can skip if they compile every file they see."""

_KERNELS = ("kernels", "mcugen")


@dataclass(frozen=True)
class BuildFolders:
    """Folders of a build. code: the folder of the C, as some build systems need one; kernels: a folder outside,
    relative to the output.
    """

    code: str = ""
    kernels: str = ""

    def path(self, emitted: str) -> str:
        """Path of an emitted file, relative to the output folder."""
        if emitted == EXAMPLE:
            return emitted
        folder = self.kernels if self.kernels and PurePosixPath(emitted).parts[0] in _KERNELS else self.code
        return str(PurePosixPath(folder, emitted))

    def paths(self, emitted: Iterable[str]) -> list[str]:
        """Paths of emitted files, in their order."""
        return [self.path(name) for name in emitted]

    @property
    def include(self) -> tuple[str, ...]:
        """Folders to search for headers, relative to the output folder."""
        return (self.code or ".", *([self.kernels] if self.kernels else []))

    def split(self, emitted: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """The files of the output folder by path, and those of the shared folder by path in that folder."""
        own, shared = dict[str, bytes](), dict[str, bytes]()
        for name, text in emitted.items():
            is_shared = bool(self.kernels) and PurePosixPath(name).parts[0] in _KERNELS
            (shared if is_shared else own)[name if is_shared else self.path(name)] = text
        return own, shared


PLAIN = BuildFolders()
"""Layout with everything in the output folder, at the paths of the includes."""
