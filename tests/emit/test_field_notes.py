# SPDX-License-Identifier: Apache-2.0
"""Notes on constants: fields that several kernels share are described by the header that defines their macro."""

from __future__ import annotations

import pytest

from mcugen import kernels
from mcugen.emit.field_notes import layout_of
from mcugen.ops.integer_gru import IntegerGru
from mcugen.ops.integer_lstm import IntegerLstm
from mcugen.ops.integer_rnn import IntegerRnn


@pytest.mark.parametrize("op", [IntegerGru, IntegerLstm, IntegerRnn])
def test_shared_fields_have_notes(op: type[IntegerGru | IntegerLstm | IntegerRnn]) -> None:
    for kernel in kernels.of(op):
        assert layout_of(kernel, "w_bias") == (
            "one for each row of the weights; w_bias has the zero point of the data folded in"
        ), kernel.symbol
        assert "rows" in layout_of(kernel, "w") or "[hidden]" in layout_of(kernel, "w")
        assert layout_of(kernel, "unknown") == ""
