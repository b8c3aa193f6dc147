# SPDX-License-Identifier: Apache-2.0
"""The cores' models on short loops whose cycles are known: from the manuals, and from measured kernels' inner loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcugen.boards import target
from mcugen.machines import cycles
from mcugen.machines.cycles import Estimator, Interval
from mcugen.machines.toolchain.disassembly import disassemble
from mcugen.machines.toolchain.process import run_checked

LOOPS = 1000


def estimate(folder: Path, core: str, body: str, *, loops: int = LOOPS) -> Interval:
    """Cycles of `loops` times around `body`, which begins at the label `loop`, less what enters and leaves it."""
    board, model = target.load(core), cycles.load(core)
    assert model is not None
    syntax = ".syntax unified\n.thumb_func\n" if board.isa == "arm" else ""
    source = folder / "loop.s"
    source.write_text(f"{syntax}.global entry\nentry:\nloop:\n{body}\n", encoding="ascii")
    chain = board.toolchain
    run_checked([chain.cc, *chain.flags, "-c", source, "-o", folder / "loop.o"])
    estimator = Estimator(model, disassemble(folder / "loop.o", board))
    length = len(estimator.listing.instructions)
    return estimator.cycles({(0, length): loops})


def per(found: Interval, macs: int) -> tuple[float, float]:
    return found.low / LOOPS / macs, found.high / LOOPS / macs


def repeated(text: str, times: int) -> str:
    return "\n".join([text] * times)


PIXEL = """
    ldrd r10, r11, [r12, #{at}]
    smlad {a}, r10, r0, {a}
    smlad {b}, r10, r1, {b}
    smlad {a}, r11, r2, {a}
    smlad {b}, r11, r3, {b}
"""
QUAD_3X2 = "ldmia lr!, {r0-r3}\n" + "".join(
    PIXEL.format(at=16 * k, a=f"r{4 + 2 * k}", b=f"r{5 + 2 * k}") for k in range(3)
)
PACKED_3X2 = (
    "ldrd r1, r3, [lr], #8\nsxtb16 r0, r1\nsxtb16 r2, r3\n"
    + "".join(PIXEL.format(at=16 * k, a=f"r{4 + 2 * k}", b=f"r{5 + 2 * k}") for k in range(3))
)  # fmt: skip
SINGLE_LOADS = (
    "ldr r0, [lr], #16\nldr r10, [r12, #0]\nldr r1, [lr, #-12]\nldr r2, [lr, #-8]\n"
    "smlad r4, r10, r0, r4\nldr r11, [r12, #4]\nsmlad r5, r10, r1, r5\nldr r3, [lr, #-4]\n"
    "smlad r4, r11, r2, r4\nldr r10, [r12, #16]\nsmlad r5, r11, r3, r5\nldr r11, [r12, #20]\n"
    "smlad r6, r10, r0, r6\nsmlad r7, r10, r1, r7\nldr r10, [r12, #32]\nsmlad r6, r11, r2, r6\nsmlad r7, r11, r3, r7\n"
    "ldr r11, [r12, #36]\nsmlad r8, r10, r0, r8\nsmlad r9, r10, r1, r9\nsmlad r8, r11, r2, r8\nsmlad r9, r11, r3, r9\n"
)


def test_m4_three_pixels_by_two_channels(tmp_path: Path) -> None:
    """16 instructions and 26 cycles for 24 products: one LDM of 4 (5), three LDRD (3 each), 12 SMLAD."""
    assert estimate(tmp_path, "cortex-m4", repeated(QUAD_3X2, 12)).low == 12 * 26 * LOOPS
    low, high = per(estimate(tmp_path, "cortex-m4", repeated(QUAD_3X2, 12) + "bne loop"), 12 * 24)
    assert 1.08 <= low <= 1.10 and 1.08 <= high <= 1.10


def test_m4_packed_weights_cost_the_same_cycles(tmp_path: Path) -> None:
    """18 instructions, and 26 cycles too: LDRD 3 and two SXTB16 in the place of LDM."""
    found = estimate(tmp_path, "cortex-m4", repeated(PACKED_3X2, 12))
    assert found == Interval(12 * 26 * LOOPS, 12 * 26 * LOOPS)


def test_m4_grouped_single_loads_reach_one_cycle_per_product(tmp_path: Path) -> None:
    """Two pixels by four channels: 6 LDR in two groups (5 + 3 cycles) and 8 SMLAD are 16 cycles for 16 products."""
    body = (
        "ldr r0, [r12]\nldr r1, [r12, #4]\nldr r2, [lr]\nldr r3, [lr, #4]\n"
        "smlad r4, r0, r2, r4\nsmlad r5, r0, r3, r5\nsmlad r6, r1, r2, r6\nsmlad r7, r1, r3, r7\n"
        "ldr r2, [lr, #8]\nldr r3, [lr, #12]\n"
        "smlad r8, r0, r2, r8\nsmlad r9, r0, r3, r9\nsmlad r10, r1, r2, r10\nsmlad r11, r1, r3, r11\n"
    )
    assert estimate(tmp_path, "cortex-m4", body).low == 16 * LOOPS


def test_m4_branch_and_division_are_intervals(tmp_path: Path) -> None:
    assert estimate(tmp_path, "cortex-m4", "subs r0, #1\nbne loop") == Interval(3 * LOOPS, 5 * LOOPS)
    assert estimate(tmp_path, "cortex-m4", "udiv r0, r1, r2") == Interval(2 * LOOPS, 12 * LOOPS)


def test_m7_loads_ride_beside_products(tmp_path: Path) -> None:
    """22 instructions for 24 products, of which 12 SMLAD fill the only unit that multiplies."""
    body = repeated(SINGLE_LOADS, 8) + "subs r0, r0, #1\nbne loop"
    low, high = per(estimate(tmp_path, "cortex-m7", body), 8 * 24)
    assert 0.50 <= low <= 0.56 and 0.55 <= high <= 0.62


def test_m7_lists_do_not_pair(tmp_path: Path) -> None:
    single = estimate(tmp_path, "cortex-m7", repeated(SINGLE_LOADS, 4) + "bne loop")
    lists = estimate(tmp_path, "cortex-m7", repeated(QUAD_3X2, 4) + "bne loop")
    assert lists.low > 1.15 * single.low and lists.high > 1.3 * single.high


LOAD = "vldrb.u8 q{q}, [r{r}], #16\n"
PRODUCT = "vmladava.s8 {a}, q{x}, q{w}\n"


def test_m55_one_row_by_four_channels_is_bound_by_loads(tmp_path: Path) -> None:
    """5 loads and 4 products: 10 cycles for 64 products."""
    body = LOAD.format(q=0, r=0) + "".join(
        LOAD.format(q=1 + k % 2, r=k + 1) + PRODUCT.format(a=f"r{(6, 8, 10, 12)[k]}", x=0, w=1 + k % 2)
        for k in range(4)
    )
    low, high = per(estimate(tmp_path, "cortex-m55", body + "le lr, loop"), 64)
    assert low == high == pytest.approx(10 / 64)


def taking_turns(loads: int, sums: list[str]) -> str:
    """Products, each after a load while loads remain, as in a pipelined loop: no operand is awaited."""
    products = [PRODUCT.format(a=a, x=k % 2, w=6) for k, a in enumerate(sums)]
    before = [LOAD.format(q=2 + k % 4, r=3) for k in range(loads)]
    return "".join(a + b for a, b in zip(before + [""] * (len(sums) - loads), products, strict=True))


def test_m55_two_rows_by_three_channels_reach_the_peak(tmp_path: Path) -> None:
    """5 loads and 6 products: 12 cycles for 96."""
    body = taking_turns(5, ["r0", "r2", "r4", "r6", "r8", "r10"])
    assert per(estimate(tmp_path, "cortex-m55", body + "le lr, loop"), 96) == (12 / 96, 12 / 96)


def test_m55_fourteen_instructions_make_128_products(tmp_path: Path) -> None:
    """6 loads and 8 products, 2 cycles each: 16 cycles, and what the loop's end takes."""
    body = taking_turns(6, ["r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr"])
    found = estimate(tmp_path, "cortex-m55", repeated(body, 4) + "cmp r5, r7\nbne loop")
    low, high = per(found, 4 * 128)
    assert 16 / 128 <= low <= high <= 17.5 / 128


def test_m55_loads_in_a_row_hold_each_other_up(tmp_path: Path) -> None:
    """The loads one after the other, without taking turns: three wait for the one pipe while nothing multiplies."""
    turns = taking_turns(6, ["r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr"])
    lines = turns.splitlines(keepends=True)
    bunched = "".join(sorted(lines, key=lambda line: not line.startswith("vldr")))
    assert estimate(tmp_path, "cortex-m55", bunched).low >= 1.5 * estimate(tmp_path, "cortex-m55", turns).low


def test_m55_vector_chain_overlaps_by_a_beat(tmp_path: Path) -> None:
    """Load, add, multiply, store on four pipes' turns: five cycles for one chain, as documented."""
    body = "vldrw.u32 q0, [r0]\nvadd.i32 q1, q0, q2\nvmul.i32 q3, q1, q2\nvstrw.32 q3, [r1]"
    assert estimate(tmp_path, "cortex-m55", body, loops=1).low in (4, 5)


def test_m0plus_loads_take_two_cycles(tmp_path: Path) -> None:
    """3 instructions and 4 cycles for two products in one multiplication."""
    body = "ldrb r4, [r0, #0]\nmuls r4, r5, r4\nadds r2, r2, r4\n"
    assert estimate(tmp_path, "cortex-m0plus", repeated(body, 8)) == Interval(32 * LOOPS, 32 * LOOPS)
    assert estimate(tmp_path, "cortex-m0plus", "ldmia r1!, {r5, r6, r7}").low == 4 * LOOPS


def test_m3_multiplies_and_adds_in_two(tmp_path: Path) -> None:
    assert estimate(tmp_path, "cortex-m3", "mla r0, r1, r2, r0").low == 2 * LOOPS
    assert estimate(tmp_path, "cortex-m3", "smull r0, r1, r2, r3") == Interval(3 * LOOPS, 7 * LOOPS)


def test_m33_pairs_short_instructions_at_best(tmp_path: Path) -> None:
    assert estimate(tmp_path, "cortex-m33", "adds r0, r1, r2\nsubs r3, r4, #1\nmov.w r0, r0") == Interval(
        2 * LOOPS, 3 * LOOPS
    )
    assert estimate(tmp_path, "cortex-m33", repeated(QUAD_3X2, 4)) == Interval(4 * 26 * LOOPS, 4 * 26 * LOOPS)


def _is_emulated(board: target.Target) -> bool:
    """A bare core whose cycles can be estimated here."""
    return board.is_core and bool(board.emulators) and not board.runs_linux


def test_riscv_waits_for_a_load_that_is_used_at_once(tmp_path: Path) -> None:
    together = estimate(tmp_path, "rv32imc", "lw a0, 0(a1)\nadd a2, a2, a0\nadd a3, a3, a4")
    apart = estimate(tmp_path, "rv32imc", "lw a0, 0(a1)\nadd a3, a3, a4\nadd a2, a2, a0")
    assert (together.low, apart.low) == (4 * LOOPS, 3 * LOOPS)


@pytest.mark.parametrize("core", sorted(name for name in target.names() if _is_emulated(target.load(name))))
def test_every_core_has_a_model(core: str) -> None:
    model = cycles.load(core)
    assert model is not None and model.core == core and model.source


def test_the_host_has_none() -> None:
    assert cycles.load("host") is None
