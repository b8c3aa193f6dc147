"""The fields of Options as keyword arguments, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

Layout = Literal["", "nhwc", "nchw"]


class Choices(TypedDict, total=False):
    """What `mcugen.compile` and `mcugen.load` take; `mcugen.options.Options` explains each."""

    board: str
    backend: Literal["", "c", "opencl"]
    precision: Literal["", "f16"]
    features: str
    name: str
    reference: Literal["", "tflm", "litert", "ort"]
    input_shape: str | Sequence[str] | Sequence[int] | Mapping[str, Sequence[int]]
    signature: str
    input_layout: Layout
    output_layout: Layout
    quantize: str
    optimize: Literal["balanced", "speed", "ram", "flash"]
    input_mode: Literal["whole", "rows", "frames"]
    ram: str
    flash: str
    clock: str
    require_accelerated: bool
    region: str
    weights_in: str
    weights_blob: bool
    fetch_weights: bool
    no_rows: bool
    no_simplify: bool
    keep_input: bool
    selftest: bool
    export: tuple[str, ...]
    kernels_dir: str
    no_report: bool
    amalgamate: bool
