# SPDX-License-Identifier: Apache-2.0
"""One test per known class of hostile NNEF content: a McugenError, naming what is wrong, in seconds and megabytes."""

from __future__ import annotations

import io
import os
import resource
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import CorruptModelError, InternalError, McugenError, QuantizationError, UnsupportedError, UsageError
from tests.formats import damage, nnef_edits, soak
from tests.formats import nnef_models as nm

SECONDS = 10.0
GIGABYTE = 1 << 30


def refused(path: Path, message: str, error: type[McugenError] = McugenError) -> None:
    """Build the model; expect a McugenError with that message, soon, and without a gigabyte."""
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(error, match=message) as caught:
        mcugen.compile(path)
    assert not isinstance(caught.value, InternalError), caught.value.explain()
    assert time.monotonic() - started < SECONDS
    assert 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) < GIGABYTE


def with_label(label: str) -> nm.Files:
    body = f"v = variable<scalar>(shape = [1, 2], label = '{label}'); y = add(x, v);"
    return nm.model(body)


@pytest.mark.parametrize(
    "label", ["../out", "a/../../out", "/etc/passwd", "./out", "a//b", "", "..", "C:/out", "a\\b", "a\tb", "x" * 2000]
)
def test_labels_stay_inside(label: str, tmp_path: Path) -> None:
    (tmp_path / "out.dat").write_bytes(nm.dat(np.ones((1, 2), np.float32)))
    refused(nm.write(with_label(label), tmp_path / "net"), "not a path inside|cannot be parsed|no file")


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "v.dat").write_bytes(nm.dat(np.ones((1, 2), np.float32)))
    link = nm.write(with_label("v"), tmp_path / "link")
    (link / "v.dat").symlink_to(outside / "v.dat")
    refused(link, "symlink")
    inside = nm.write(with_label("deep/v"), tmp_path / "inside")
    (inside / "deep").symlink_to(outside)
    refused(inside, "symlink")
    pipe = nm.write(with_label("v"), tmp_path / "pipe")
    os.mkfifo(pipe / "v.dat")
    refused(pipe, "not a regular file")
    folder = nm.write(with_label("v"), tmp_path / "folder")
    (folder / "v.dat").mkdir()
    refused(folder, "not a regular file|cannot read")
    graph = nm.write({}, tmp_path / "graph")
    (graph / "graph.nnef").symlink_to(link / "graph.nnef")
    refused(graph, "symlink")


def info(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, target, size
    return found


GRAPH = with_label("v")["graph.nnef"]
TRICKS: dict[str, tuple[list[tuple[tarfile.TarInfo, bytes]], str]] = {
    "symlink": ([(info("v.dat", tarfile.SYMTYPE, "/etc/passwd"), b"")], "not a plain file"),
    "hard link": ([(info("v.dat", tarfile.LNKTYPE, "graph.nnef"), b"")], "not a plain file"),
    "device": ([(info("v.dat", tarfile.CHRTYPE), b"")], "not a plain file"),
    "pipe": ([(info("v.dat", tarfile.FIFOTYPE), b"")], "not a plain file"),
    "sparse": ([(info("v.dat", tarfile.GNUTYPE_SPARSE), b"")], "not a plain file|damaged|cannot be read"),
    "parent": ([(info("../v.dat", size=1), b"x")], "not a path inside"),
    "absolute": ([(info("/v.dat", size=1), b"x")], "not a path inside"),
    "twice": ([(info("v.dat", size=1), b"x"), (info("v.dat", size=1), b"y")], "two members"),
    "missing": ([], "no file 'v.dat'"),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_tar_tricks(trick: str, tmp_path: Path) -> None:
    members, message = TRICKS[trick]
    data = nm.tar_of((info("graph.nnef", size=len(GRAPH)), GRAPH), *members)
    (tmp_path / "a.tar").write_bytes(data)
    refused(tmp_path / "a.tar", message)


def test_archives_that_lie_or_burst(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush()
    path.write_bytes(bomb)
    refused(path, "holds more than", UnsupportedError)
    path.write_bytes(nm.tar(nm.small(), "w:gz")[:-40])
    refused(path, "cut off|cannot be read")
    path.write_bytes(b"\x1f\x8b no gzip")
    refused(path, "archive")
    with tarfile.open(path, "w:gz") as other:
        other.addfile(tarfile.TarInfo("model.tflite"))
    refused(path, "it has model.tflite", UsageError)
    big = tarfile.TarInfo("v.dat")
    big.size = 1 << 40
    (tmp_path / "b.tar").write_bytes(big.tobuf())
    refused(tmp_path / "b.tar", "archive|cut off")


def patched(data: bytes, offset: int, value: int) -> bytes:
    """A zip file with a 16 bit field of its first central entry changed."""
    at = data.index(b"PK\x01\x02") + offset
    return data[:at] + struct.pack("<H", value) + data[at + 2 :]


def test_zip_tricks(tmp_path: Path) -> None:
    plain, path = nm.zipped(nm.small()), tmp_path / "a.zip"
    path.write_bytes(patched(plain, 8, 1))
    refused(path, "encrypted", UnsupportedError)
    path.write_bytes(patched(plain, 40, 0o120777))
    refused(path, "not a plain file", CorruptModelError)
    path.write_bytes(patched(plain, 26, 0x7FFF))
    refused(path, "holds more than|archive", McugenError)
    path.write_bytes(nm.zipped({"../graph.nnef": GRAPH}))
    refused(path, "not a path inside")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("graph.nnef", GRAPH)
        with archive.open("v.dat", "w") as file:
            for _ in range(300):
                file.write(bytes(1 << 20))
    path.write_bytes(out.getvalue())
    refused(path, "holds more than", UnsupportedError)
    path.write_bytes(plain[:200])
    refused(path, "archive")


def deep(opening: str, closing: str) -> str:
    return nm.text(f"y = add(x, {opening * 100_000}1.0{closing * 100_000});")


FLAT = "extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;"


def fragment(name: str, body: str) -> str:
    return f"fragment {name}(a: tensor<scalar>) -> (b: tensor<scalar>) {{ b = {body}; }}\n"


TEXTS: dict[str, tuple[Callable[[], str], str]] = {
    "round brackets": (lambda: deep("(", ")"), "nests brackets"),
    "square brackets": (lambda: deep("[", "]"), "nests brackets"),
    "itself": (lambda: nm.text("y = f(x);", (1, 2), FLAT, fragment("f", "f(a)")), "calls itself"),
    "each other": (
        lambda: nm.text("y = f(x);", (1, 2), FLAT, fragment("f", "g(a)") + fragment("g", "f(a)")),
        "calls itself",
    ),
    "doubling": (
        lambda: nm.text(
            "y = f40(x);",
            (1, 2),
            FLAT,
            fragment("f0", "a") + "".join(fragment(f"f{k}", f"add(f{k - 1}(a), f{k - 1}(a))") for k in range(1, 41)),
        ),
        "expand to more than",
    ),
    "negative shape": (lambda: nm.text("y = relu(x);", (1, -1, 4)), "shape"),
    "empty shape": (lambda: nm.text("y = relu(x);", (1, 0, 4)), "must be fixed and at least 1"),
    "large integer": (lambda: nm.text("y = relu(x);", (1, 99999999999)), "beyond 31 bits"),
    "endless integer": (lambda: nm.text("y = relu(x);").replace("6]", "6" * 100_000 + "]", 1), "beyond 31 bits"),
    "large shape": (lambda: nm.text("y = relu(x);", (2147483647,) * 6), "not supported"),
    "many axes": (lambda: nm.text("y = relu(x);", (1,) * 20), "not supported"),
    "large padding": (
        lambda: nm.text("y = pad(x, padding = [(0,0),(0,0),(0,2000000000),(0,0)], border = 'constant');"),
        "larger than|not supported",
    ),
    "large repeats": (lambda: nm.text("y = tile(x, repeats = [1, 2000000000, 1, 1]);"), "larger than|not supported"),
    "repeated list": (
        lambda: nm.text("y = tile(x, repeats = [1] * 2000000000);", extension=FLAT),
        "repeats a list|cannot be parsed",
    ),
    "zero stride": (
        lambda: nm.text("y = max_pool(x, size = [1,1,2,2], stride = [1,1,0,0], border = 'ignore');"),
        "strides",
    ),
    "zero factor": (lambda: nm.text("y = nearest_downsample(x, factor = [0, 0]);"), "factors|stride"),
    "unknown operation": (lambda: nm.text("y = nonesuch(x);"), "nonesuch|cannot be parsed"),
    "no result": (lambda: nm.text("z = relu(x);"), "y|never"),
    "itself as operand": (lambda: nm.text("y = add(y, x);"), "y|before"),
    "twice": (lambda: nm.text("y = relu(x); y = relu(x);"), "y|already"),
    "no UTF-8 text": (lambda: "\0" * 1000, "cannot be parsed|nnef package"),
    "empty": (lambda: "", "cannot be parsed|nnef package"),
    "comment ends in names": (lambda: nm.text("y = relu(x); # */ \u2028"), ""),
}


@pytest.mark.parametrize("name", [name for name, (_, message) in TEXTS.items() if message])
def test_texts(name: str, tmp_path: Path) -> None:
    make, message = TEXTS[name]
    refused(nm.write({"graph.nnef": make().encode()}, tmp_path / "net"), message)


def test_a_text_beyond_the_limit_or_no_utf8(tmp_path: Path) -> None:
    refused(nm.write({"graph.nnef": b"#" * (1 << 25)}, tmp_path / "big"), "larger than", UnsupportedError)
    refused(nm.write({"graph.nnef": b"version \xff"}, tmp_path / "odd"), "not UTF-8 text", CorruptModelError)


def head(**change: int) -> bytes:
    """A tensor file of [1, 2] floats with fields of its header changed."""
    data = bytearray(nm.dat(np.ones((1, 2), np.float32)))
    places = {"magic": 0, "version": 2, "length": 4, "rank": 8, "extent": 12, "second": 16, "bits": 44, "item": 48}
    for name, value in change.items():
        data[places[name] : places[name] + (1 if name in ("magic", "version") else 4)] = (
            bytes([value]) if name in ("magic", "version") else struct.pack("<I", value)
        )
    return bytes(data)


HEADERS = {
    "magic": head(magic=0),
    "version": head(version=9),
    "length": head(length=0xFFFFFFFF),
    "rank": head(rank=9),
    "extent": head(extent=0xFFFFFFFF),
    "product": head(extent=0x80000000, second=0x80000000),
    "bits": head(bits=7),
    "item type": head(item=77),
    "nothing": b"",
    "half a header": head()[:64],
    "no data": head()[:130],
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_of_tensors(name: str, tmp_path: Path) -> None:
    refused(nm.write(with_label("v") | {"v.dat": HEADERS[name]}, tmp_path / "net"), "v.dat")


@pytest.mark.parametrize(
    "line",
    [
        '"x": zero_point_linear_quantize(zero_point = 0, scale = 0.0, bits = 8, signed = true, symmetric = false);',
        '"x": zero_point_linear_quantize(zero_point = 0, scale = -1.0, bits = 8, signed = true, symmetric = false);',
        '"x": zero_point_linear_quantize(zero_point = 900, scale = 1.0, bits = 8, signed = true, symmetric = false);',
        '"x": zero_point_linear_quantize(zero_point = 0, scale = 1.0, bits = 5, signed = true, symmetric = false);',
        '"x": linear_quantize(min = 1.0, max = 1.0, bits = 8);',
        '"x": logarithmic_quantize(max = 1.0, bits = 8);',
        '"x": nonesuch(a = 1);',
        '"x": zero_point_linear_quantize(',
    ],
)
def test_quantizations(line: str, tmp_path: Path) -> None:
    files = nm.model("y = relu(x);", quant=line)
    refused(nm.write(files, tmp_path / "net"), "scale|zero point|bits|lies between|quantized|parsed")


def test_a_bias_that_is_no_number(tmp_path: Path) -> None:
    files = nm.small()
    files["b.dat"] = nm.dat(np.full((1, 3), np.nan, np.float32))
    refused(nm.write(files, tmp_path / "net"), "bias .* finite", QuantizationError)


def test_edited_fields() -> None:
    pairs = list(nnef_edits.all_edited())[::97]
    verdicts = damage.judge([data for _, data in pairs], name="damaged.tar")
    assert not damage.failures(verdicts), [(pairs[v.case][0], v.text) for v in damage.failures(verdicts)]
    assert {v.kind for v in verdicts} == {damage.BUILT, damage.REFUSED}


def test_some_truncations_and_flips() -> None:
    verdicts = damage.judge(soak.nnef_files(soak.NNEF_CASES // 80), name="damaged.tar")
    assert not damage.failures(verdicts), "\n".join(v.text for v in damage.failures(verdicts)[:3])
    assert {v.kind for v in verdicts} == {damage.BUILT, damage.REFUSED}
