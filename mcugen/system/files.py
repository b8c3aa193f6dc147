"""Reads files that the user names. Only regular files are read, whole, up to a size limit."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mcugen.errors import UsageError

MAX_BYTES = 1 << 30


def read(path: Path, most_bytes: int = MAX_BYTES) -> bytes:
    """The content of a regular file.

    Raises UsageError if the file cannot be read, is larger than `most_bytes`, or is a device, a pipe or a folder. A
    device or a pipe may never end, or nobody may write to it.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UsageError(
                    f"{str(path)!r} is not a regular file", hint="give a file, not a device, pipe or folder"
                )
            if found.st_size > most_bytes:
                raise UsageError(f"{str(path)!r} is larger than {most_bytes:,} bytes", hint="check the path")
            return file.read(found.st_size)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def require_there(*paths: Path | None) -> None:
    """Raise UsageError for the first of these files and folders that does not exist. Called before any work begins."""
    for path in paths:
        try:
            if path is not None:
                path.stat()
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error


def _unreadable(path: Path | None, error: OSError | ValueError) -> UsageError:
    """The error for a path that cannot be read; a ValueError means a NUL in the path."""
    reason = getattr(error, "strerror", None) or str(error)
    return UsageError(f"cannot read {str(path)!r}: {reason}", hint="check the path")


def _open(path: str, flags: int) -> int:
    """Opens a pipe without waiting for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
