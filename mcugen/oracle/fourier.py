"""The recursive Fourier transform of kissfft, on fixed-point numbers or floats.

Complex numbers are pairs (re, im) of arrays: int64 with values of `bits` bits, or float32 if bits is 0, which round
after each operation. Each stage of a fixed-point transform first multiplies its inputs by about 1 / radix, so that sums
seldom overflow. Sums that do wrap.
Source: kiss_fft.c, kiss_fftr.c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]
RADICES = (4, 2, 3, 5)
"""The order in which kissfft tries factors."""


def radices(length: int) -> list[int]:
    """The radix of each stage: 4, 2, 3, 5, each as often as it divides the length, then the remaining factor."""
    found: list[int] = []
    for radix in RADICES:
        while length % radix == 0:
            found.append(radix)
            length //= radix
    return [*found, length] if length > 1 else found


class Transform:
    """Transforms of `length` complex numbers of `bits` bits."""

    def __init__(self, length: int, bits: int, inverse: bool) -> None:
        self.length, self.bits, self.inverse = length, bits, inverse
        self.most = (1 << (bits - 1)) - 1 if bits else 1
        self.twiddles = self._turns([-2 * math.pi * i / length for i in range(length)])
        self.halves = self._turns([-math.pi * ((i + 1) / length + 0.5) for i in range(length // 2)])

    def _turns(self, phases: Sequence[float]) -> Pair:
        turned = [-p if self.inverse else p for p in phases]
        parts = [[f(p) for p in turned] for f in (math.cos, math.sin)]
        if not self.bits:
            real, imaginary = (np.array(part, np.float32) for part in parts)
            return real, imaginary
        re, im = (np.array([math.floor(0.5 + self.most * v) for v in part], np.int64) for part in parts)
        return re, im

    def wrap(self, x: np.ndarray) -> np.ndarray:
        if not self.bits:
            return x
        half = 1 << (self.bits - 1)
        return np.asarray((x + half) % (2 * half) - half)

    def rounded(self, product: np.ndarray) -> np.ndarray:
        if not self.bits:
            return product
        return self.wrap((product + (1 << (self.bits - 2))) >> (self.bits - 1))

    def times(self, a: Pair, b: Pair) -> Pair:
        return self.rounded(a[0] * b[0] - a[1] * b[1]), self.rounded(a[0] * b[1] + a[1] * b[0])

    def scaled(self, x: Pair, radix: int) -> Pair:
        if not self.bits:
            return x
        return self.rounded(x[0] * (self.most // radix)), self.rounded(x[1] * (self.most // radix))

    def plus(self, a: Pair, b: Pair) -> Pair:
        return self.wrap(a[0] + b[0]), self.wrap(a[1] + b[1])

    def minus(self, a: Pair, b: Pair) -> Pair:
        return self.wrap(a[0] - b[0]), self.wrap(a[1] - b[1])

    def half(self, x: np.ndarray) -> np.ndarray:
        """Half of a sum. The sum wraps only at 32 bits, because C computes narrower numbers in 32 bits, too."""
        if not self.bits:
            return np.asarray(x * np.float32(0.5))
        return np.asarray((self.wrap(x) if self.bits == 32 else x) >> 1)

    def run(self, x: Pair) -> Pair:
        """The transform of complex numbers [..., length]."""
        return self._work(x, radices(self.length), 1)

    def _work(self, x: Pair, factors: Sequence[int], stride: int) -> Pair:
        if not factors:
            return x
        radix, size = factors[0], x[0].shape[-1] // factors[0]
        split = [np.swapaxes(part.reshape(*part.shape[:-1], size, radix), -1, -2) for part in x]
        re, im = self.scaled(self._work((split[0], split[1]), factors[1:], stride * radix), radix)
        turned = [(re[..., 0, :], im[..., 0, :])]
        for q in range(1, radix):
            at = np.arange(size) * stride * q % self.length
            turned.append(self.times((re[..., q, :], im[..., q, :]), (self.twiddles[0][at], self.twiddles[1][at])))
        joined = {2: self._two, 3: self._three, 4: self._four, 5: self._five}[radix](turned, stride * size)
        return np.concatenate([p[0] for p in joined], axis=-1), np.concatenate([p[1] for p in joined], axis=-1)

    def _two(self, t: Sequence[Pair], _: int) -> list[Pair]:
        return [self.plus(t[0], t[1]), self.minus(t[0], t[1])]

    def _three(self, t: Sequence[Pair], third: int) -> list[Pair]:
        total, apart = self.plus(t[1], t[2]), self.minus(t[1], t[2])
        one = self.wrap(t[0][0] - self.half(total[0])), self.wrap(t[0][1] - self.half(total[1]))
        sine = self.twiddles[1][third]
        apart = self.rounded(apart[0] * sine), self.rounded(apart[1] * sine)
        two = self.wrap(one[0] + apart[1]), self.wrap(one[1] - apart[0])
        return [self.plus(t[0], total), (self.wrap(one[0] - apart[1]), self.wrap(one[1] + apart[0])), two]

    def _four(self, t: Sequence[Pair], _: int) -> list[Pair]:
        even, odd = self.plus(t[0], t[2]), self.minus(t[0], t[2])
        total, apart = self.plus(t[1], t[3]), self.minus(t[1], t[3])
        quarter = (apart[1], -apart[0]) if not self.inverse else (-apart[1], apart[0])
        return [self.plus(even, total), self.plus(odd, quarter), self.minus(even, total), self.minus(odd, quarter)]

    def _five(self, t: Sequence[Pair], fifth: int) -> list[Pair]:
        (ar, ai), (br, bi) = ((self.twiddles[0][k * fifth], self.twiddles[1][k * fifth]) for k in (1, 2))
        s7, s10 = self.plus(t[1], t[4]), self.minus(t[1], t[4])
        s8, s9 = self.plus(t[2], t[3]), self.minus(t[2], t[3])
        cut = self.rounded
        first = [self.wrap(t[0][i] + self.wrap(s7[i] + s8[i])) for i in (0, 1)]
        s5 = [self.wrap(t[0][i] + cut(s7[i] * ar) + cut(s8[i] * br)) for i in (0, 1)]
        s6 = [self.wrap(cut(s10[1] * ai) + cut(s9[1] * bi)), self.wrap(-cut(s10[0] * ai) - cut(s9[0] * bi))]
        s11 = [self.wrap(t[0][i] + cut(s7[i] * br) + cut(s8[i] * ar)) for i in (0, 1)]
        s12 = [self.wrap(-cut(s10[1] * bi) + cut(s9[1] * ai)), self.wrap(cut(s10[0] * bi) - cut(s9[0] * ai))]
        pairs = [(s5[0], s5[1]), (s6[0], s6[1]), (s11[0], s11[1]), (s12[0], s12[1])]
        return [
            (first[0], first[1]),
            self.minus(pairs[0], pairs[1]),
            self.plus(pairs[2], pairs[3]),
            self.minus(pairs[2], pairs[3]),
            self.plus(pairs[0], pairs[1]),
        ]


def forward(x: np.ndarray, bits: int) -> np.ndarray:
    """The spectrum [..., n + 2] of real numbers [..., n]: alternating real and imaginary parts."""
    n = x.shape[-1] // 2
    t = Transform(n, bits, inverse=False)
    re, im = t.run((x[..., 0::2], x[..., 1::2]))
    out = np.zeros((*x.shape[:-1], 2 * n + 2), x.dtype)
    first = t.scaled((re[..., 0], im[..., 0]), 2)
    out[..., 0], out[..., 2 * n] = t.wrap(first[0] + first[1]), t.wrap(first[0] - first[1])
    k = np.arange(1, n // 2 + 1)
    a, b = t.scaled((re[..., k], im[..., k]), 2), t.scaled((re[..., n - k], t.wrap(-im[..., n - k])), 2)
    total, apart = t.plus(a, b), t.minus(a, b)
    turned = t.times(apart, t.halves)
    out[..., 2 * k], out[..., 2 * k + 1] = (t.wrap(t.half(total[i] + turned[i])) for i in (0, 1))
    out[..., 2 * (n - k)] = t.wrap(t.half(total[0] - turned[0]))  # written last: k = n / 2 has both forms
    out[..., 2 * (n - k) + 1] = t.wrap(t.half(turned[1] - total[1]))
    return out


def inverse(x: np.ndarray, bits: int) -> np.ndarray:
    """The real numbers [..., n] of a spectrum [..., n + 2]. Fixed-point numbers are scaled down in each stage."""
    n = x.shape[-1] // 2 - 1
    t = Transform(n, bits, inverse=True)
    re, im = x[..., 0::2], x[..., 1::2]
    work_re, work_im = np.zeros((*x.shape[:-1], n), x.dtype), np.zeros((*x.shape[:-1], n), x.dtype)
    first = t.wrap(re[..., 0] + re[..., n]), t.wrap(re[..., 0] - re[..., n])
    work_re[..., 0], work_im[..., 0] = t.scaled(first, 2)
    k = np.arange(1, n // 2 + 1)
    a, b = t.scaled((re[..., k], im[..., k]), 2), t.scaled((re[..., n - k], t.wrap(-im[..., n - k])), 2)
    even, odd = t.plus(a, b), t.times(t.minus(a, b), t.halves)
    work_re[..., k], work_im[..., k] = t.plus(even, odd)
    other = t.minus(even, odd)
    work_re[..., n - k], work_im[..., n - k] = other[0], t.wrap(-other[1])  # written last, as in `forward`
    re, im = t.run((work_re, work_im))
    found = np.stack([re, im], axis=-1).reshape(*x.shape[:-1], 2 * n)
    return found if bits else np.asarray(found / np.float32(2 * n))
