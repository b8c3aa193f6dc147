"""A model's C as a shared library. It is cached in the user's cache folder, by a hash of sources, compiler and
flags.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import platform
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mcugen.emit import sources_of
from mcugen.emit.environment import render
from mcugen.emit.view import ModelView
from mcugen.machines.toolchain import host_gcc, hosts

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fvisibility=hidden", *hosts.current().library_flags)
MAX_KEPT = 200
"""Most libraries in the cache. The least recently used libraries are removed."""
_SHIM = "mcugen_native.c"
_WHOLE = b"mcugen: whole"
"""Marks the end of a complete cache file. A truncated file must not be loaded."""
_TIMEOUT_S = 600.0


def load(files: Mapping[str, bytes], view: ModelView) -> ctypes.CDLL:
    """The library of a model's C files, compiled unless it is in the cache. Raises ToolError if gcc fails."""
    everything = {**files, _SHIM: render("native.c.j2", m=view)}
    file = folder() / f"{_digest(everything)}{hosts.current().library}"
    with contextlib.suppress(OSError):  # missing or damaged: build it again
        if file.read_bytes().endswith(_WHOLE):
            os.utime(file)  # marks the file as recently used
            return _declared(ctypes.CDLL(str(file)))
    return _built(everything, file)


def folder() -> Path:
    """The cache folder: `mcugen` in $XDG_CACHE_HOME, by default in ~/.cache (Linux)."""
    return hosts.current().cache_folder(os.environ, Path.home())


def _digest(files: Mapping[str, bytes]) -> str:
    """Hash of the files, the compiler and its flags, and the kind of computer."""
    digest = hashlib.sha256(repr((host_gcc.version(), FLAGS, platform.machine(), platform.system())).encode())
    for path, content in sorted(files.items()):
        digest.update(f"\n{path} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:40]


def _built(files: Mapping[str, bytes], file: Path) -> ctypes.CDLL:
    """The library, compiled in a temporary folder and moved into place, so that no process sees a partial file.

    If the cache cannot be written, the library is loaded from the temporary folder, which is then removed.
    """
    with tempfile.TemporaryDirectory(prefix="mcugen-") as place:
        made = _compiled(files, Path(place))
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = file.with_suffix(f".{os.getpid()}.{os.urandom(4).hex()}")
            part.write_bytes(made.read_bytes() + _WHOLE)
            part.replace(file)
        except OSError:
            return _declared(ctypes.CDLL(str(made)))
    _forget(file.parent)
    return _declared(ctypes.CDLL(str(file)))


def _compiled(files: Mapping[str, bytes], place: Path) -> Path:
    for path, content in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    sources = [place / path for path in sources_of(files)]
    out = place / f"model{hosts.current().library}"
    threads = ("-pthread",) if any(path.endswith("_threads.c") for path in files) else ()
    return host_gcc.compile_program(sources, out, [place], (*FLAGS, *threads), timeout_s=_TIMEOUT_S)


def _forget(cache: Path) -> None:
    """Remove the least recently used libraries if there are too many. A library in use stays in memory."""
    with contextlib.suppress(OSError):
        known = sorted(cache.glob(f"*{hosts.current().library}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in known[MAX_KEPT:]:
            path.unlink(missing_ok=True)


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """The library with the types of its functions declared; see templates/native.c.j2."""
    at, many = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    signatures = {
        "mcugen_size": ([], ctypes.c_size_t),
        "mcugen_start": ([at], None),
        "mcugen_reset": ([at], None),
        "mcugen_stop": ([at], None),
        "mcugen_outputs": ([at, ctypes.c_size_t, many, ctypes.c_int], None),
        "mcugen_stored": ([ctypes.c_size_t, at, at, ctypes.c_size_t, ctypes.c_int], None),
        "mcugen_run": ([at, ctypes.c_size_t, many, at, many, ctypes.c_int], None),
        "mcugen_push": ([at, at, ctypes.c_int], ctypes.c_int),
        "mcugen_push_samples": ([at, at, ctypes.c_uint32], ctypes.c_uint32),
    }
    for name, (arguments, result) in signatures.items():
        if hasattr(library, name):
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, result
    return library
