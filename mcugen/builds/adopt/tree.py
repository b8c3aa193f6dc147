"""The files of a firmware's folder: read whole and as bytes, links out of the folder and other libraries left alone."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from mcugen.errors import UsageError
from mcugen.system import files

SOURCES = frozenset((".c", ".cc", ".cpp", ".cxx", ".ino", ".h", ".hh", ".hpp", ".hxx", ".inc"))
_SKIPPED = frozenset((".git", ".svn", ".hg", ".pio", "node_modules", "__pycache__", "managed_components", ".venv"))
_MOST_BYTES = 512 << 20
_LIBRARY = ("tensorflow", "lite")


@dataclass
class FirmwareTree:
    """A folder, and the paths of its files relative to it.

    root: folder of the repository, or the folder itself; left_out: symlinks that lead out of the folder
    """

    folder: Path
    root: Path
    paths: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @functools.cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.paths)

    def read(self, path: str) -> bytes:
        return files.read(self.folder / path, _MOST_BYTES)

    def text(self, path: str) -> str:
        """A file as text, with one character per byte."""
        return self.read(path).decode("latin-1")

    def sources(self) -> Iterator[str]:
        """Paths of C and C++ sources, without the code of TensorFlow Lite Micro, except its examples."""
        for path in self.paths:
            parts = PurePosixPath(path).parts
            if PurePosixPath(path).suffix.lower() in SOURCES and not _is_library(parts):
                yield path

    def of_root(self, path: str) -> str:
        """A path in the folder, relative to the repository."""
        return (self.folder / path).relative_to(self.root).as_posix()


def read_tree(folder: Path) -> FirmwareTree:
    """The files of a folder. Raises UsageError if it does not exist."""
    if not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is not a folder", hint="give the folder of the firmware's sources")
    folder = folder.resolve()
    tree = FirmwareTree(folder, next((at for at in (folder, *folder.parents) if (at / ".git").exists()), folder))
    for base, folders, names in os.walk(folder):
        here = Path(base)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        links = [name for name in (*folders, *names) if (here / name).is_symlink()]
        folders[:] = [name for name in folders if name not in links]
        for name in links:
            target = (here / name).resolve()
            if folder not in target.parents:
                tree.left_out.append((here / name).relative_to(folder).as_posix())
        regular = (name for name in sorted(names) if name not in links and (here / name).is_file())
        tree.paths += [(here / name).relative_to(folder).as_posix() for name in regular]
    return tree


def _is_library(parts: tuple[str, ...]) -> bool:
    """Whether a path lies in TensorFlow Lite Micro itself, which has the interpreter in a folder tensorflow/lite."""
    starts = [k for k in range(len(parts) - 2) if parts[k : k + 2] == _LIBRARY]
    return bool(starts) and "examples" not in parts
