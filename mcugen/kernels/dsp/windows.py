"""Convolutions on cores with SMLAD without scratch memory: the kernel of vector_direct.py on the rows of a window.

Words of four taps are read in place from the image's rows. For windows that reach beyond a row, a table gives the
offset of a word inside the row, and the shifts that turn it into the needed word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.kernels.dsp import scaling, streams, vector
from mcugen.kernels.dsp.ways import constants
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, matrix, row_window, window_of

GROUP = 4
"""Taps per word."""
MAX_STEPS = 1023
"""Largest number of words per kernel row, so that their bytes fit the constant of an addition."""
UNROLLED = 16
"""Largest number of words per kernel row that are unrolled."""
MAX_SIZE = 2**16 - 1
_CODE = {16: (440, 52), 8: (464, 64)}
"""Bits of weights -> code bytes of the kernel: (fixed part, part per unrolled word)."""
_BEYOND = (0, 60, 64)
"""Code bytes for windows that reach beyond the image, apart from unrolled words. The index is the value of `edges`."""
TERMS = ("blocks", "rows", "groups", "loops", "beyond", "sides", "beside", *scaling.CLAMP_TERMS)


@dataclass(frozen=True)
class WindowRow:
    """Sizes in bytes of an image row and of a kernel row. The first output's window begins `first` bytes before the
    row.
    """

    size: int
    run: int
    first: int
    step: int
    outputs: int

    @property
    def steps(self) -> int:
        """Whole words per kernel row; 1 if there are fewer than four taps."""
        return max(self.run // GROUP, 1)

    @property
    def tail(self) -> int:
        """Taps after whole words."""
        return self.run % GROUP if self.run > GROUP else 0

    @property
    def words(self) -> int:
        return self.steps + (self.tail > 0)

    @cached_property
    def starts(self) -> np.ndarray:
        """The offset in the image row of each word, [outputs, words]."""
        words = np.array([*range(0, GROUP * self.steps, GROUP), *[self.run - GROUP] * (self.tail > 0)])
        return np.asarray(words - self.first + np.arange(self.outputs)[:, None] * self.step)

    @cached_property
    def inside(self) -> tuple[int, int]:
        """Range [first, end) of the outputs whose words are all inside the row."""
        read = self.run if self.tail else GROUP * self.steps
        first, end = -(-self.first // self.step), min((self.size - read + self.first) // self.step + 1, self.outputs)
        return (first, end) if first < end else (0, 0)

    @property
    def is_whole(self) -> bool:
        """Whether each word lies either wholly inside or wholly outside the row."""
        return not any(n % GROUP for n in (self.size, self.run, self.first, self.step))

    @cached_property
    def beyond(self) -> np.ndarray:
        """The offset of each window that reaches beyond the row."""
        return self._others[:, 0]

    @cached_property
    def _others(self) -> np.ndarray:
        """The offsets of the words of outputs that are not `inside`."""
        first, end = self.inside
        return np.concatenate([self.starts[:first], self.starts[end:]])

    @cached_property
    def seen(self) -> np.ndarray:
        """For each output that is not `inside`: (first tap in the row, number of taps in the row)."""
        at = np.clip(self.beyond, 0, self.size)
        return np.stack([at - self.beyond, np.clip(self.beyond + self.run, 0, self.size) - at], axis=-1)

    def left_out(self, word: int) -> np.ndarray:
        """Table uint32 [outputs not inside, 4] for words that are each wholly inside or outside the row: see
        dsp_windows.h.

        word: words of the stream per word of taps.
        """
        first, taps = self.seen.T
        before, behind = (n // GROUP * word for n in (first, self.run - first - taps))
        return np.stack([self.beyond + first, taps, before, behind], axis=-1).astype(np.uint32)

    def edges(self, outside: int) -> np.ndarray:
        """Table uint32 [outputs not inside, words, 2]: see dsp_windows.h. outside: value of elements outside the
        row.
        """
        starts = self._others
        up, down = np.clip(-starts, 0, GROUP), np.clip(starts + GROUP - self.size, 0, GROUP)
        at = np.clip(starts, 0, self.size - GROUP)
        places = starts[..., None] + np.arange(GROUP)
        beyond = np.where((places < 0) | (places >= self.size), outside & 0xFF, 0)
        fill = (beyond << np.arange(0, 32, 8)).sum(axis=-1)
        return np.stack([at << 16 | 8 * down << 8 | 8 * up, fill], axis=-1).astype(np.uint32)


@fact
def row_of(call: Call) -> WindowRow:
    window, x = window_of(call), call.input(0).shape
    left = window.pad((x[1], x[2]))[1]
    return WindowRow(x[2] * x[3], window.kernel[1] * x[3], left * x[3], window.stride[1] * x[3], call.output.shape[2])


def in_runs(call: Call) -> bool:
    "the taps of a kernel row are adjacent, at most 4092"
    window = window_of(call)
    return (window.dilation[1] == 1 or window.kernel[1] == 1) and row_of(call).steps <= MAX_STEPS


def in_words(call: Call) -> bool:
    "rows of the image have 4 to 65535 elements, and no size is above 65535"
    sizes = (*call.output.shape, window_of(call).kernel[0], row_of(call).size)
    return row_of(call).size >= GROUP and max(sizes) <= MAX_SIZE


@fact
def _variant(call: Call) -> dict[str, int]:
    row = row_of(call)
    most = scaling.unrolled(call, UNROLLED, 60, 256)
    unroll = next(n for n in range(most, 0, -1) if row.steps % n == 0)
    sizes = {"unroll": unroll, "loop": int(row.steps > unroll), "steps": row.steps, "tail": row.tail}
    finish = {"linear": int(vector.needs_sign(call)), "once": vector.how_once(call)}
    edges = (2 if row.is_whole else 1) if row.inside != (0, row.outputs) else 0
    return {**sizes, "edges": edges, **finish}


@fact
def _taps(call: Call) -> np.ndarray:
    """The weights [outputs, taps] in the order of reading, with zeros inserted."""
    w, row = matrix(call), row_of(call)
    rows = w.reshape(-1, row.run)
    whole = streams.overlapped(rows) if row.run >= GROUP else streams.padded(rows, GROUP)
    return streams.swapped(whole).reshape(len(w), -1)


def _biases(call: Call, bits: int) -> np.ndarray:
    """Biases int32 [columns not inside, output channels of all blocks], as in the stream."""
    row, w = row_of(call), matrix(call)
    before = np.zeros((len(w), row.run + 1), np.int64)
    np.cumsum(w.reshape(len(w), -1, row.run).sum(axis=1), axis=1, out=before[:, 1:])
    first, count = row.seen.T
    seen = before[:, np.clip(first + count, 0, row.run)] - before[:, np.clip(first, 0, row.run)]
    bias = _filter.bias_of(call, len(w)) - call.input(0).zero_point * seen.T
    return streams.stored(streams.biases(bias, vector.scales_of(call), vector.BLOCK, bits))


def _params(call: Call, *, bits: int) -> Params:
    row, edges = row_of(call), _variant(call)["edges"]
    first, end = row.inside
    word = vector.BLOCK * GROUP * bits // 8
    return {
        "stream": vector.stream(call, _taps(call), bits, GROUP),
        "edges": (row.left_out(word) if edges == 2 else row.edges(call.input(0).zero_point)).reshape(-1),
        "biases": _biases(call, bits) if edges == 2 else np.zeros(0, np.int32),
        "kernel_h": window_of(call).kernel[0],
        "out_w": row.outputs,
        "out_c": call.output.shape[3],
        "words": 2 if edges == 2 else row.words,
        "blocks": -(-call.output.shape[3] // vector.BLOCK) if edges == 2 else 0,
        "inside_first": first,
        "inside_end": end,
        "first": -row.first,
        "step": row.step,
        **scaling.clamp(call, activation_of(call)),
    }


@fact
def _work(call: Call) -> dict[str, float]:
    """Cost terms of a call.

    blocks               blocks of four outputs
    rows, groups, loops  kernel rows of windows inside the image row, words in these rows, and loop iterations
    beyond               words of windows that reach beyond the image row, if words may be partly inside
    sides, beside        else: kernel rows of such windows, and words that these rows read
    """
    row, height, y = row_of(call), window_of(call).kernel[0], call.output.shape
    (first, end), sizes = row.inside, _variant(call)
    column = y[0] * y[1] * -(-y[3] // vector.BLOCK)
    inside, others = (n * column * height for n in (end - first, row.outputs - (end - first)))
    whole = sizes["edges"] == 2
    counts = {
        "blocks": column * y[2],
        "rows": inside,
        "groups": inside * row.words,
        "loops": inside * (row.steps // sizes["unroll"]) * sizes["loop"],
        "beyond": others * row.words * (not whole),
        "sides": others * whole,
        "beside": column * height * int(row.seen[:, 1].sum()) // GROUP if whole else 0,
    }
    return {**counts, **scaling.clamp_work(call, activation_of(call))}


def _code(call: Call, *, bits: int) -> int:
    """Code size in bytes of the kernel for this call."""
    sizes, (besides, each) = _variant(call), _CODE[bits]
    words = sizes["unroll"] + (sizes["tail"] > 0) + (sizes["edges"] > 0)
    return besides + each * words + _BEYOND[sizes["edges"]] + 12 * sizes["loop"] + 16 * sizes["linear"]


def kernels(is_dense: Rule) -> tuple[Kernel, ...]:
    """The kernels of a convolution, with 16-bit and 8-bit weights. is_dense: the rule that there is one group."""
    return tuple(_kernel(bits, is_dense) for bits in (16, 8))


def _kernel(bits: int, is_dense: Rule) -> Kernel:
    proofs = (in_runs, in_words, scaling.doubled, vector.scaled, *scaling.PROOFS[bits])
    return Kernel(
        f"mg_conv2d_s8__dsp{bits}_direct",
        Window(row_window, _filter.outside),
        accepts=(_filter.int8_outside, _filter.constant_weights, is_dense, *proofs),
        params=partial(_params, bits=bits),
        text=Text(_variant, constants(bits, single=False), source="dsp_windows_template.h", struct="mg_dsp_windows"),
        cost=Cost(_work, TERMS, code=partial(_code, bits=bits)),
        needs=scaling.DSP,
        widened=bits == 16,
        sized=True,
        short=f"convd_dsp{bits}",
    )
