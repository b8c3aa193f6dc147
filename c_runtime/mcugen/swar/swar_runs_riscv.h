/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_runs.h for RV32 with 32 registers.
 */
#ifndef MCUGEN_SWAR_RUNS_RISCV_H
#define MCUGEN_SWAR_RUNS_RISCV_H

#include "mcugen/swar_ends_riscv.h"

/* a0: stream, a1, a7: taps of pixels 0 and 1, a2: word of weights, or multiplier
 * a3, a4: tap products, or shift and rounding, a5: initial sum of the group
 * a6: table of the code for each group length
 * t0, t1: sums of the group, t3: next entry of the table of runs, t4: pairs left, t5: span, t6: low
 * s0, s1: sums of both channels of pixels 0 and 1, s4, s5: sums of the upper channel
 * s2: table of runs, s8, s9: outputs */
#define MG_SWAR_RUN_TAPS(n, label)                                                               \
    label ":\n .set mg_k, 0\n .rept " #n "\n"                                                    \
    "lw a2, 4*mg_k+4(a0)\n lb a3, mg_k(a1)\n lb a4, mg_k(a7)\n mul a3, a3, a2\n mul a4, a4, a2\n" \
    ".if mg_k == 0\n add t0, a3, a5\n add t1, a4, a5\n .else\n add t0, t0, a3\n add t1, t1, a4\n .endif\n" \
    ".set mg_k, mg_k+1\n .endr\n"                                                               \
    "addi a0, a0, 4*" #n "+4\n addi a1, a1, " #n "\n addi a7, a7, " #n "\n"                      \
    MG_SWAR_SPLIT("t0", "s0", "s4") MG_SWAR_SPLIT("t1", "s1", "s5") MG_SWAR_RUN_GO

/* MG_SWAR_RUN_GO jumps to the code for the next group's length; or to the next run, or the end of the pair. */
#define MG_SWAR_RUN_GO "lw a5, 0(a0)\n andi a3, a5, 62\n slli a3, a3, 1\n add a3, a3, a6\n lw a3, 0(a3)\n jr a3\n"
#define MG_SWAR_RUN_NEXT "lw a1, 0(t3)\n lw a7, 4(t3)\n addi t3, t3, 8\n" MG_SWAR_RUN_GO

/* MG_SWAR_RUN_CHANNEL scales and stores a channel of both pixels. MG_SWAR_RUN_END does so for both channels of a pair;
 * the code of a channel without a partner begins at the label `single`. */
#define MG_SWAR_RUN_CHANNEL(load, sum, below, at) \
    load MG_SWAR_PUT(sum("s0", "s4"), below, at, "s8") MG_SWAR_PUT(sum("s1", "s5"), below, at, "s9")
#define MG_SWAR_RUN_END(pair, single, load, below)                                 \
    single ": addi s8, s8, -1\n addi s9, s9, -1\n j 8f\n"                          \
    pair ":" MG_SWAR_RUN_CHANNEL(load, MG_SWAR_LOWER, below, "0")                  \
    "8:\n" MG_SWAR_RUN_CHANNEL(load, MG_SWAR_UPPER, below, "1")                    \
    "addi s8, s8, 2\n addi s9, s9, 2\n j 1b\n"

#define MG_SWAR_RUN_ENDS ".word 20b, 21b, 30b, 31b, 24b, 25b, 34b, 35b\n"

static void __attribute__((naked, noinline))
mg_swar_direct_two(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED uint32_t pairs, MCUGEN_UNUSED const mg_swar_run *table,
                   MCUGEN_UNUSED int8_t *out0, MCUGEN_UNUSED int8_t *out1, MCUGEN_UNUSED int32_t low,
                   MCUGEN_UNUSED uint32_t span, MCUGEN_UNUSED uint32_t runs)
{
    __asm__("addi sp, sp, -32\n"
            "sw s0, 0(sp)\n sw s1, 4(sp)\n sw s2, 8(sp)\n sw s4, 12(sp)\n sw s5, 16(sp)\n sw s8, 20(sp)\n sw s9, 24(sp)\n"
            "mv t4, a1\n mv s2, a2\n mv s8, a3\n mv s9, a4\n mv t6, a5\n mv t5, a6\n lla a6, 3f\n"
            /* the next pair */
            "1: beqz t4, 2f\n addi t4, t4, -1\n"
            "lw s0, 0(a0)\n lw s4, 4(a0)\n addi a0, a0, 12\n mv s1, s0\n mv s5, s4\n mv t3, s2\n"
            MG_SWAR_RUN_NEXT
            "2: lw s0, 0(sp)\n lw s1, 4(sp)\n lw s2, 8(sp)\n lw s4, 12(sp)\n lw s5, 16(sp)\n lw s8, 20(sp)\n lw s9, 24(sp)\n"
            "addi sp, sp, 32\n ret\n"
            "6: addi a0, a0, 4\n" MG_SWAR_RUN_NEXT
            "7: srli a5, a5, 6\n andi a5, a5, 7\n slli a5, a5, 2\n add a5, a5, a6\n lw a5, 128(a5)\n addi a0, a0, 4\n jr a5\n");
    __asm__(MG_SWAR_RUN_END("20", "30", MG_SWAR_THREE, MG_SWAR_PLAIN));
    __asm__(MG_SWAR_RUN_END("21", "31", MG_SWAR_THREE, MG_SWAR_BELOW));
    __asm__(MG_SWAR_RUN_END("24", "34", MG_SWAR_FOURS, MG_SWAR_PLAIN));
    __asm__(MG_SWAR_RUN_END("25", "35", MG_SWAR_FOURS, MG_SWAR_BELOW));
    __asm__(MG_SWAR_RUN_TAPS(1, "41") MG_SWAR_RUN_TAPS(2, "42"));
    __asm__(MG_SWAR_RUN_TAPS(3, "43") MG_SWAR_RUN_TAPS(4, "44"));
    __asm__(MG_SWAR_RUN_TAPS(5, "45") MG_SWAR_RUN_TAPS(6, "46"));
    __asm__(MG_SWAR_RUN_TAPS(7, "47") MG_SWAR_RUN_TAPS(8, "48"));
    __asm__(MG_SWAR_RUN_TAPS(9, "49") MG_SWAR_RUN_TAPS(10, "50"));
    __asm__(MG_SWAR_RUN_TAPS(11, "51") MG_SWAR_RUN_TAPS(12, "52"));
    /* jump targets: next run, end of a pair, groups of 12 to 1 taps, then the end of a pair of each kind */
    __asm__(".balign 4\n"
            "3: .word 6b, 7b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n"
            ".word 52b, 51b, 50b, 49b, 48b, 47b, 46b, 45b, 44b, 43b, 42b, 41b, 0, 0\n" MG_SWAR_RUN_ENDS);
}

#endif /* MCUGEN_SWAR_RUNS_RISCV_H */
