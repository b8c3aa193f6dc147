"""Convolutions without scratch: vectors of taps are read in place from the image's rows.

Short kernel rows share a vector: each is loaded into some of its lanes. Taps outside the image are masked out. The
biases of these columns account for the missing taps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.fixed_point import wrap32
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.kernels.helium import packing
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, row_window, sums_fit, window_of
from mcugen.ops._window import MAX_FIELD

MOST_SHARED = 8
"""Most taps of kernel rows that share a vector."""
WORD = 4
"""Most taps of kernel rows that are loaded as single words of a vector."""
WORDS = (0, 2, 1, 3)
"""The order of the kernel rows in a vector whose words are rows."""
MOST_VECTORS = 512
"""Largest number of vectors per kernel row, so that the bytes of their masks fit the constant of a subtraction."""
MOST_OUTPUTS = 4096
EIGHT = (0, 2, 4, 6, 1, 3, 5, 7)
"""Order in which the outputs of a block are scaled."""

TERMS = (*packing.FINISH_TERMS, "strips", "pixels", "direct_blocks", "direct_rows", "direct_vectors", "masked")


@dataclass(frozen=True)
class VectorLayout:
    """The layout of `rows` kernel rows of `run` bytes in vectors.

    size: bytes of an image row. starts: offset of each window in it.
    """

    rows: int
    run: int
    outputs: int
    size: int
    starts: np.ndarray

    @property
    def per(self) -> int:
        """Number of kernel rows per vector."""
        return min(packing.LANES // max(self.run, WORD), self.rows) if self.run <= MOST_SHARED else 1

    @property
    def is_words(self) -> bool:
        """Whether rows that share a vector are single words of it."""
        return self.per > 1 and self.run <= WORD

    @property
    def lanes(self) -> list[int]:
        """The lane of the first tap of each row of a vector."""
        return [WORD * WORDS[k] if self.is_words else k * self.run for k in range(self.per)]

    @property
    def long(self) -> int:
        """Number of vectors per row, at least 1."""
        return 1 if self.per > 1 else -(-self.run // packing.LANES)

    @property
    def vectors(self) -> int:
        return -(-self.rows // self.per) * self.long

    @property
    def is_quick(self) -> bool:
        """Whether windows inside the image need no masks from a table."""
        return self.per == 1 or self.is_words or (self.per == 2 and self.run == MOST_SHARED)

    @property
    def together(self) -> int:
        """Number of outputs per block."""
        return 2 * packing.BLOCK if self.outputs > packing.BLOCK else packing.BLOCK

    @property
    def blocks(self) -> int:
        return -(-self.outputs // self.together)

    @property
    def inside(self) -> tuple[int, int]:
        """Range [first, end) of the columns whose windows are inside the row."""
        reach = max(self.run, WORD) if self.is_words else self.run
        found = np.flatnonzero((self.starts >= 0) & (self.starts + reach <= self.size))
        return (int(found[0]), int(found[-1]) + 1) if found.size else (0, 0)

    @property
    def seen(self) -> np.ndarray:
        """bool [1 + columns not inside, run]: whether each tap is in the image. The first row stands for all columns in
        `inside`."""
        first, end = self.inside
        places = np.delete(self.starts, np.s_[first:end])[:, None] + np.arange(self.run)
        return np.concatenate([np.ones((1, self.run), bool), (places >= 0) & (places < self.size)])

    def masks(self) -> np.ndarray:
        """Masks as uint16: see conv2d_s8__mve_direct.h."""
        seen = self.seen
        lanes = np.zeros((len(seen), self.per, self.long * packing.LANES), np.int64)
        for k, lane in enumerate(self.lanes):
            lanes[:, k, lane : lane + self.run] = seen
        bits = lanes.reshape(len(seen), -1, packing.LANES) << np.arange(packing.LANES)
        return np.asarray(bits.sum(axis=-1).astype(np.uint16).reshape(-1))

    def taps(self, w: np.ndarray) -> np.ndarray:
        """Weights [outputs, rows * run] as [outputs, vectors, LANES], with zeros in lanes that have no tap."""
        rows = np.zeros((len(w), -(-self.rows // self.per) * self.per, self.run), w.dtype)
        rows[:, : self.rows] = w.reshape(len(w), self.rows, self.run)
        if self.per == 1:
            return packing.padded(rows).reshape(len(w), self.vectors, packing.LANES)
        shared = np.zeros((len(w), self.vectors, packing.LANES), w.dtype)
        for k, lane in enumerate(self.lanes):
            shared[:, :, lane : lane + self.run] = rows[:, k :: self.per]
        return shared


@fact
def layout_of(call: Call) -> VectorLayout:
    window, x, y = window_of(call), call.input(0).shape, call.output.shape
    left = window.pad((x[1], x[2]))[1]
    starts = (np.arange(y[2]) * window.stride[1] - left) * x[3]
    return VectorLayout(window.kernel[0], window.kernel[1] * x[3], y[3], x[2] * x[3], starts)


def in_runs(call: Call) -> bool:
    "the taps of a kernel row are adjacent, at most 8192"
    window = window_of(call)
    return (window.dilation[1] == 1 or window.kernel[1] == 1) and layout_of(call).long <= MOST_VECTORS


def fits(call: Call) -> bool:
    "there are at most 4096 output channels, and no size is above 65535"
    found = layout_of(call)
    return found.outputs <= MOST_OUTPUTS and max(found.rows, found.size, *call.output.shape) <= MAX_FIELD


def variant(call: Call) -> dict[str, int]:
    found = layout_of(call)
    sizes = {"rows": found.rows, "run": found.run, "per": found.per, "outputs": found.outputs}
    return {"finish": packing.finish_of(call) or 0, **sizes}


def _picked(found: VectorLayout) -> np.ndarray:
    """[blocks, together] indices of outputs. An incomplete last block repeats the last output."""
    return np.minimum(np.arange(found.blocks * found.together), found.outputs - 1).reshape(found.blocks, -1)


def _biases(call: Call) -> np.ndarray:
    """Biases, int32 [1 + columns, outputs of all blocks]: one row for all columns whose windows are inside the image,
    then one for each other column."""
    found, w = layout_of(call), matrix(call)
    sums = w.reshape(len(w), found.rows, found.run).sum(axis=1) @ found.seen.T
    folded = np.stack([_filter.folded_bias(call, seen) for seen in sums.T])
    return np.asarray(wrap32(folded)[:, _picked(found).reshape(-1)].astype(np.int32))


def stream(call: Call) -> np.ndarray:
    found, w = layout_of(call), matrix(call)
    picked = _picked(found)
    weights = found.taps(w)[picked].transpose(0, 2, 1, 3).astype(np.int8)
    order = EIGHT if found.together > packing.BLOCK else tuple(range(packing.BLOCK))
    rest = packing.finishing(call, w, picked)[:, 1:, order]
    parts = (np.ascontiguousarray(part).view(np.int8).reshape(found.blocks, -1) for part in (weights, rest))
    return np.concatenate(list(parts), axis=1).reshape(-1)


def params(call: Call) -> Params:
    found, y = layout_of(call), call.output
    (first, end), (low, high) = found.inside, packing.output_range(call)
    made = stream(call)
    return {
        "stream": made,
        "biases": _biases(call).reshape(-1),
        "masks": found.masks(),
        "nbytes": made.size,
        "first": int(found.starts[0]),
        "step": window_of(call).stride[1] * call.input(0).shape[3],
        "out_w": y.shape[2],
        "inside_first": first,
        "inside_end": end,
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
    }


def work(call: Call) -> dict[str, float]:
    """Cost terms: calls (strips), pixels, blocks of outputs, their kernel rows and vectors of taps, and vectors with
    masks from a table (masked)."""
    found, y = layout_of(call), call.output.shape
    first, end = found.inside
    rows, edges = y[0] * y[1], y[2] - (end - first)
    pixels, masked = rows * y[2], rows * (edges if found.is_quick else y[2])
    blocks = pixels * found.blocks
    return {
        **packing.finish_work(call, blocks * found.together / packing.BLOCK),
        "strips": rows * (edges + (end > first)),
        "pixels": pixels,
        "direct_blocks": blocks,
        "direct_rows": blocks * found.rows,
        "direct_vectors": blocks * found.vectors * found.together / packing.BLOCK,
        "masked": masked * found.blocks * (found.rows * found.long),
    }


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_conv2d_s8__mve_direct. rules: rules of the operator."""
    first = (_filter.int8_data, *rules, _filter.constant_weights)
    return Kernel(
        "mg_conv2d_s8__mve_direct",
        Window(row_window, _filter.outside),
        (*first, in_runs, fits, packing.finishes, sums_fit),
        params=params,
        text=Text(variant, struct="mg_conv2d_s8__mve_direct"),
        cost=Cost(work, TERMS),
        needs=packing.NEEDS,
        short="conv_mve_dir",
    )
