"""Reads untrusted .npy and .npz files: no pickle, and no more memory than the samples in use.

Files are opened without blocking, headers are checked against the size of the file, and members of an archive are only
unpacked as far as needed.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import stat
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.types import Shape
from mcugen.samples.column import BLOCK_BYTES, Column, named, of_files

NPY, ZIP = b"\x93NUMPY", b"PK"
MAX_WHOLE_BYTES = 1 << 28
"""Most bytes of an array that cannot be read sample by sample."""
_MAX_READ = 1 << 22
"""Most bytes of a single read. An archive whose directory is larger has more members than any model has inputs."""
_MAX_MEMBERS = 4096
_NUMBERS = "biuf"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class _Header:
    shape: Shape
    dtype: np.dtype
    by_columns: bool

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class _Careful(io.BufferedReader):
    """A file that limits the size of each read, so that false headers of an archive cannot allocate much."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = max(0, os.fstat(self.fileno()).st_size - self.tell())
        if size > _MAX_READ:
            raise zipfile.BadZipFile(f"asks for {size:,} bytes at once")
        return super().read(size)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[_Careful]:
    """A regular file. Raises UsageError for anything else, and for any failure while it is read."""
    try:
        with _Careful(io.FileIO(path, opener=_without_waiting)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError("is not a regular file", where=str(path), hint="give a file, no device or pipe")
            yield file
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot be read: {reason}", where=str(path), hint="check the path") from error


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def kind(path: Path) -> bytes:
    """NPY or ZIP, by the first bytes of the file; raises UsageError for anything else."""
    with opened(path) as file:
        first = file.read(6)
    for known in (NPY, ZIP):
        if first.startswith(known):
            return known
    what = "is empty" if not first else "is neither an .npz nor an .npy file"
    raise UsageError(what, where=path.name, hint="write it with numpy.savez(path, name=array) or numpy.save")


def single(path: Path) -> Column:
    """The samples of an .npy file, along the first axis of its array."""
    with opened(path) as file:
        header = _header(file, path.name)
        _check_size(header, os.fstat(file.fileno()).st_size - file.tell(), path.name)

    def blocks(n: int) -> Iterator[np.ndarray]:
        with opened(path) as again:
            _header(again, path.name)
            yield from _blocks(again, header, n, path.name)

    return _column(path.name, header, blocks)


def column(paths: Sequence[Path], where: str) -> Column:
    """The .npy files of a folder, each a sample. Raises UsageError."""
    return of_files(where, paths, _one, "each file is one sample, all of one shape")


def _one(path: Path) -> np.ndarray:
    """The array of an .npy file, as a whole."""
    with opened(path) as file:
        where = named(path)
        header = _header(file, where)
        _check_size(header, os.fstat(file.fileno()).st_size - file.tell(), where)
        return _whole(file, header, where)


def archive(path: Path) -> dict[str, Column]:
    """The arrays of an .npz file by their keys, in the file's order; no data is read yet."""
    found: dict[str, Column] = {}
    with _unzipped(path) as members:
        infos = members.infolist()
        if len(infos) > _MAX_MEMBERS:
            what = f"has {len(infos):,} members, more than {_MAX_MEMBERS:,}"
            raise UsageError(what, where=path.name, hint="keep one array for each input")
        for info in infos:
            key = info.filename.removesuffix(".npy")
            where = f"{path.name}: {key!r}"
            if key in found:
                raise UsageError("is there twice", where=where, hint="write the file anew with numpy.savez")
            found[key] = _member(path, info, members, where)
    if not found:
        raise UsageError("holds no array", where=path.name, hint="write it with numpy.savez(path, name=array)")
    return found


def _member(path: Path, info: zipfile.ZipInfo, members: zipfile.ZipFile, where: str) -> Column:
    if info.compress_type not in _PACKINGS or info.flag_bits & 1:
        what = "is encrypted, or compressed by a method that numpy does not use"
        raise UsageError(what, where=where, hint="write the file anew with numpy.savez")
    with members.open(info) as file:
        header = _header(file, where)
        _check_size(header, info.file_size - file.tell(), where)

    def blocks(n: int) -> Iterator[np.ndarray]:
        with _unzipped(path) as again, again.open(info) as content:
            _header(content, where)
            yield from _blocks(content, header, n, where)

    return _column(where, header, blocks)


def _column(where: str, header: _Header, blocks: Callable[[int], Iterator[np.ndarray]]) -> Column:
    if not header.shape:
        raise UsageError("is a single number", where=where, hint="the first axis of an array counts the samples")
    return Column(where, header.shape[0], header.shape[1:], blocks)


@contextlib.contextmanager
def _unzipped(path: Path) -> Iterator[zipfile.ZipFile]:
    with opened(path) as file:
        try:
            with zipfile.ZipFile(file) as members:
                yield members
        except UsageError:
            raise
        except Exception as error:  # zipfile and zlib raise many types, for damage of many kinds
            what = f"is a damaged or truncated .npz: {error or type(error).__name__}"
            raise UsageError(what, where=path.name, hint="write the file anew with numpy.savez") from error


def _header(file: IO[bytes], where: str) -> _Header:
    """The header of an .npy file; the array's data follow it. Raises UsageError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            shape, by_columns, dtype = read[version](file)
    except Exception as error:  # the header is a Python literal: damage appears in many ways
        what = f"is no .npy file of numbers: {error}"
        raise UsageError(what[:200], where=where, hint="write it with numpy.save(path, array)") from error
    if dtype.hasobject:
        hint = "mcugen never unpickles; save plain numbers: numpy.save(path, numpy.array(x, numpy.float32))"
        raise UsageError("holds Python objects, not numbers", where=where, hint=hint)
    if dtype.kind not in _NUMBERS or dtype.subdtype or dtype.itemsize > 8:
        raise UsageError(f"holds {dtype}, not real numbers", where=where, hint="give integers or floats")
    if any(d < 0 for d in shape) or len(shape) > 32:
        raise UsageError(f"has the impossible shape {list(shape)}", where=where, hint="write the file anew")
    return _Header(tuple(int(d) for d in shape), dtype, by_columns)


def _check_size(header: _Header, there: int, where: str) -> None:
    if header.nbytes != there:
        what = "is truncated" if header.nbytes > there else "has bytes after its end"
        shape = f"{list(header.shape)} of {header.dtype}"
        message = f"{what}: {shape} takes {header.nbytes:,} bytes, but the file has {there:,}"
        raise UsageError(message, where=where, hint="write the file anew with numpy.savez or numpy.save")


def _blocks(file: IO[bytes], header: _Header, n: int, where: str) -> Iterator[np.ndarray]:
    """The first n samples; the file is positioned after the header."""
    if header.by_columns and len(header.shape) > 1:
        yield _whole(file, header, where)[:n]
        return
    bytes_each = header.nbytes // max(1, header.shape[0])
    at_once = max(1, BLOCK_BYTES // max(1, bytes_each))
    for start in range(0, n, at_once):
        count = min(at_once, n - start)
        data = _exactly(file, count * bytes_each, where)
        yield np.frombuffer(data, header.dtype).reshape((count, *header.shape[1:]))
    if n == header.shape[0]:
        _end(file)


def _whole(file: IO[bytes], header: _Header, where: str) -> np.ndarray:
    if header.nbytes > MAX_WHOLE_BYTES:
        hint = "save numpy.ascontiguousarray(x)" if header.by_columns else "give fewer or smaller samples"
        message = f"must be read as a whole, and takes more than {MAX_WHOLE_BYTES:,} bytes"
        raise UsageError(message, where=where, hint=hint)
    data = np.frombuffer(_exactly(file, header.nbytes, where), header.dtype)
    _end(file)
    return data.reshape(header.shape, order="F" if header.by_columns else "C")


def _end(file: IO[bytes]) -> None:
    """Read past the last byte, where an archive verifies its checksum."""
    file.read(1)


def _exactly(file: IO[bytes], size: int, where: str) -> bytearray:
    """Reads exactly `size` bytes, in chunks, so a false header cannot allocate that much."""
    data = bytearray()
    while len(data) < size:
        part = file.read(min(size - len(data), _MAX_READ))
        if not part:
            hint = "write the file anew with numpy.savez or numpy.save"
            raise UsageError(f"is truncated: {size - len(data):,} bytes are missing", where=where, hint=hint)
        data += part
    return data
