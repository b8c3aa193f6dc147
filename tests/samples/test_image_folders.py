# SPDX-License-Identifier: Apache-2.0
"""Folders of images and of arrays: classes, colours, sizes, and files that are no images."""

from __future__ import annotations

import builtins
import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mcugen.samples import load, words
from mcugen.samples.preprocess import applied, parse
from tests.samples.sample_files import graph, images, refused

PIXELS = np.random.default_rng(5).integers(0, 256, (4, 8, 6, 3), np.uint8)
NHWC = graph(("image", (1, 8, 6, 3)))
NCHW = graph(("image", (1, 3, 8, 6)))


def drawn(folder: Path, suffix: str = ".png", pixels: np.ndarray = PIXELS) -> Path:
    folder.mkdir(exist_ok=True)
    for k, image in enumerate(pixels):
        Image.fromarray(image.squeeze()).save(folder / f"{k}{suffix}")
    return folder


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".ppm", ".PNG"])
def test_images_of_a_folder(tmp_path: Path, suffix: str) -> None:
    found = load(drawn(tmp_path / "set", suffix), NHWC, preprocess="scale=1/255")
    assert np.array_equal(found.arrays[0][:, 0], PIXELS.astype(np.float32) * np.float32(1 / 255))
    assert not found.notes


def test_jpeg_is_nearly_the_same(tmp_path: Path) -> None:
    smooth = np.broadcast_to(np.linspace(0, 255, 48).reshape(1, 8, 6, 1), PIXELS.shape).astype(np.uint8).copy()
    smooth[1] = 255 - smooth[1]
    found = load(drawn(tmp_path / "set", ".jpg", smooth), NHWC)
    assert np.abs(found.arrays[0][:, 0] - smooth).max() < 24


def test_channels_of_images_are_known(tmp_path: Path) -> None:
    folder = drawn(tmp_path / "set")
    found = load(folder, NCHW, preprocess="mean=1:2:3")
    assert np.array_equal(found.arrays[0][:, 0], PIXELS.transpose(0, 3, 1, 2) - np.float32([1, 2, 3])[:, None, None])
    assert found.notes == ("set: channels are put first, as the model takes them",)
    assert load(folder, NCHW, preprocess="mean=1:2:3,nchw").sha256 == found.sha256
    assert load(folder, NHWC, preprocess="nhwc").count == 4
    refused(folder, NHWC, "leave out 'nchw'", preprocess="nchw")


def test_words_for_images(tmp_path: Path) -> None:
    folder = drawn(tmp_path / "set")
    refused(folder, graph(("x", (1, 1, 4, 5))), "--preprocess gray,resize=5x4")
    found = load(folder, graph(("x", (1, 8, 5, 1))), preprocess="gray,resize=5x8")
    with Image.open(folder / "2.png") as image:
        wanted = np.asarray(image.convert("L").resize((5, 8), Image.Resampling.BILINEAR))
    assert np.array_equal(found.arrays[0][2, 0, :, :, 0], wanted)
    cropped = load(folder, graph(("x", (1, 4, 4, 3))), preprocess="crop=4")
    assert np.array_equal(cropped.arrays[0][:, 0], PIXELS[:, 2:6, 1:5])
    short = load(folder, graph(("x", (1, 4, 3, 3))), preprocess="resize=3:nearest,crop=3x4")
    assert np.array_equal(short.arrays[0][:, 0], PIXELS[:, 1::2, 1::2])


@pytest.mark.parametrize("name", ["nearest", "box", "bilinear", "bicubic", "lanczos"])
def test_resizing_is_that_of_pillow(name: str) -> None:
    """But for one step where Pillow resizes columns before rows, which depends on its version and the sizes."""
    pixels = np.random.default_rng(7).integers(0, 256, (37, 53, 3), np.uint8)
    for width, height in ((5, 37), (53, 90), (96, 96), (7, 5), (11, 70)):
        steps = parse(f"resize={width}x{height}:{name}", words()).steps
        found = applied(steps, pixels[None], channels=3)[0].astype(int)
        wanted = np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling[name.upper()]))
        apart = np.abs(found - wanted)
        assert apart.max() <= (1 if width != 53 and height != 37 else 0), (width, height)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("resize=0x4", ("expected a whole number, 1 to 4096, found '0'",)),
        ("resize=4x4x4", ("expected WIDTHxHEIGHT, found '4x4x4'",)),
        ("resize=4x4:best", ("expected one of nearest, box, bilinear, bicubic, lanczos, found 'best'",)),
        ("resize=99999x99999", ("expected a whole number, 1 to 4096",)),
        ("crop=7x7", ("set/0.png", "has 6 x 8 pixels, fewer than the crop of 7 x 7")),
        ("rate=16000", ("is for sounds, but the samples are images",)),
        ("scale=2,rgb", ("'rgb' is for images and comes after",)),
        ("rgb,mono", ("for images and for sounds",)),
    ],
)
def test_words_that_cannot_be(tmp_path: Path, words: str, parts: tuple[str, ...]) -> None:
    refused(drawn(tmp_path / "set"), NHWC, *parts, preprocess=words)


def test_other_colours(tmp_path: Path) -> None:
    folder = drawn(tmp_path / "set")
    Image.fromarray(PIXELS[0]).convert("L").save(folder / "1.png")
    refused(folder, NHWC, "set/1.png", "has shape [8, 6, 1], but set/0.png has [8, 6, 3]", "add rgb or gray")
    Image.fromarray(np.dstack([PIXELS[1], PIXELS[0, :, :, :1]]), "RGBA").save(folder / "1.png")
    refused(folder, NHWC, "set/1.png: has channels RGBA", "add rgb or gray")
    assert np.array_equal(load(folder, NHWC, preprocess="rgb").arrays[0][:, 0], PIXELS)
    Image.fromarray(PIXELS[0, :, :, 0].astype(np.uint16) * 256).save(folder / "1.png")
    refused(folder, NHWC, "set/1.png: has pixels 'I;16', not of 8 bits", preprocess="rgb")
    Image.fromarray(PIXELS[0]).quantize(200).save(folder / "1.png")
    assert load(folder, NHWC).count == 4
    Image.fromarray(PIXELS[0, :, :, 0] > 99).save(folder / "1.png")
    assert load(folder, NHWC, preprocess="rgb").arrays[0][1].max() == 255


def test_folders_are_classes(tmp_path: Path) -> None:
    for name, pixels in (("10", PIXELS[:3]), ("9", PIXELS[3:])):
        drawn(tmp_path / name, pixels=pixels)
    (tmp_path / ".cache").mkdir()
    found = load(tmp_path, NHWC, with_labels=True)
    assert found.labels is not None and found.labels.tolist() == [0, 1, 1, 1]
    assert np.array_equal(found.arrays[0][:, 0], PIXELS[[3, 0, 1, 2]])
    assert "folders are classes: 0 '9', 1 '10'" in found.notes[0]
    two = load(tmp_path, NHWC, with_labels=True, limit=2)
    assert two.labels is not None and two.labels.tolist() == [0, 1]
    assert load(tmp_path, NHWC).labels is None
    assert "give a folder for each class" in load(tmp_path / "10", NHWC, with_labels=True).notes[0]


def test_folders_of_arrays(tmp_path: Path) -> None:
    for k, x in enumerate(images()):
        np.save(tmp_path / f"{k}.npy", x if k else x.astype(np.float64))
    found = load(tmp_path, graph())
    assert np.array_equal(found.arrays[0][:, 0], images())
    broken = images()[3].copy()
    broken[1, 2, 3] = np.nan
    np.save(tmp_path / "3.npy", broken)
    refused(tmp_path, graph(), f"{tmp_path.name}/3.npy: sample 3: nan at [0, 1, 2, 3]")
    assert load(tmp_path, graph(), limit=3).count == 3
    np.save(tmp_path / "3.npy", broken[1:])
    refused(tmp_path, graph(), "3.npy: has shape [2, 8, 6], but", "each file is one sample")
    refused(tmp_path, graph(), "is for images, but the samples are arrays", preprocess="rgb")
    refused(tmp_path, graph(("a", (1, 2)), ("b", (1, 3))), "the model has 2 inputs")
    (tmp_path / "3.npy").write_bytes(b"")
    refused(tmp_path, graph(), "3.npy: is no .npy file of numbers")


def test_folders_that_are_none(tmp_path: Path) -> None:
    refused(tmp_path, NHWC, "is empty", ".png")
    (tmp_path / "a").mkdir()
    drawn(tmp_path / "a" / "b")
    refused(tmp_path, NHWC, "is a folder in a folder of a class")
    drawn(tmp_path)
    refused(tmp_path, NHWC, "holds folders, such as 'a', and files, such as '0.png'")
    mixed = drawn(tmp_path / "mixed")
    np.save(mixed / "x.npy", images())
    refused(mixed, NHWC, "arrays, such as 'x.npy' and images, such as '0.png'")
    (mixed / "x.npy").rename(mixed / "labels.csv")
    refused(mixed, NHWC, "labels.csv", "is no sample")


def test_what_is_no_file_in_a_folder(tmp_path: Path) -> None:
    folder = drawn(tmp_path / "set")
    (folder / "1.png").unlink()
    (folder / "1.png").symlink_to(folder / "2.png")
    assert load(folder, NHWC).count == 4
    (folder / "1.png").unlink()
    (folder / "1.png").symlink_to(folder / "1.png")
    refused(folder, NHWC, "cannot read", "1.png")
    (folder / "1.png").unlink()
    os.mkfifo(folder / "1.png")
    refused(folder, NHWC, "is not a regular file")
    (folder / "1.png").unlink()
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "loop").symlink_to(tmp_path)
    refused(tmp_path, NHWC, "is a folder in a folder of a class")


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width: int, height: int, rows: bytes = b"") -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def jpeg() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(PIXELS[0]).save(buffer, "JPEG", progressive=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ("is no image",)),
        (b"GIF89a" + bytes(50), ("is no image",)),
        (png(1 << 30, 1 << 30), ("is no image",)),
        (png(1 << 13, (1 << 13) + 1), ("has 8192 x 8193 pixels",)),
        (png(6, 8, bytes(9)), ("is no image, or a damaged one",)),
        (jpeg()[:200], ("is no image, or a damaged one",)),
        (jpeg() + b"\xff\xda" * 101, ("more than 100 scans",)),
        (b"P6 8 6 255\n" + bytes(20), ("is no image, or a damaged one",)),
        (b"P6 99999999999 6 255\n" + bytes(20), ("is no image, or a damaged one",)),
        (b"BM" + bytes(60), ("is no image, or a damaged one",)),
    ],
)
def test_files_that_are_no_images(tmp_path: Path, content: bytes, parts: tuple[str, ...]) -> None:
    folder = drawn(tmp_path / "set")
    (folder / "2.png").write_bytes(content)
    refused(folder, NHWC, "set/2.png", *parts)


def test_an_image_that_unpacks_to_much(tmp_path: Path) -> None:
    folder = drawn(tmp_path / "set")
    (folder / "2.png").write_bytes(png(1 << 13, 1 << 13, bytes((1 << 26) + (1 << 13))))
    refused(folder, NHWC, "set/2.png", "has shape [8192, 8192, 1]")


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, given = drawn(tmp_path / "set"), builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "PIL":
            raise ImportError(name)
        return given(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(folder, NHWC, "reading images needs Pillow", "pip install 'mcugen[images]'")


def test_the_page_lists_every_word() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/samples.md").read_text(encoding="utf-8")
    assert not [word.form for word in words() if f"`{word.form}`" not in page]
