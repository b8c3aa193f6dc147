"""The files of an NNEF model, in a folder or in an archive; paths that lead outside are refused."""

from __future__ import annotations

import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Protocol

from mcugen.errors import CorruptModelError, McugenError, UnsupportedError, UsageError
from mcugen.system import files

MAX_TEXT = 1 << 24
MAX_BYTES = 1 << 28
MAX_MEMBERS = 1 << 14
_NAMED = 3
"""Greatest number of an archive's files that an error names."""
_HINT = "an NNEF model is a folder or an archive with graph.nnef, and a .dat file for each variable"


class ModelFiles(Protocol):
    """The files of a model by their names relative to graph.nnef."""

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it is absent. Raises McugenError for all but plain files inside the model."""

    def text(self, name: str, *, optional: bool = False) -> str:
        """The content of a text file, "" if an optional one is missing.

        Raises UsageError, CorruptModelError, UnsupportedError.
        """


class _Files:
    """Base of folders and archives."""

    def read(self, name: str) -> bytes | None:
        raise NotImplementedError

    def text(self, name: str, *, optional: bool = False) -> str:
        data = self.read(name)
        if data is None:
            if optional:
                return ""
            raise UsageError(f"there is no {name} in the model", hint=_HINT)
        if len(data) > MAX_TEXT:
            raise UnsupportedError(f"{name} is larger than {MAX_TEXT:,} bytes")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CorruptModelError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}") from error


class ModelFolder(_Files):
    """Files of a folder. Symlinks, and paths that lead outside, are refused."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> bytes | None:
        path = self._root
        for part in checked(name).split("/"):
            try:
                if part not in os.listdir(path):
                    return None
                path = path / part
                mode = path.lstat().st_mode
            except FileNotFoundError:
                return None
            except (OSError, ValueError) as error:
                raise CorruptModelError(f"the file {name!r} cannot be read: {error}") from error
            if stat.S_ISLNK(mode):
                raise CorruptModelError(f"{name!r} is a symlink", hint="copy the file into the folder of the model")
        return files.read(path, MAX_BYTES)


class Archive(_Files):
    """Files of an archive, unpacked in memory. members: path -> content."""

    def __init__(self, members: dict[str, bytes]) -> None:
        tops = sorted((name for name in members if name.split("/")[-1] == "graph.nnef"), key=lambda n: n.count("/"))
        if not tops:
            held = ", ".join(sorted(members)[:_NAMED]) or "nothing"
            more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
            hint = f"{_HINT}; if the archive holds a model of another format, unpack it and give that model"
            raise UsageError(f"the archive has no graph.nnef; it has {held}{more}", hint=hint)
        self._prefix = tops[0].removesuffix("graph.nnef")
        self._members = members

    def read(self, name: str) -> bytes | None:
        return self._members.get(self._prefix + checked(name))


def checked(name: str) -> str:
    """A relative path that stays inside its folder. Raises CorruptModelError for any other."""
    parts = name.split("/")
    odd = any(part in ("", ".", "..") for part in parts) or len(name) > 1024
    if odd or "\\" in name or any(ord(c) < 32 for c in name) or (len(name) > 1 and name[1] == ":"):
        raise CorruptModelError(f"{name[:80]!r} is not a path inside the model")
    return name


def open_model(path: Path, data: bytes) -> ModelFiles:
    """The files of a model: data is the content of graph.nnef or of an archive, and empty for a folder."""
    if path.is_dir():
        return ModelFolder(path)
    if path.suffix.lower() == ".nnef":
        return ModelFolder(path.parent) if path.name == "graph.nnef" else _Named(path)
    try:
        return Archive(_zip(data) if data[:2] == b"PK" else _tar(data))
    except McugenError:
        raise
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise CorruptModelError(f"the archive cannot be read: {error}", hint=_HINT) from error
    except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError, RuntimeError) as error:
        raise CorruptModelError(f"the archive is damaged: {error}", hint=_HINT) from error


class _Named(ModelFolder):
    """The folder of a graph file that is not called graph.nnef."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.parent)
        self._stem = path.stem

    def read(self, name: str) -> bytes | None:
        own = {"graph.nnef": f"{self._stem}.nnef", "graph.quant": f"{self._stem}.quant"}
        return super().read(own.get(name, name))


def _zip(data: bytes) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    left = MAX_BYTES
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        listed = archive.infolist()
        if len(listed) > MAX_MEMBERS:
            raise UnsupportedError(f"the archive has {len(listed)} members, more than {MAX_MEMBERS}")
        for member in listed:
            if member.flag_bits & 1:
                raise UnsupportedError("the archive is encrypted", hint="decrypt it first")
            if member.is_dir():
                continue
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                raise CorruptModelError(f"member {member.filename[:80]!r} of the archive is not a plain file")
            left -= member.file_size
            if left < 0:
                raise UnsupportedError(f"the archive holds more than {MAX_BYTES:,} bytes")
            with archive.open(member) as file:
                content = file.read(member.file_size + 1)
            if len(content) != member.file_size:
                raise CorruptModelError(f"member {member.filename[:80]!r} of the archive does not have its stated size")
            _add(members, member.filename, content)
    return members


def _tar(data: bytes) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(_inflated(data)), mode="r:") as archive:
        for count, member in enumerate(archive):
            if count >= MAX_MEMBERS:
                raise UnsupportedError(f"the archive has more than {MAX_MEMBERS} members")
            if member.isdir():
                continue
            if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.sparse is not None:
                raise CorruptModelError(f"member {member.name[:80]!r} of the archive is not a plain file")
            file = archive.extractfile(member)
            content = file.read(min(member.size, MAX_BYTES)) if file is not None else b""
            if len(content) != member.size:
                raise CorruptModelError(f"member {member.name[:80]!r} of the archive is cut off")
            _add(members, member.name, content)
    return members


def _inflated(data: bytes) -> bytes:
    """The content of a gzip file, or other data unchanged; at most the limit of bytes."""
    if data[:2] != b"\x1f\x8b":
        return data
    found, rest = bytearray(), data
    while rest[:2] == b"\x1f\x8b":
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            part = unpacker.decompress(rest, 1 << 20)
            rest = unpacker.unconsumed_tail
            found += part
            if len(found) > MAX_BYTES:
                raise UnsupportedError(f"the archive holds more than {MAX_BYTES:,} bytes")
            if not part and not rest and not unpacker.eof:
                raise CorruptModelError("the archive is cut off")
        rest = unpacker.unused_data
    return bytes(found)


def _add(members: dict[str, bytes], name: str, content: bytes) -> None:
    place = checked(name.removeprefix("./"))
    if place in members:
        raise CorruptModelError(f"the archive has two members {place!r}")
    members[place] = content
