"""Shared recipe of Fourier transforms of real numbers: stages, twiddle factors, and kernels for a model's sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost

BITS = {"s16": 16, "s32": 32, "f32": 0}
"""Element type -> bits of a fixed-point number, 0 for floats."""
GROUPS = {2: "twos", 3: "threes", 4: "fours", 5: "fives"}
"""Radix of a stage -> the name of its butterflies, in cost terms and templates."""
TERMS = (*GROUPS.values(), "turned", "pairs", "words")
"""Cost terms of kernels with stages of known sizes."""


@dataclass(frozen=True)
class RealTransform:
    """A transform of `length` real numbers, of which the first `samples` are given and the others are 0.

    count: number of transforms. shift: fractional bits of the window by which samples are multiplied; None: no window.
    start, end: the energies of bins from start to end - 1 are computed; end None: the result is the spectrum.
    """

    length: int
    samples: int
    count: int = 1
    shift: int | None = None
    start: int = 0
    end: int | None = None

    @property
    def points(self) -> int:
        """Number of complex numbers."""
        return self.length // 2

    @property
    def radices(self) -> list[int]:
        """The radix of each stage in the order in which they run."""
        return stages(self.points)[::-1]

    @property
    def pairs(self) -> range:
        """Each k from 1 to half of the points for which bin k or bin points - k is used."""
        half = self.points // 2
        if self.end is None:
            return range(1, half + 1)
        sides = (
            (max(1, self.start), min(half, self.end - 1)),
            (max(1, self.points - self.end + 1), min(half, self.points - self.start)),
        )
        used = [side for side in sides if side[0] <= side[1]]
        return range(min(low for low, _ in used), max(high for _, high in used) + 1) if used else range(1, 1)


def transform_of(call: Call) -> RealTransform:
    """The sizes of the transform that a call computes."""
    found: RealTransform = call.op.transform(call)
    return found


def stages(length: int) -> list[int]:
    """The radix of each stage, last stage first. Raises UnsupportedError for factors other than 2, 3 and 5."""
    found: list[int] = []
    rest = length
    for radix in (4, 2, 3, 5):
        while rest % radix == 0:
            found.append(radix)
            rest //= radix
    if rest != 1:
        raise UnsupportedError(f"a Fourier transform of {2 * length} numbers: its only factors may be 2, 3 and 5")
    return found


def places(length: int, factors: Sequence[int]) -> np.ndarray:
    """For each complex number of the input, its index in the data that the first stage reads."""
    at = np.zeros(length, np.int64)
    rest, size = np.arange(length), length
    for radix in factors:
        size //= radix
        at += rest % radix * size
        rest //= radix
    return at


def turns(phases: Sequence[float], dtype: str) -> np.ndarray:
    """(cosine, sine) of each phase, flattened: float32, or fixed-point with 15 or 31 fractional bits."""
    both = [f(p) for p in phases for f in (math.cos, math.sin)]
    if dtype == "f32":
        return np.array(both, np.float32)
    most = (1 << (BITS[dtype] - 1)) - 1
    return np.array([math.floor(most * v + 0.5) for v in both], np.int16 if dtype == "s16" else np.int32)


def turn_table(t: RealTransform) -> np.ndarray:
    """Twiddle factors, s16 [points, 2]: cosine and sine of -2 pi k / points, for each k."""
    return turns([-(2 * math.pi * i / t.points) for i in range(t.points)], "s16").reshape(-1, 2)


def stage_turns(t: RealTransform, *, zero_last: bool = False) -> np.ndarray:
    """s16 [n, 2]: cosine and sine of each twiddle factor other than 1, in the order in which the stages use them.

    For each stage but the first, k from 1 to n - 1, and q from 1 to radix - 1: exp(-2 pi i k q / (n radix)), where n is
    the product of the radices before the stage. zero_last: whether k begins at 0 in the last stage.
    """
    size, used = 1, []
    for radix in t.radices:
        stride = t.points // (size * radix)
        low = 0 if zero_last and size > 1 and size * radix == t.points else 1
        used += [k * q * stride for k in range(low, size) for q in range(1, radix)]
        size *= radix
    return turn_table(t)[used]


def split_turns(t: RealTransform, bins: range) -> np.ndarray:
    """s16 [bins, 2]: cosine and sine of the factors that make the complex spectrum the spectrum of real numbers."""
    return turns([-(math.pi * (k / t.points + 0.5)) for k in bins], "s16").reshape(-1, 2)


def window_kind(call: Call) -> int:
    """0: no window; 1: products of samples and window stay within 16 bits; 2: these products are saturated."""
    t = transform_of(call)
    if t.shift is None:
        return 0
    w = call.constant(1).astype(np.int64)
    return 1 if -(1 << t.shift) < w.min() and w.max() <= 1 << t.shift else 2


def least(call: Call) -> dict[str, int]:
    """The template's constant `least` if the operator ignores samples of -32768, else {}."""
    return {"least": 1} if getattr(call.op, "ignores_least", False) else {}


def variant(call: Call) -> dict[str, int]:
    """The constants with which fourier_stages_template.h is instantiated for a call."""
    t = transform_of(call)
    found = {"points": t.points, "samples": t.samples, "window": window_kind(call), "stages": len(t.radices)}
    found |= {name: t.radices.count(radix) for radix, name in GROUPS.items()}
    if t.shift is not None:
        found["shift"] = t.shift
    if t.end is None:
        return {**found, "count": t.count}
    found |= {"start": t.start, "end": t.end, "first": t.pairs.start, "last": t.pairs.stop - 1}
    return {**found, **least(call)}


def params(call: Call) -> Params:
    """The fields of mg_fourier_stages_params."""
    t = transform_of(call)
    found: Params = {
        "radix": np.array(t.radices, np.uint8),
        "place": places(t.points, t.radices[::-1]).astype(np.uint16),
        "turns": stage_turns(t).reshape(-1),
        "halves": split_turns(t, t.pairs).reshape(-1),
    }
    return found if t.shift is None else {**found, "window": call.constant(1).reshape(-1)}


def work(call: Call) -> dict[str, float]:
    """The cost terms: butterflies of each radix, products with twiddle factors, pairs of bins, pairs of samples."""
    t = transform_of(call)
    found: dict[str, float] = {name: t.radices.count(r) * (t.points // r) for r, name in GROUPS.items()}
    size, turned = 1, 0
    for radix in t.radices:
        turned += (size - 1) * (radix - 1) * (t.points // (size * radix))
        size *= radix
    found |= {"turned": turned, "pairs": len(t.pairs), "words": t.points}
    return {name: t.count * number for name, number in found.items()}


COST = Cost(work, TERMS)


def has_window(call: Call) -> bool:
    "the window, if there is one, is constant"
    return transform_of(call).shift is None or call.constants[1] is not None
