"""Images as samples: uint8 [height, width, channels], with one or three channels. Needs Pillow (extra `images`).

Pillow is loaded only when an image is read. Files are not trusted: formats, pixels and scans are limited before
anything is decoded.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mcugen.errors import UsageError
from mcugen.ops.banded import FRACTION, Banded
from mcugen.ops.reverse import Reverse
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.tile import Tile
from mcugen.ops.transpose import Transpose
from mcugen.samples.column import Column, named, of_files
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import IMAGE, Plan, PreprocessStep, Word, applied, one_of, reported, whole
from mcugen.system import files

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "BMP", "PPM")
MAX_BYTES = 1 << 26
MAX_PIXELS = 1 << 26
MAX_SIDE = 4096
_MAX_SCANS = 100
"""Most scans of a JPEG: encoders write about ten, and each costs a pass over all pixels."""
_GRAY = (19595, 38470, 7471)
"""The shares of red, green and blue in gray, with 16 fractional bits."""
_HINT = "convert the file to PNG or JPEG, or give arrays"


def _sides(text: str) -> tuple[int, ...]:
    """`32x24` as (32, 24), `32` as (32,)."""
    found = tuple(map(whole(1, MAX_SIDE), text.split("x")))
    if len(found) > 2:
        raise ValueError(f"expected WIDTHxHEIGHT, found {text!r}")
    return found


def _cubic(x: float) -> float:
    x = abs(x)
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return ((-0.5 * x + 2.5) * x - 4) * x + 2 if x < 2 else 0.0


def _sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


_FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "nearest": (0.0, lambda x: 1.0),
    "box": (0.5, lambda x: float(-0.5 < x <= 0.5)),
    "bilinear": (1.0, lambda x: max(0.0, 1 - abs(x))),
    "bicubic": (2.0, _cubic),
    "lanczos": (3.0, lambda x: _sinc(x) * _sinc(x / 3) if -3 <= x < 3 else 0.0),
}
"""Filter -> half of its width in pixels, and its weight at a distance in pixels. Source: Pillow."""


def _resizing(text: str) -> tuple[tuple[int, ...], str]:
    sides, _, name = text.partition(":")
    return _sides(sides), one_of(_FILTERS)(name or "bilinear")


def rgb(front: FrontEnd, x: str, _: None) -> str:
    """Three channels: [n, height, width, 1 or 3] to [n, height, width, 3]."""
    return x if front.type(x).shape[3] == 3 else front.node(Tile((1, 1, 1, 3)), x)


def gray(front: FrontEnd, x: str, _: None) -> str:
    """One channel: [n, height, width, 1 or 3] to [n, height, width, 1], rounded to nearest."""
    if front.type(x).shape[3] == 1:
        return x
    weights = np.array([_GRAY], np.int32) << (FRACTION - 16)
    return front.node(Banded(3, (0,), 1), x, front.constant(weights))


def resized(front: FrontEnd, x: str, value: tuple[tuple[int, ...], str]) -> str:
    """Another height and width, first along rows, then along columns, each rounded to bytes."""
    sides, name = value
    height, width = front.type(x).shape[1:3]
    if len(sides) == 1:
        short = min(height, width)
        sides = tuple(max(1, (2 * side * sides[0] + short) // (2 * short)) for side in (width, height))
        if max(sides) > 4 * MAX_SIDE:
            raise ValueError(f"{sides[0]} x {sides[1]} pixels after resizing are too many")
    for axis, there, wanted in ((2, width, sides[0]), (1, height, sides[1])):
        if there != wanted:
            first, weights = _weights(there, wanted, *_FILTERS[name])
            x = front.node(Banded(axis, first, wanted), x, front.constant(weights))
    return x


def _weights(
    there: int, wanted: int, reach: float, weight: Callable[[float], float]
) -> tuple[tuple[int, ...], np.ndarray]:
    """For each new pixel, the first pixel that it sees, and its weights [wanted, taps], as integers.

    Filters widen where images shrink. Source: Pillow, precompute_coeffs.
    """
    scale = there / wanted
    wide = max(scale, 1.0) if reach else 1.0
    firsts, rows = [], []
    for k in range(wanted):
        center = (k + 0.5) * scale
        low = max(0, int(center - reach * wide + 0.5)) if reach else int(center)
        high = min(there, int(center + reach * wide + 0.5)) if reach else low + 1
        row = [weight((j - center + 0.5) / wide) for j in range(low, high)]
        total = sum(row)
        firsts.append(low)
        rows.append([v / total if total else v for v in row])
    found = np.zeros((wanted, max(map(len, rows))))
    for k, values in enumerate(rows):
        found[k, : len(values)] = values
    return tuple(firsts), (np.trunc(found * (1 << FRACTION) + np.copysign(0.5, found))).astype(np.int32)


def cropped(front: FrontEnd, x: str, sides: tuple[int, ...]) -> str:
    """The middle of the images."""
    n, height, width, channels = front.type(x).shape
    across, down = sides[0], sides[-1]
    left, top = (width - across) // 2, (height - down) // 2
    if left < 0 or top < 0:
        message = f"has {width} x {height} pixels, fewer than the crop of {across} x {down}: resize before crop"
        raise ValueError(message)
    ranges = ((0, n, 1), (top, down, 1), (left, across, 1), (0, channels, 1))
    return front.node(StridedSlice(ranges, (n, down, across, channels)), x)


def mirrored(front: FrontEnd, x: str, _: None) -> str:
    """Left and right exchanged."""
    return front.node(Reverse((2,)), x)


def rotated(front: FrontEnd, x: str, degrees: str) -> str:
    """Turned clockwise by 90, 180 or 270 degrees."""
    if degrees == "180":
        return front.node(Reverse((1, 2)), x)
    return front.node(Reverse((2 if degrees == "90" else 1,)), front.node(Transpose((0, 2, 1, 3)), x))


WORDS = (
    Word("rgb", "convert to red, green and blue; what is transparent becomes opaque", IMAGE, rgb),
    Word("gray", "convert to one channel, 0.299 red + 0.587 green + 0.114 blue", IMAGE, gray),
    Word(
        "resize=WxH",
        "resize to W columns and H rows; resize=N: the shorter side to N; resize=N:FILTER",
        IMAGE,
        resized,
        _resizing,
    ),
    Word("crop=WxH", "keep W columns and H rows in the middle; crop=N: a square", IMAGE, cropped, _sides),
    Word("mirror", "exchange left and right", IMAGE, mirrored),
    Word("rotate=D", "turn clockwise by D degrees, 90, 180 or 270", IMAGE, rotated, one_of(("90", "180", "270"))),
)


def column(paths: Sequence[Path], plan: Plan, where: str) -> Column:
    """The images of a folder after the plan's steps for images. Raises UsageError."""
    steps = plan.of(IMAGE)
    hint = "add rgb or gray, and resize=WIDTHxHEIGHT, to --preprocess"
    return of_files(where, paths, lambda path: pixels(path, steps), hint, channels=2)


def pixels(path: Path, steps: Sequence[PreprocessStep]) -> np.ndarray:
    """The pixels of one image after the steps."""
    try:
        from PIL import Image
    except ImportError as error:
        raise UsageError(
            "reading images needs Pillow", where=named(path), hint="pip install 'mcugen[images]'"
        ) from error
    data = files.read(path, MAX_BYTES)
    if data.startswith(b"\xff\xd8") and data.count(b"\xff\xda") > _MAX_SCANS:
        raise UsageError(f"is a JPEG with more than {_MAX_SCANS} scans", where=named(path), hint=_HINT)
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(data), formats=FORMATS) as image:
            warnings.simplefilter("ignore")
            if image.width * image.height > MAX_PIXELS:
                raise UsageError(
                    f"has {image.width} x {image.height} pixels, more than {MAX_PIXELS:,}",
                    where=named(path),
                    hint="give smaller images",
                )
            image.load()
            given = _array(_plain(image, steps, path), path)
    except UsageError:
        raise
    except Exception as error:  # decoders raise many types, for damage of many kinds
        message = f"is no image, or a damaged one: {error or type(error).__name__}"
        raise UsageError(message, where=named(path), hint=_HINT) from error
    with reported(named(path)):
        return np.asarray(applied(steps, given[None], channels=3)[0])


def _plain(image: Image, steps: Sequence[PreprocessStep], path: Path) -> Image:
    """The image with one channel or three: palettes are converted, other modes if there is `rgb` or `gray`."""
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    if image.mode not in ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr"):
        raise UsageError(f"has pixels {image.mode!r}, not of 8 bits", where=named(path), hint=_HINT)
    if any(step.name in ("rgb", "gray") for step in steps):
        return image.convert("L" if image.mode in ("L", "LA") else "RGB")
    return image


def _array(image: Image, path: Path) -> np.ndarray:
    if image.mode not in ("L", "RGB"):
        message = f"has channels {image.mode}"
        raise UsageError(message, where=named(path), hint="add rgb or gray to --preprocess")
    found = np.asarray(image)
    return found if found.ndim == 3 else found[..., None]
