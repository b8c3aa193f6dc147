"""Elementwise loops for cores with Helium that apply signal operators to four elements at a time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.element import Element, Loop
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.ir.op import Op
from mcugen.kernels.helium import packing
from mcugen.ops import _links, element_chain, filter_bank_log
from mcugen.ops.filter_bank_log import FilterBankLog
from mcugen.ops.integer_line import IntegerLine
from mcugen.ops.pcan import Pcan, parabolas
from mcugen.ops.spectral_subtraction import SpectralSubtraction

_LANES = 4
_WORD = 1 << 32
_FACTORS = 1 << 16
_MOST_SHIFT = 16
_STORES = {"s8": 8, "u8": 8, "s16": 16, "s32": 32, "u32": 32}
_GUARD = "defined(__ARM_FEATURE_MVE) && !defined(MCUGEN_CHECK_TEXT)"


@singledispatch
def on_lanes(op: Op, call: Call) -> tuple[Element, ...]:
    """C expressions of the operator's results on vectors of four numbers; () if there are none for this call."""
    return ()


@on_lanes.register(SpectralSubtraction)
def _(op: SpectralSubtraction, call: Call) -> tuple[Element, ...]:
    sums = [smoothing + rest for smoothing, rest in zip(op.smoothing, op.rest, strict=True)]
    if max(sums) > _FACTORS or op.remaining >= _FACTORS or op.bits > _MOST_SHIFT:
        return ()
    smoothing, rest = (f"mg_lanes_in_turn({even}u, {odd}u)" for even, odd in (op.smoothing, op.rest))
    up = f"(a << {op.up_bits}u)"
    noise = f"mg_lanes_scaled_sum({up}, {smoothing}, b, {rest}, {op.bits}u)"
    least = f"mg_lanes_scaled_part(a, mg_lanes_all({op.remaining}u), {op.bits}u)"
    left = f"mg_lanes_larger(mg_lanes_excess({up}, {noise}) >> {op.up_bits}u, {least})"
    return Element(left), Element(f"mg_lanes_smaller({noise}, {up})" if op.clamps else noise)


@on_lanes.register(Pcan)
def _(op: Pcan, call: Call) -> tuple[Element, ...]:
    """The vector expression needs gains of at least 0: every gain that the table can give is tried."""
    table = parabolas(call.constant(2)).astype(np.int64)
    place = np.arange(1 << 10)
    slope = table[1::3, None] + np.right_shift(table[2::3, None] * place, 5)
    gains = np.right_shift(table[::3, None] + slope * place, 15).astype(np.int16)
    (plain,) = _links.elements(op, call)
    text = f"mg_lanes_with_gain(a, mg_lanes_gain(gains, b), {op.shift}u)"
    return (replace(plain, text=text),) if gains.min() >= 0 and op.shift <= _MOST_SHIFT else ()


@on_lanes.register(FilterBankLog)
def _(op: FilterBankLog, call: Call) -> tuple[Element, ...]:
    (plain,) = _links.elements(op, call)
    text = f"mg_lanes_scaled_log({filter_bank_log.arguments(op)})"
    return () if filter_bank_log.is_clamped(op, call) else (replace(plain, text=text),)


@on_lanes.register(IntegerLine)
def _(op: IntegerLine, call: Call) -> tuple[Element, ...]:
    low, high = (_links.literal(v) for v in (op.low, op.high))
    line = f"{op.factor % _WORD}u, {op.addend % _WORD}u, {op.shift}u"
    return (Element(f"mg_lanes_line(a, {line}, {low}, {high})"),)


@dataclass(frozen=True)
class LaneLoop:
    """A C function over whole tensors: an iteration takes four elements with Helium (`lanes`), else one (`plain`)."""

    plain: Loop
    lanes: Loop

    @property
    def digest(self) -> str:
        """Six hexadecimal digits of a hash of the files' text."""
        return hashlib.sha256("".join(self.files("mg_").values()).encode()).hexdigest()[:6]

    def files(self, function: str) -> dict[str, str]:
        """The header and the source that define `function`, by name."""
        found = dict(self.plain.files(function))
        source = next(name for name in found if name.endswith(".c"))
        head, body = found[source].split("    for (", 1)
        plain = f"    for ({body.removesuffix('}' + chr(10))}"
        found[source] = f"{head}#if {_GUARD}\n{self._loop()}#else\n{plain}#endif\n}}\n"
        return found

    def _loop(self) -> str:
        made = self.lanes
        lines = [f"const mg_lanes {o.name} = mg_lanes_read(&in_{o.name}[i]);" for o in made.operands]
        lines += [f"const mg_lanes {line.name} = {line.text};" for line in made.lines]
        dtypes = {line.name: line.dtype for line in made.lines}
        for k, name in enumerate(made.results or (made.lines[-1].name,)):
            lines.append(f"mg_lanes_store_{_STORES[dtypes[name]]}(&out{f'_{k}' if k else ''}[i], {name});")
        body = "".join(f"        {line}\n" for line in lines)
        return f"    for (uint32_t i = 0u; i < {made.size}u; i += {_LANES}u) {{\n{body}    }}\n"


def _generated(call: Call) -> LaneLoop:
    plain, lanes = (_links.whole_loop(call, stated) for stated in (_links.elements, on_lanes))
    return LaneLoop(replace(plain, headers=(*plain.headers, "mve_lanes.h")), lanes)


def in_lanes(call: Call) -> bool:
    "there is a multiple of 4 elements, operands have 32 bits, and each operator has an expression on vectors"
    computed = [t for t, data in zip(call.inputs, call.constants, strict=True) if t is not None and data is None]
    words = call.output.size % _LANES == 0 and all(t.bits == 32 for t in computed)
    return words and all(on_lanes(inner.op, inner) for inner in _links.calls_of(call))


def _parts(call: Call) -> list[tuple[Kernel, Call]]:
    """The kernels of the chained operators, each on 3/8 of the elements: four elements in a vector cost as much as one
    and a half computed one by one."""
    return [(kernel, _shorter(inner)) for kernel, inner in element_chain.parts(call)]


def _shorter(call: Call) -> Call:
    shape = (-(-call.output.size * 3 // 8),)
    inputs = [
        t if t is None or data is not None else t.with_shape(shape)
        for t, data in zip(call.inputs, call.constants, strict=True)
    ]
    outputs = tuple(t.with_shape(shape) for t in call.outputs)
    return replace(call, inputs=tuple(inputs), outputs=outputs, input_range=())


CHAIN = Kernel(
    "mg_elements_whole__mve",
    Whole(),
    (element_chain.is_integer, element_chain.fits, _links.is_flat, in_lanes),
    _links.whole_params,
    text=Text(generate=_generated),
    cost=Cost(parts=_parts, code=element_chain.code),
    needs=packing.NEEDS,
    short="elements_mve",
)
