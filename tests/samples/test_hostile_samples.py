# SPDX-License-Identifier: Apache-2.0
"""Files of samples that are damaged, of the wrong types, or made to take memory or time."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.samples import load
from tests.samples.sample_files import IMAGE, graph, images, refused, saved


class _Trap:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return (pytest.fail, ("unpickled",))


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    trap = np.array([_Trap(), 1], object)
    refused(saved(tmp_path, x=trap), graph(), "holds Python objects", "never unpickles")
    np.save(tmp_path / "x.npy", trap, allow_pickle=True)
    refused(tmp_path / "x.npy", graph(), "holds Python objects")
    (tmp_path / "p.npz").write_bytes(pickle.dumps(trap))
    refused(tmp_path / "p.npz", graph(), "neither an .npz nor an .npy")


@pytest.mark.parametrize("dtype", ["c8", "U3", "S4", "M8[s]", "m8[s]", "V8", "f4,i4", "g"])
def test_types_that_are_no_numbers(tmp_path: Path, dtype: str) -> None:
    refused(saved(tmp_path, x=np.zeros((5, *IMAGE[1:]), dtype)), graph(), "not real numbers")


@pytest.mark.parametrize("dtype", [">f4", "<f8", ">i2", "u8", "f2", "?"])
def test_types_that_are_numbers(tmp_path: Path, dtype: str) -> None:
    x = np.random.default_rng(1).integers(0, 2, (5, *IMAGE[1:])).astype(dtype)
    assert np.array_equal(load(saved(tmp_path, x=x), graph()).arrays[0][:, 0], x.astype(np.float32))


def header(shape: str, descr: str = "'<f4'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ("is empty",)),
        (b"x,y\n1,2\n", ("neither an .npz nor an .npy",)),
        (b"\x93NUMPY", ("no .npy file of numbers",)),
        (b"\x93NUMPY\x09\x00" + bytes(200), ("no .npy file of numbers",)),
        (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, ("no .npy file of numbers",)),
        (b"\x93NUMPY\x01\x00\x10\x27" + b"(" * 10000, ("no .npy file of numbers",)),
        (header("(5, 3, 8, 6)"), ("is truncated",)),
        (header("(1000000000, 3, 8, 6)") + bytes(99), ("is truncated: [1000000000, 3, 8, 6] of float32 takes 576,",)),
        (header("(99999999999999999999, 3, 8, 6)"), ("is truncated",)),
        (header("(-5, 3, 8, 6)"), ("impossible shape",)),
        (header("(0, 3, 8, 6)"), ("holds no samples",)),
        (header("(10000000000000, 0)"), ("expected samples",)),
        (header("(5, 3, 8, 6)") + bytes(4 * 720 + 1), ("bytes after its end",)),
        (header("(5,)", "'|O'") + pickle.dumps([1]), ("holds Python objects",)),
        (header("(5,)", "[('a', '<f4', (99999999,))]"), ("not real numbers",)),
        (b"PK\x03\x04" + bytes(300), ("damaged or truncated .npz",)),
        (b"PK\x05\x06" + bytes(18), ("holds no array",)),
    ],
)
def test_files_that_are_damaged(tmp_path: Path, content: bytes, parts: tuple[str, ...]) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    refused(path, graph(), *parts, "bad.npz")


def zipped(tmp_path: Path, name: str, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = tmp_path / "bad.npz"
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr(name, content)
    return path


def test_archives_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    np.savez_compressed(path, x=images(50))
    whole = path.read_bytes()
    for keep in (4, 100, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:keep])
        refused(path, graph(), "damaged or truncated .npz")
    path.write_bytes(whole[: len(whole) // 2] + b"\0\1\2\3" + whole[len(whole) // 2 + 4 :])
    refused(path, graph(), "damaged or truncated .npz")
    refused(zipped(tmp_path, "notes.txt", b"hello"), graph(), "no .npy file of numbers")
    refused(zipped(tmp_path, "x.npy", header("(5, 3, 8, 6)"), zipfile.ZIP_LZMA), graph(), "that numpy does not use")
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "w") as file:
        for _ in range(2):
            file.writestr("x.npy", header("(0, 3, 8, 6)"))
    refused(path, graph(), "is there twice")


@pytest.mark.whole
def test_archives_that_claim_too_much(tmp_path: Path) -> None:
    net = graph(("x", (1, 3, 224, 224)))
    refused(zipped(tmp_path, "x.npy", header("(1000000, 3, 224, 224)") + bytes(1 << 20)), net, "is truncated")
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("x.npy", "w", force_zip64=True) as member:
        member.write(header("(1024, 3, 224, 224)"))
        for _ in range(1024):
            member.write(bytes(4 * 3 * 224 * 224))
    refused(path, net, "more than 536,870,912", "--samples 891")
    refused(path, net, "all 64 samples are equal", limit=64)
    with zipfile.ZipFile(tmp_path / "many.npz", "w") as file:
        for k in range(5000):
            file.writestr(f"{k}.npy", b"")
    refused(tmp_path / "many.npz", net, "5,000 members")


def test_a_directory_that_claims_to_be_large(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, x=images(9000))
    data = bytearray(buffer.getvalue())
    end = data.rfind(b"PK\x05\x06")
    data[end + 12 : end + 20] = (end).to_bytes(4, "little") + bytes(4)
    (tmp_path / "bad.npz").write_bytes(data)
    refused(tmp_path / "bad.npz", graph(), "at once")


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    refused(tmp_path / "pipe.npz", graph(), "not a regular file")
    (tmp_path / "loop.npz").symlink_to(tmp_path / "loop.npz")
    refused(tmp_path / "loop.npz", graph(), "cannot be read")
    refused(tmp_path / "none.npz", graph(), "cannot be read")
    refused(tmp_path / "a\0b.npz", graph(), "cannot be read")
    refused(Path("/dev/zero"), graph(), "not a regular file")
