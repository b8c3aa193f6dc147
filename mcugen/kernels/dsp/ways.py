"""Ways to store and read the weights of convolutions on cores with SMLAD; each is a kernel of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcugen.kernels.dsp import scaling

SUMMED_CODE = 230
"""Code bytes that gather taps with their sums, beyond code that gathers taps alone."""


def constants(bits: int, *, single: bool) -> dict[str, int]:
    """Constants of the templates for weights of that many bits; single: whether they are loaded word by word."""
    summed = {"summed": 1} if bits == 9 else {}
    return {"composite": {16: 0, 4: 2}.get(bits, 1), "single": int(single), **summed}


@dataclass(frozen=True)
class Way:
    """Bits of a weight; loads of several words, or single ones, for Cortex-M7."""

    name: str
    bits: int
    is_single: bool = False

    @property
    def is_composite(self) -> bool:
        """Whether two channels share a halfword."""
        return self.bits in scaling.COMPOSITE

    @property
    def is_summed(self) -> bool:
        """Whether words of sums follow the taps."""
        return self.bits == 9

    @property
    def step(self) -> int:
        """Words of two taps that are read together."""
        return 2 if self.bits == 4 else 1

    @property
    def short(self) -> str:
        return self.name.replace("_single", "s")

    def block_bytes(self, words: int, sizes: Mapping[str, int], *, gathered: bool) -> float:
        """Code bytes of blocks of three pixels and, with `rest`, of two, for `words` unrolled words; base excluded."""
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
"""(gathered, bits of a weight) -> code bytes for one word of two taps, for three pixels and for two."""
