"""FilterBankRoots: the filter bank and the roots of its sums in one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op, evaluate
from mcugen.ir.types import TensorType
from mcugen.ops import filter_bank
from mcugen.ops.filter_bank import FilterBank
from mcugen.ops.filter_bank_square_root import FilterBankSquareRoot

_TABLES = 6
"""The operands of the filter bank: the spectrum and five tables."""


@dataclass(frozen=True)
class FilterBankRoots(Op):
    """y = FilterBankSquareRoot(FilterBank(x, tables), bits), without the sums as a tensor.

    x: u32 [bins]   tables: as of FilterBank   bits: s32, one number   y: u32 [channels]
    Source: none; the pass fuse_bank_roots makes it.
    """

    channels: int

    kernels = (
        Kernel(
            "mg_filter_bank_roots",
            Whole(),
            (filter_bank.in_pairs,),
            filter_bank.pair_params,
            operands=(0, _TABLES),
            cost=Cost(filter_bank.pair_work, ("bins",)),
            short="bank_roots",
        ),
    )

    def infer(self, *inputs: TensorType | None) -> tuple[TensorType, ...]:
        sums = FilterBank(self.channels).infer(*inputs[:_TABLES])
        return FilterBankSquareRoot().infer(sums[0], inputs[_TABLES])

    def reference_q(self, call: Call, *inputs: np.ndarray) -> np.ndarray:
        bank = FilterBank(self.channels)
        sums = bank.infer(*call.inputs[:_TABLES])
        values = evaluate(replace(call, op=bank, outputs=sums), inputs[:_TABLES])
        return FilterBankSquareRoot().reference_q(call, values[0], inputs[_TABLES])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = []
        for k, bits in enumerate((None, 3, 0, None)):
            sums = filter_bank.paired(k)
            types = (*sums.inputs, TensorType((), "s32"))
            op = cls(sums.outputs[0].size)
            constants = {**sums.constants, **({} if bits is None else {_TABLES: np.array(bits, np.int32)})}
            made.append(Example(op, types, op.infer(*types), constants, k))
        return made
