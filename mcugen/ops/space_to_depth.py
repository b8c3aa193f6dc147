"""SPACE_TO_DEPTH: blocks of pixels become groups of channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _tflite, _view
from mcugen.ops._window import image


def from_tflite(source: Source) -> Imported:
    return Imported(SpaceToDepth(source.attributes["block_size"]))


def _attributes(call: Call) -> dict[str, object]:
    return {"block_size": call.op.block}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if not _onnx.real(call.output).is_float:
        raise UnsupportedError(f"ONNX has no SpaceToDepth of {call.output.dtype}")
    return _onnx.on_images(call, sink, "SpaceToDepth", inputs, {"blocksize": call.op.block})


@dataclass(frozen=True)
class SpaceToDepth(_view.View):
    """y[n, i, j, (di * b + dj) * C + c] = x[n, i * b + di, j * b + dj, c].

    x: s8, u8, s32, s64 or f32 [N, H, W, C], H and W multiples of b = `block`   y: as x, [N, H / b, W / b, b * b * C]
    Source: TFLite SPACE_TO_DEPTH.
    """

    block: int

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 s32 s64 f32")
    imports = (Import("tflite", "SPACE_TO_DEPTH", from_tflite),)
    writes = (_tflite.same("SPACE_TO_DEPTH", _attributes, s8=2), Write("onnx", to_onnx))
    kernels = _view.KERNELS

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = image(x)
        n, h, w, c = x.shape
        if self.block < 1 or h % self.block or w % self.block:
            raise ShapeError(f"{h}x{w} pixels must be divisible into blocks of {self.block}x{self.block}")
        shape = (n, h // self.block, w // self.block, c * self.block**2)
        return (TensorType(shape, x.dtype),)

    def view(self, x: np.ndarray) -> np.ndarray:
        """x as [N, H / b, W / b, b, b, C], before its axes are merged."""
        n, h, w, c = x.shape
        b = self.block
        return x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)

    def reference(self, x: np.ndarray) -> np.ndarray:
        shape = self.infer(TensorType(x.shape, "f32"))[0].shape
        return self.view(x).reshape(shape)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Stored elements are moved."""
        return self.reference(x)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = ((2, (1, 4, 6, 3)), (3, (2, 3, 6, 1)), (2, (1, 2, 2, 5)), (1, (1, 2, 3, 2)))
        return _view.examples((cls(block), shape) for block, shape in cases)
