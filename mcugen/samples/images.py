"""Images as samples: uint8 [height, width, channels], with one or three channels. Needs Pillow (extra `images`).

Pillow is loaded only when an image is read. Files are not trusted: formats, pixels and scans are limited before
anything is decoded.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples.column import Column, named, of_files
from mcugen.samples.preprocess import IMAGE, Plan, PreprocessStep, Word
from mcugen.system import files

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "BMP", "PPM")
MAX_BYTES = 1 << 26
MAX_PIXELS = 1 << 26
MAX_SIDE = 4096
_MAX_SCANS = 100
"""Most scans of a JPEG: encoders write about ten, and each costs a pass over all pixels."""
_FILTERS = ("nearest", "box", "bilinear", "bicubic", "lanczos")
_HINT = "convert the file to PNG or JPEG, or give arrays"


def _sides(text: str) -> tuple[int, ...]:
    """`32x24` as (32, 24), `32` as (32,)."""
    found = tuple(int(part) for part in text.split("x"))
    if len(found) > 2 or not all(1 <= side <= MAX_SIDE for side in found):
        raise ValueError(f"expected WIDTHxHEIGHT, each 1 to {MAX_SIDE}")
    return found


def _resizing(text: str) -> tuple[tuple[int, ...], str]:
    sides, _, name = text.partition(":")
    if name and name not in _FILTERS:
        raise ValueError(f"filters are {', '.join(_FILTERS)}")
    return _sides(sides), name or "bilinear"


WORDS = (
    Word("rgb", "convert to red, green and blue; what is transparent becomes opaque", IMAGE),
    Word("gray", "convert to one channel, 0.299 red + 0.587 green + 0.114 blue", IMAGE),
    Word("resize=WxH", "resize to W columns and H rows; resize=N: the shorter side to N; :FILTER", IMAGE, _resizing),
    Word("crop=WxH", "keep W columns and H rows in the middle; crop=N: a square", IMAGE, _sides),
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
            return _array(_stepped(_plain(image), steps, path), path)
    except UsageError:
        raise
    except Exception as error:  # decoders raise many types, for damage of many kinds
        message = f"is no image, or a damaged one: {error or type(error).__name__}"
        raise UsageError(message, where=named(path), hint=_HINT) from error


def _plain(image: Image) -> Image:
    """The image with 1-bit pixels converted to gray, and palettes to colours."""
    if image.mode == "P":
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    return image.convert("L") if image.mode == "1" else image


def _stepped(image: Image, steps: Sequence[PreprocessStep], path: Path) -> Image:
    if image.mode not in ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr"):
        raise UsageError(f"has pixels {image.mode!r}, not of 8 bits", where=named(path), hint=_HINT)
    for step in steps:
        if step.word in ("rgb", "gray"):
            image = image.convert("RGB" if step.word == "rgb" else "L")
        elif step.word == "resize":
            image = _resized(image, *step.value)
        else:
            image = _cropped(image, step.value, path)
    return image


def _resized(image: Image, sides: tuple[int, ...], name: str) -> Image:
    from PIL.Image import Resampling

    if len(sides) == 1:
        short = min(image.size)
        sides = tuple(max(1, (2 * side * sides[0] + short) // (2 * short)) for side in image.size)
        if max(sides) > 4 * MAX_SIDE:
            raise ValueError(f"{sides[0]} x {sides[1]} pixels after resizing are too many")
    return image.resize((sides[0], sides[1]), Resampling[name.upper()])


def _cropped(image: Image, sides: tuple[int, ...], path: Path) -> Image:
    width, height = sides[0], sides[-1]
    left, top = (image.width - width) // 2, (image.height - height) // 2
    if left < 0 or top < 0:
        message = f"has {image.width} x {image.height} pixels, fewer than the crop of {width} x {height}"
        raise UsageError(message, where=named(path), hint="resize before crop")
    return image.crop((left, top, left + width, top + height))


def _array(image: Image, path: Path) -> np.ndarray:
    if image.mode not in ("L", "RGB"):
        message = f"has channels {image.mode}"
        raise UsageError(message, where=named(path), hint="add rgb or gray to --preprocess")
    found = np.asarray(image)
    return found if found.ndim == 3 else found[..., None]
