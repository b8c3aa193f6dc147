"""Check whether ranges set by the user lose much more than the measured ranges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.quant_rule import Bounds
from mcugen.ir.types import TensorType
from mcugen.quantize.activation_ranges import quant
from mcugen.quantize.findings import Finding
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.noise import decibels, powers
from mcugen.quantize.scales import BITS, matters
from mcugen.quantize.stored_integers import to_real, to_steps

_HURTS_DB = 3.0
_REMEDY = "remove its `override` from the file of `--cache`"


def of_overrides(floats: FloatRun, graph: Graph) -> Iterator[Finding]:
    """Findings about overrides that cost at least 3 dB of a tensor's SQNR. graph: the integer network."""
    for name, (low, high) in floats.overrides.items():
        seen = floats.observed()[name]
        cut = matters(floats.graph, floats.reference, [name], floats.observed())
        dtype = graph.type(name).dtype
        values = np.clip(seen.values, *cut)
        ends = (float(values.min()), float(values.max()))
        given, usual = (_sqnr(values, bounds, dtype) for bounds in ((low, high), ends))
        if given < usual - _HURTS_DB:
            text = f"its range {low:g} to {high:g}, set by hand, leaves {given:.1f} dB of its values"
            was = f"the measured range, {ends[0]:.4g} to {ends[1]:.4g}, leaves {usual:.1f} dB"
            label = floats.graph.tensors[name].label or name
            yield Finding("override", label, f"{text}; {was}", _REMEDY, 80)


def _sqnr(values: np.ndarray, bounds: Bounds, dtype: str) -> float:
    """SQNR in dB of values stored in integers of this range."""
    t = TensorType(values.shape, dtype, quant(*bounds, BITS[dtype]))
    return float(decibels(powers([values], [to_real(to_steps(values, t), t)]).sum(axis=1)))
