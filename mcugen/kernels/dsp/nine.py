"""Nine-bit weights (legacy uint8 weights minus their zero point) stored in eight bits, on cores with SMLAD.

A stored weight is w + z, with one z per channel. To correct for it, kernels append the sum of the data to the gathered
taps as further words, whose weight is -z: see dsp_sums.h.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SUMMED_GROUPS = 127
"""Largest number of groups of four 8-bit taps whose sums fit two halfwords."""
LARGEST = 255


@dataclass(frozen=True)
class Sums:
    """Layout of the words that hold sums of a pixel's taps: the first word lies before the taps, the rest after them.

    A pixel has `runs` * `groups` * 4 taps.
    """

    groups: int
    runs: int = 1

    @property
    def taps(self) -> int:
        return 4 * self.groups * self.runs

    @property
    def words(self) -> int:
        if self.groups > SUMMED_GROUPS:
            return self.runs * -(-self.groups // SUMMED_GROUPS)
        return -(-self.runs // (SUMMED_GROUPS // self.groups))

    @property
    def following(self) -> int:
        """Number of words of taps and of the sums after them."""
        return self.taps // 2 + self.words - 1

    def stored(self, taps: np.ndarray) -> np.ndarray:
        """Weights [blocks, channels, taps and zeros] as eight-bit numbers: 0 to 255 for even channels, -128 to 127 for
        odd ones. The two weights of each word of sums are z."""
        found = np.pad(taps, ((0, 0), (0, 0), (2, 0)))
        for first, low, high in ((0, 0, 255), (1, -128, 127)):
            w = taps[:, first::2, : self.taps]
            least, most = (f(axis=2, keepdims=True, initial=0) for f in (w.min, w.max))
            zero = np.clip(0, low - least, high - most)
            found[:, first::2, : 2 + 2 * self.following] = zero
            found[:, first::2, 2 : 2 + self.taps] += w
        return found


def is_narrow(w: np.ndarray) -> bool:
    """Whether each row of weights [channels, taps], together with 0, fits eight bits after addition of some z."""
    least, most = w.min(axis=1, initial=0), w.max(axis=1, initial=0)
    return bool((most - least).max(initial=0) <= LARGEST)
