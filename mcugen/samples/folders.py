"""Folders of samples: one file per sample, all of one kind, in a subfolder per class if there are classes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError

MAX_FILES = 1_000_000
SUFFIXES = {
    "arrays": (".npy",),
    "images": (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm"),
    "sounds": (".wav",),
}


@dataclass(frozen=True, eq=False)
class FolderListing:
    """The files of a folder. kind: a key of SUFFIXES. labels: the class of each file; classes: their names."""

    kind: str
    paths: tuple[Path, ...]
    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()


def listing(folder: Path) -> FolderListing:
    """The files in the order of their names; with classes, the first file of each class, then the second, and so on.

    Folders inside are classes, numbered from 0 in the order of their names, or of the numbers if all names are numbers.
    Names that begin with a dot are left out. Raises UsageError.
    """
    entries = _entries(folder)
    folders = [path for path in entries if path.is_dir()]
    if folders and len(folders) < len(entries):
        alone = next(path for path in entries if path not in folders)
        message = f"holds folders, such as {folders[0].name!r}, and files, such as {alone.name!r}"
        raise UsageError(message, where=str(folder), hint="give a folder of files, or a folder for each class")
    if not folders:
        return FolderListing(_kind(entries, folder), tuple(entries))
    classes = _in_order(folders)
    members = [_entries(path) for path in classes]
    for path in itertools.chain(*members):
        if path.is_dir():
            where, hint = str(path), "folders inside are classes, and may only hold files"
            raise UsageError("is a folder in a folder of a class", where=where, hint=hint)
    rounds = itertools.zip_longest(*members)
    chosen = [(k, path) for one_each in rounds for k, path in enumerate(one_each) if path is not None]
    paths = tuple(path for _, path in chosen)
    labels = np.array([k for k, _ in chosen], np.int64)
    return FolderListing(_kind(paths, folder), paths, labels, tuple(path.name for path in classes))


def _entries(folder: Path) -> list[Path]:
    """The files and folders in a folder, sorted by name."""
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in itertools.islice(found, MAX_FILES + 1) if not entry.name.startswith(".")]
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(folder), hint="check the path") from error
    if not names:
        raise UsageError("is empty", where=str(folder), hint=f"give a folder of files {_known()}")
    if len(names) > MAX_FILES:
        raise UsageError(
            f"holds more than {MAX_FILES:,} files", where=str(folder), hint="100 samples are a good number"
        )
    return [folder / name for name in sorted(names)]


def _in_order(folders: Sequence[Path]) -> list[Path]:
    if all(path.name.isascii() and path.name.isdigit() and len(path.name) < 9 for path in folders):
        return sorted(folders, key=lambda path: (int(path.name), path.name))
    return list(folders)


def _kind(paths: Sequence[Path], folder: Path) -> str:
    """The kind that all files have. Raises UsageError for an unknown kind, or for several."""
    kinds: dict[str, Path] = {}
    for path in paths:
        kind = next((kind for kind, suffixes in SUFFIXES.items() if path.suffix.lower() in suffixes), None)
        if kind is None:
            raise UsageError("is no sample", where=str(path), hint=f"samples are files {_known()}; remove others")
        kinds.setdefault(kind, path)
    if len(kinds) > 1:
        named = " and ".join(f"{kind}, such as {path.name!r}" for kind, path in sorted(kinds.items()))
        raise UsageError(f"holds {named}", where=str(folder), hint="give samples of one kind")
    return next(iter(kinds))


def _known() -> str:
    return ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
