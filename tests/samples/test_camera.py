# SPDX-License-Identifier: Apache-2.0
"""Words for a camera's bytes: their formulas, the C that computes them row by row, and bytes that do not fit."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mcugen import pipeline
from mcugen.errors import UsageError
from mcugen.ops.channel_tables import ChannelTables
from mcugen.ops.table import Table
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.samples import camera, firmware, load, words
from mcugen.samples.preprocess import applied, parse
from mcugen.verify import emulated
from mcugen.verify.cases import Case
from tests.samples.sample_files import graph, refused, saved
from tests.samples.test_firmware import network

cv2 = importlib.import_module("cv2") if importlib.util.find_spec("cv2") else None
"""OpenCV, where it is installed. The same formulas in float64 stand for it elsewhere."""
ROOT = Path(__file__).resolve().parents[2]
OTHER_CORES = ("cortex-m0plus", "cortex-m55", "rv32imc")
CORES = ["host", "cortex-m4", *(pytest.param(core, marks=pytest.mark.whole) for core in OTHER_CORES)]
RNG = np.random.default_rng(7)
FORMATS = {
    "rgb565(12x8)": (8, 12, 2),
    "rgb565(12x8,order=big)": (8, 12, 2),
    "yuyv(12x8)": (8, 12, 2),
    "yuyv(12x8,range=full)": (8, 12, 2),
    "nv12(12x8)": (12, 12, 1),
    "nv12(12x8,range=full)": (12, 12, 1),
    "bayer(12x8,pattern=rggb)": (8, 12, 1),
    "bayer(12x8,pattern=grbg)": (8, 12, 1),
    "bayer(12x8,pattern=gbrg)": (8, 12, 1),
    "bayer(12x8,pattern=bggr)": (8, 12, 1),
}
REST = ",mirror,crop=10x8,resize=8x6,rotate=90,scale=1/255,mean=0.4:0.5:0.6,std=0.2:0.3:0.4"


def on_host(text: str, x: np.ndarray) -> np.ndarray:
    """[n, height, width, channels] of a camera's bytes [rows, columns, bytes]."""
    return applied(parse(text, words()).steps, x[None], channels=3)


def drawn(shape: tuple[int, ...]) -> np.ndarray:
    """Random bytes, some of them 0 and 255."""
    x = RNG.integers(-40, 296, shape)
    return np.uint8(x.clip(0, 255))


def test_rgb565_is_pillows_to_one() -> None:
    every = np.arange(1 << 16, dtype="<u2").view(np.uint8)
    found = on_host("rgb565(256x256)", every.reshape(256, 256, 2))[0]
    pillow = np.asarray(Image.frombuffer("RGB", (256, 256), every.tobytes(), "raw", "BGR;16", 0, 1))
    assert np.abs(found.astype(int) - pillow).max() == 1
    red, green, blue = (np.arange(1 << 16) >> shift & top for shift, top in ((11, 31), (5, 63), (0, 31)))
    exact = np.stack([red / 31, green / 63, blue / 31], axis=-1).reshape(256, 256, 3) * 255
    assert np.abs(found - exact).max() < 1
    swapped = every.reshape(256, 256, 2)[..., ::-1]
    assert np.array_equal(on_host("rgb565(256x256,order=big)", swapped)[0], found)


def every_yuv(is_full: bool) -> tuple[np.ndarray, np.ndarray]:
    """A grid of Y, U and V: (bytes [52, 2704, 2] as YUYV, float64 red, green and blue [52, 2704, 3])."""
    u, v, y = np.meshgrid(*[np.arange(0, 256, 5)] * 2, np.arange(0, 256, 10), indexing="ij")
    x = np.stack([y, u, y, v], axis=-1).astype(np.uint8).reshape(52, -1, 2)
    a, scale = (y, 1.0) if is_full else (np.maximum(y - 16, 0) * 255 / 219, 255 / 224)
    u, v = (u - 128) * scale, (v - 128) * scale
    rgb = np.stack([a + 1.402 * v, a - (0.114 * 1.772 * u + 0.299 * 1.402 * v) / 0.587, a + 1.772 * u], axis=-1)
    return x, np.repeat(rgb.clip(0, 255), 2, axis=2).reshape(52, -1, 3)


@pytest.mark.parametrize("form", ["limited", "full"])
def test_yuv_is_bt_601(form: str) -> None:
    x, exact = every_yuv(form == "full")
    found = on_host(f"yuyv(2704x52,range={form})", x)[0]
    assert np.abs(found - exact).max() < 0.51
    if cv2 is not None and form == "limited":
        assert np.abs(found.astype(int) - cv2.cvtColor(x, cv2.COLOR_YUV2RGB_YUYV)).max() <= 1
    if form == "full":  # Pillow's YCbCr
        y, u, v = x[..., 0], np.repeat(x[:, ::2, 1], 2, axis=1), np.repeat(x[:, 1::2, 1], 2, axis=1)
        pillow = Image.merge("YCbCr", [Image.fromarray(np.ascontiguousarray(c)) for c in (y, u, v)]).convert("RGB")
        assert np.abs(found.astype(int) - np.asarray(pillow)).max() <= 1


def test_nv12_is_yuyv_with_shared_rows() -> None:
    luma, chroma = drawn((8, 12)), drawn((4, 12))
    packed = np.stack([luma, np.repeat(chroma, 2, axis=0)], axis=-1)
    planes = np.concatenate([luma, chroma])[..., None]
    for form in ("limited", "full"):
        assert np.array_equal(on_host(f"nv12(12x8,range={form})", planes), on_host(f"yuyv(12x8,range={form})", packed))


@pytest.mark.parametrize("pattern", ["rggb", "grbg", "gbrg", "bggr"])
def test_bayer_is_bilinear(pattern: str) -> None:
    """Means of a 3x3 kernel over each colour, as OpenCV has inside the image, with mirrored borders in float64."""
    x = drawn((8, 12))
    found = on_host(f"bayer(12x8,pattern={pattern})", x[..., None])[0]
    wide = np.pad(x.astype(float), 2, mode="reflect")
    sides = np.array([[0, 1, 0], [1, 4, 1], [0, 1, 0]]) / 4
    all_near = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 4
    for channel, letter in enumerate("rgb"):
        mask = np.tile(np.array([c == letter for c in pattern]).reshape(2, 2), (6, 8)) * wide
        kernel = sides if letter == "g" else all_near
        parts = [kernel[i, j] * mask[1 + i : 9 + i, 1 + j : 13 + j] for i in range(3) for j in range(3)]
        assert np.array_equal(found[..., channel], np.floor(sum(parts) + 0.5))
    if cv2 is not None:
        wanted = cv2.cvtColor(x, getattr(cv2, f"COLOR_Bayer{pattern.upper()}2RGB"))
        assert np.array_equal(found[1:-1, 1:-1], wanted[1:-1, 1:-1])


def test_turned_images() -> None:
    x = drawn((5, 7, 3))
    turned = [on_host(f"rotate={90 * k}", x)[0] for k in (1, 2, 3)]
    assert all(np.array_equal(y, np.rot90(x, -k)) for k, y in enumerate(turned, 1))
    assert np.array_equal(on_host("mirror", x)[0], x[:, ::-1])


def streamed(text: str, shape: tuple[int, ...], board: str = "host", mode: str = "rows") -> Artifact:
    net = network(shape, "s8")
    options = Options(board=board, preprocess=text, input_mode=mode)
    front = firmware.graph_for(parse(text, words()), "", net)
    joined = pipeline.chain.joined(pipeline.chain.renamed(front, "front_"), net)
    prepared = pipeline.prepare_graph(joined, options, "net")
    return pipeline.finish(prepared, pipeline.solve.solve(prepared.graph, prepared.board, prepared.options))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("word", FORMATS)
def test_the_c_computes_the_bits_of_the_host(word: str, core: str) -> None:
    x, text = drawn(FORMATS[word]), word + REST
    real = on_host(text, x)
    stored = (np.rint(real / np.float32(0.05)) + 3).clip(-128, 127).astype(np.int8)
    artifact = streamed(text, real.shape, core)
    assert {type(node.op) for node in artifact.graph.nodes} & {Table, ChannelTables} == {ChannelTables}
    if core == "host":
        found = artifact.run(x[None], real=False)[0]
    else:
        (found,) = emulated.simulate(artifact, [Case("image", [x[None]])]).outputs[0]
    assert np.array_equal(found.reshape(-1), stored.reshape(-1))


def test_arrays_of_camera_bytes_are_samples(tmp_path: Path) -> None:
    x, text = np.stack([drawn((8, 12, 2)) for _ in range(3)]), "rgb565(12x8),gray,scale=1/255"
    wanted = np.concatenate([on_host(text, image) for image in x])
    net = graph(("image", (1, 8, 12, 1)))
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "frames").mkdir()
    for k, image in enumerate(x):
        np.save(tmp_path / f"frames/{k}.npy", image.reshape(-1))
    hashes = set()
    for path in (saved(tmp_path, x=x, y=np.arange(3)), tmp_path / "x.npy", tmp_path / "frames"):
        found = load(path, net, preprocess=text)
        assert np.array_equal(found.arrays[0][:, 0], wanted)
        hashes.add(found.features)
    assert len(hashes) == 1 and "" not in hashes


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rgb565", ("expected columns and rows in parentheses, such as (160x120)",)),
        ("rgb565(160)", ("expected columns and rows in parentheses",)),
        ("rgb565(160x0)", ("expected a whole number, 1 to 4096, found '0'",)),
        ("rgb565(8x8,order=middle)", ("expected one of little, big, found 'middle'",)),
        ("rgb565(8x8,big)", ("'big' is no parameter; parameters are order",)),
        ("yuyv(13x8)", ("needs an even number of columns, not 13", "yuyv(WxH)")),
        ("nv12(13x8)", ("needs an even number of columns, not 13",)),
        ("nv12(12x9)", ("needs an even number of rows, not 9",)),
        ("bayer(12x9,pattern=rggb)", ("needs an even number of rows, not 9",)),
        ("bayer(13x8,pattern=rggb)", ("needs an even number of columns, not 13",)),
        ("bayer(12x8)", ("needs pattern=..., one of rggb, grbg, gbrg, bggr",)),
        ("bayer(12x8,pattern=rgbg)", ("expected one of rggb, grbg, gbrg, bggr, found 'rgbg'",)),
        ("yuyv(12x8,range=narrow)", ("expected one of limited, full, found 'narrow'",)),
        ("gray,rgb565(8x8)", ("'rgb565(8x8)' takes a camera's bytes", "put it before all other words")),
        ("rgb565(8x8),rotate=45", ("expected one of 90, 180, 270, found '45'",)),
        ("rgb565(8x8),mirror=left", ("'mirror' takes no value",)),
        ("rgb565(8x8),logmel(window=4,hop=2)", ("has words for images and for sounds",)),
    ],
)
def test_words_that_cannot_be(text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, words())
    for part in parts:
        assert part in caught.value.explain()


@pytest.mark.parametrize(
    ("text", "raw", "parts"),
    [
        ("rgb565(12x8)", "12x9x2:u8", ("'12x9x2:u8' does not fit 'rgb565(12x8)', which takes 192 bytes, [8, 12, 2]",)),
        ("nv12(12x8)", "144:s8", ("does not fit 'nv12(12x8)', which takes 144 bytes, [12, 12, 1]", "leave --raw out")),
        ("rgb565(12x8),crop=13", "", ("has 12 x 8 pixels, fewer than the crop of 13 x 13", "correct 'crop=13'")),
        ("rgb565(12x8),scale=1", "", ("expected samples of shape [8, 12, 1], found [8, 12, 3]", "--preprocess gray")),
        ("rotate=90,scale=1", "", ("the size of the camera's images is not known",)),
    ],
)
def test_bytes_and_networks_that_do_not_fit(text: str, raw: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        firmware.graph_for(parse(text, words()), raw, network((1, 8, 12, 1)))
    for part in parts:
        assert part in caught.value.explain()


def test_samples_that_are_no_camera_bytes(tmp_path: Path) -> None:
    net, text = graph(("image", (1, 8, 12, 3))), "rgb565(12x8)"
    few = saved(tmp_path, x=np.zeros((3, 8, 11, 2), np.uint8))
    refused(few, net, "samples of 176 bytes, [8, 11, 2]", "'rgb565(12x8)' takes 192, [8, 12, 2]", preprocess=text)
    real = saved(tmp_path, x=np.zeros((3, 192), np.float32))
    refused(real, net, "has float32, but 'rgb565(12x8)' takes bytes", preprocess=text)
    crop = saved(tmp_path, x=np.zeros((3, 192), np.uint8))
    refused(crop, net, "has 12 x 8 pixels", "correct 'crop=99'", preprocess=text + ",crop=99")
    folder = tmp_path / "images"
    folder.mkdir()
    Image.fromarray(np.zeros((8, 12, 3), np.uint8)).save(folder / "a.png")
    refused(folder, net, "takes a camera's bytes, but the samples are images", "leave out", preprocess=text)


def test_the_docs_list_every_word() -> None:
    page = (ROOT / "docs/samples.md").read_text(encoding="utf-8")
    assert not [word.form for word in camera.WORDS if f"`{word.form}`" not in page]
