"""Ways to store and read the weights of convolutions on cores with SMLAD. Each way is a separate kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcugen.kernels.dsp import scaling

SUMMED_CODE = 230
"""Additional code bytes if the sums of the data are computed when taps are gathered."""


def constants(bits: int, *, single: bool) -> dict[str, int]:
    """Constants of the templates for weights of `bits` bits. single: whether weights are loaded word by word."""
    summed = {"summed": 1} if bits == 9 else {}
    return {"composite": {16: 0, 4: 2}.get(bits, 1), "single": int(single), **summed}


@dataclass(frozen=True)
class Way:
    """A way to store and read weights: bits of a weight, and whether words are loaded one by one, as suits
    Cortex-M7.
    """

    name: str
    bits: int
    is_single: bool = False

    @property
    def is_composite(self) -> bool:
        """Whether two channels share a halfword."""
        return self.bits in scaling.COMPOSITE

    @property
    def is_summed(self) -> bool:
        """Whether words with sums of the data follow the taps."""
        return self.bits == 9

    @property
    def step(self) -> int:
        """Number of words of two taps that are read together."""
        return 2 if self.bits == 4 else 1

    @property
    def short(self) -> str:
        return self.name.replace("_single", "s")

    def block_bytes(self, words: int, sizes: Mapping[str, int], *, gathered: bool) -> float:
        """Code bytes of the blocks of three pixels and, if sizes["rest"] is 1, of the blocks of two pixels.

        words: number of unrolled words. The kernel's other code is not counted.
        """
        linear = sizes["linear"] % 2
        extra = (24 + 12 * linear) * (self.bits < 16) + 24 * linear + 16 * sizes["loop"]
        bytes_of = (44.0, 32.0) if self.is_single else _WORD_BYTES[gathered, self.bits]
        blocks = sum(words * each + extra for each in bytes_of[: 1 + sizes.get("rest", 0)])
        return blocks + SUMMED_CODE * self.is_summed


WAYS = (
    Way("dsp16", 16),
    Way("dsp8", 8),
    Way("dsp16_single", 16, is_single=True),
    Way("dsp8_single", 8, is_single=True),
    Way("dsp9", 9),
    Way("dsp9_single", 9, is_single=True),
    Way("dsp4", 4),
)
SMALL_WAYS = tuple(way for way in WAYS if way.bits < 16)
_WORD_BYTES = {
    (False, 16): (32.0, 22.0),
    (False, 8): (36.0, 26.0),
    (True, 16): (30.7, 22.7),
    (True, 8): (33.3, 25.3),
    (True, 9): (33.3, 25.3),
    (True, 4): (42.0, 34.0),
}
"""(gathered, bits of a weight) -> code bytes per word of two taps, for three pixels and for two pixels."""
