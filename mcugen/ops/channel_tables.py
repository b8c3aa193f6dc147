"""ChannelTables: a function of 8-bit data for each channel, as tables of 256 results. Only passes make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType


def channels(call: Call) -> int:
    """The number of channels."""
    return call.output.shape[-1]


def pixels(call: Call) -> int:
    """The number of pixels."""
    return call.output.size // channels(call)


def params(call: Call) -> Params:
    return {"tables": np.frombuffer(call.op.values, np.uint8).reshape(channels(call), 256), "channels": channels(call)}


@dataclass(frozen=True)
class ChannelTables(Op):
    """y[..., c] = values[c][x[..., c]], with x as an unsigned byte.

    x, y: s8 or u8 [..., C]   values: C * 256 bytes, one channel after the other   dtype: y's element type
    Source: none; the combined effect of several operators on 8-bit data, such as means and deviations of channels.
    """

    values: bytes = field(repr=False)
    dtype: str

    litert_types = frozenset()
    is_elementwise = True
    kernels = (Kernel("mg_channel_tables_b1", Run(pixels), params=params, in_place=(0,)),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype not in ("s8", "u8") or not x.shape or len(self.values) != 256 * x.shape[-1]:
            raise ShapeError(f"the tables need 256 values for each channel of {x}, not {len(self.values)} in all")
        return (TensorType(x.shape, self.dtype),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        tables = np.frombuffer(self.values, np.uint8).reshape(-1, 256)
        return tables[np.arange(len(tables)), x.view(np.uint8)].view(call.output.np_dtype)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        quant, found = QuantParams((0.5,), (0,)), []
        for k, (shape, given, made) in enumerate((((1, 3, 5, 3), "u8", "s8"), ((2, 4), "s8", "s8"))):
            values = np.random.default_rng(k).integers(0, 256, 256 * shape[-1]).astype(np.uint8).tobytes()
            types = [TensorType(shape, t, quant if t == "s8" else None) for t in (given, made)]
            found.append(Example(cls(values, made), (types[0],), (types[1],), {}, k))
        return found
