"""PowerSpectrum: from samples to the energies of their spectrum in one step, which the pass fuse_spectra makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel, Text, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops import _fourier
from mcugen.ops.fft_auto_scale import FftAutoScale
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.signal_energy import SignalEnergy
from mcugen.ops.signal_window import SignalWindow


def scales(call: Call) -> bool:
    "the samples are scaled"
    return bool(call.op.scales)


def as_given(call: Call) -> bool:
    "the samples are not scaled"
    return not call.op.scales


def methods(suffix: str, like: Kernel) -> tuple[Kernel, ...]:
    """The kernels for scaled and for unscaled samples, otherwise like the kernel `like`. suffix: `__<how>` or ""."""
    joined = f"{suffix}_scaled" if suffix else "__scaled"
    return tuple(
        Kernel(
            f"mg_power_spectrum{name}",
            Whole(),
            (rule, _fourier.has_window, *like.accepts),
            like.params,
            text=like.text,
            cost=like.cost,
            needs=like.needs,
            short=short + suffix,
        )
        for name, rule, short in ((joined, scales, "spectrum_s"), (suffix, as_given, "spectrum"))
    )


_PORTABLE = Kernel(
    "", Whole(), (), _fourier.params, text=Text(_fourier.variant, struct="mg_fourier_stages"), cost=_fourier.COST
)


@dataclass(frozen=True)
class PowerSpectrum(Op):
    """SignalEnergy(RealFourier(x)), where x may first go through SignalWindow, and through SignalFftAutoScale.

    x: s16, as one vector   w: s16, as long as x, or absent   y: u32 [length / 2 + 1]   b: s32 [], if `scales`
    shift: see SignalWindow; None: no window   scales: whether FftAutoScale scales x   ignores_least: see FftAutoScale
    start, end: see SignalEnergy
    Source: none; the pass fuse_spectra makes it.
    """

    length: int
    start: int
    end: int
    shift: int | None = None
    scales: bool = False
    ignores_least: bool = False

    kernels = methods("", _PORTABLE)

    def transform(self, call: Call) -> _fourier.RealTransform:
        """The sizes of the transform of a call."""
        return _fourier.RealTransform(self.length, call.input(0).size, shift=self.shift, start=self.start, end=self.end)

    def infer(self, x: TensorType | None, w: TensorType | None = None) -> tuple[TensorType, ...]:
        if x is None or (w is None) != (self.shift is None):
            raise ShapeError("the samples or their window are missing")
        flat = TensorType((x.size,), x.dtype)
        if w is not None and self.shift is not None:
            (flat,) = SignalWindow(self.shift).infer(flat, w)
        bits = FftAutoScale().infer(flat)[1:] if self.scales else ()
        return (*SignalEnergy(self.start, self.end).infer(*RealFourier(self.length).infer(flat)), *bits)

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        made: tuple[np.ndarray, ...] = ()
        x = x.reshape(-1)
        if w is not None and self.shift is not None:
            x = SignalWindow(self.shift).reference_q(call, x, w)
        if self.scales:
            x, bits = FftAutoScale(self.ignores_least).reference_q(call, x)
            made = (bits,)
        spectrum = RealFourier(self.length).reference_q(call, x)
        return (SignalEnergy(self.start, self.end).reference_q(call, spectrum), *made)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        ops = (
            (cls(64, 3, 20, 12, True), 64),
            (cls(24, 0, 13, 3, True), 19),
            (cls(128, 5, 60, 15), 100),
            (cls(60, 7, 9), 60),
            (cls(20, 9, 11, None, True), 12),
            (cls(64, 0, 33, 15, True), 62),
            (cls(512, 5, 241, None, True), 480),
            (cls(64, 3, 20, 12, True, True), 62),
        )
        found = []
        for k, (op, samples) in enumerate(ops):
            x = TensorType((1, samples), "s16")
            given = (x,) if op.shift is None else (x, TensorType((samples,), "s16"))
            found.append(Example(op, given, op.infer(*given), {} if op.shift is None else {1: None}, k))
        return found
