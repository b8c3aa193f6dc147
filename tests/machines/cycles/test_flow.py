# SPDX-License-Identifier: Apache-2.0
"""How often branches were taken follows from the entries of runs, as far as these tell."""

from __future__ import annotations

from mcugen.boards import isa
from mcugen.machines.cycles import flow
from mcugen.machines.toolchain.disassembly import Listing, parse

LINES = """00000000 <f>:
   0:	movs	r0, #0
   2:	cmp	r1, #5
   4:	beq.n	c <f+0xc>
   6:	adds	r2, #1
   8:	subs	r1, #1
   a:	bne.n	2 <f+0x2>
   c:	adds	r0, #1
   e:	cmp	r0, #9
  10:	bne.n	2 <f+0x2>
  12:	bx	lr
"""


def listing() -> Listing:
    return parse(LINES, isa.load("arm"))


def taken(runs: dict[tuple[int, int], int]) -> dict[int, tuple[int, int]]:
    ends = {(address, n): address + 2 * (n - 1) for address, n in runs}
    return flow.taken(runs, ends, listing())


def test_a_loop_that_is_entered_once() -> None:
    """The first run starts at 0; 2 is entered by two branches, of which the ways not taken are known."""
    found = taken({(0, 3): 1, (6, 3): 40, (2, 2): 41, (12, 3): 10, (18, 1): 1})
    assert found[16] == (9, 9)
    assert found[10] == (32, 32)
    assert found[4] == (2, 2)


def test_contradictions_leave_the_interval_inside_its_bounds() -> None:
    """A step may begin in the middle of code that others left: sums then do not agree."""
    found = taken({(2, 2): 10, (6, 3): 50, (18, 1): 3})
    assert all(0 <= low <= high for low, high in found.values())
