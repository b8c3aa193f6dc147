/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of mg_swar_block of swar_two.h, for RV32 with 32 registers.
 */
#ifndef MCUGEN_SWAR_TWO_RISCV_H
#define MCUGEN_SWAR_TWO_RISCV_H

#include "mcugen/swar_ends_riscv.h"
#include "mcugen/swar_s8.h"

/* a0: stream, a1: taps, a2: word of weights, or multiplier
 * a3, a4: tap products, or shift and rounding, a5: initial sum of the group
 * a6: table of the code for each group length, a7: patch
 * t0-t3: sums of the group, t4: pairs left, t5: span, t6: low
 * s0-s3: sums of both channels of the four pixels, s4-s7: sums of the upper channel, s8-s11: outputs */
#define MG_SWAR_START(sum, product) \
    ".if mg_k == 0\n add " sum ", " product ", a5\n .else\n add " sum ", " sum ", " product "\n .endif\n"
#define MG_SWAR_TWO_TAPS(first, second, at)                          \
    "lbu a3, 4*mg_k+" at "(a1)\n lbu a4, 4*mg_k+" at "+1(a1)\n"      \
    "mul a3, a3, a2\n mul a4, a4, a2\n"                              \
    MG_SWAR_START(first, "a3") MG_SWAR_START(second, "a4")

/* Jumps to the code for the next group's length, or to the end of the pair. */
#define MG_SWAR_GO "lw a5, 0(a0)\n andi a3, a5, 31\n slli a3, a3, 2\n add a3, a3, a6\n lw a3, 0(a3)\n jr a3\n"

#define MG_SWAR_TAPS(n, label)                                          \
    label ":\n .set mg_k, 0\n .rept " #n "\n lw a2, 4*mg_k+4(a0)\n"      \
    MG_SWAR_TWO_TAPS("t0", "t1", "0") MG_SWAR_TWO_TAPS("t2", "t3", "2")  \
    ".set mg_k, mg_k+1\n .endr\n"                                       \
    "addi a0, a0, 4*" #n "+4\n addi a1, a1, 4*" #n "\n"                  \
    MG_SWAR_SPLIT("t0", "s0", "s4") MG_SWAR_SPLIT("t1", "s1", "s5")      \
    MG_SWAR_SPLIT("t2", "s2", "s6") MG_SWAR_SPLIT("t3", "s3", "s7") MG_SWAR_GO

/* Scales and stores a channel of all pixels. */
#define MG_SWAR_CHANNEL(load, sum, below, at)                                                      \
    load MG_SWAR_PUT(sum("s0", "s4"), below, at, "s8") MG_SWAR_PUT(sum("s1", "s5"), below, at, "s9") \
    MG_SWAR_PUT(sum("s2", "s6"), below, at, "s10") MG_SWAR_PUT(sum("s3", "s7"), below, at, "s11")

/* Scales and stores both channels of a pair. The code of a channel without a partner begins at the label `single`. */
#define MG_SWAR_END(pair, single, load, below)                                                   \
    single ": addi a0, a0, 4\n addi s8, s8, -1\n addi s9, s9, -1\n addi s10, s10, -1\n addi s11, s11, -1\n j 8f\n" \
    pair ": addi a0, a0, 4\n" MG_SWAR_CHANNEL(load, MG_SWAR_LOWER, below, "0")                     \
    "8:\n" MG_SWAR_CHANNEL(load, MG_SWAR_UPPER, below, "1")                                        \
    "addi s8, s8, 2\n addi s9, s9, 2\n addi s10, s10, 2\n addi s11, s11, 2\n j 1b\n"

#define MG_SWAR_ENDS ".word 20b, 21b, 30b, 31b, 24b, 25b, 34b, 35b\n"

static void __attribute__((naked, noinline))
mg_swar_block(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED uint32_t pairs, MCUGEN_UNUSED const uint8_t *patch,
              MCUGEN_UNUSED int8_t *const *out, MCUGEN_UNUSED int32_t low, MCUGEN_UNUSED uint32_t span,
              MCUGEN_UNUSED uint32_t taps)
{
    __asm__("addi sp, sp, -48\n"
            "sw s0, 0(sp)\n sw s1, 4(sp)\n sw s2, 8(sp)\n sw s3, 12(sp)\n sw s4, 16(sp)\n sw s5, 20(sp)\n"
            "sw s6, 24(sp)\n sw s7, 28(sp)\n sw s8, 32(sp)\n sw s9, 36(sp)\n sw s10, 40(sp)\n sw s11, 44(sp)\n"
            "lw s8, 0(a3)\n lw s9, 4(a3)\n lw s10, 8(a3)\n lw s11, 12(a3)\n"
            "mv t4, a1\n mv a7, a2\n mv t6, a4\n mv t5, a5\n lla a6, 3f\n"
            /* the next pair */
            "1: beqz t4, 2f\n addi t4, t4, -1\n"
            "lw s0, 0(a0)\n lw s4, 4(a0)\n addi a0, a0, 12\n mv s1, s0\n mv s2, s0\n mv s3, s0\n"
            "mv s5, s4\n mv s6, s4\n mv s7, s4\n mv a1, a7\n"
            MG_SWAR_GO
            "2: lw s0, 0(sp)\n lw s1, 4(sp)\n lw s2, 8(sp)\n lw s3, 12(sp)\n lw s4, 16(sp)\n lw s5, 20(sp)\n"
            "lw s6, 24(sp)\n lw s7, 28(sp)\n lw s8, 32(sp)\n lw s9, 36(sp)\n lw s10, 40(sp)\n lw s11, 44(sp)\n"
            "addi sp, sp, 48\n ret\n");
    __asm__(MG_SWAR_END("20", "30", MG_SWAR_THREE, MG_SWAR_PLAIN));
    __asm__(MG_SWAR_END("21", "31", MG_SWAR_THREE, MG_SWAR_BELOW));
    __asm__(MG_SWAR_END("24", "34", MG_SWAR_FOURS, MG_SWAR_PLAIN));
    __asm__(MG_SWAR_END("25", "35", MG_SWAR_FOURS, MG_SWAR_BELOW));
    __asm__(MG_SWAR_TAPS(1, "41") MG_SWAR_TAPS(2, "42"));
    __asm__(MG_SWAR_TAPS(3, "43") MG_SWAR_TAPS(4, "44"));
    __asm__(MG_SWAR_TAPS(5, "45") MG_SWAR_TAPS(6, "46"));
    __asm__(MG_SWAR_TAPS(7, "47") MG_SWAR_TAPS(8, "48"));
    __asm__(MG_SWAR_TAPS(9, "49") MG_SWAR_TAPS(10, "50"));
    __asm__(MG_SWAR_TAPS(11, "51") MG_SWAR_TAPS(12, "52"));
    /* jump targets: groups of 1 to 12 taps, then the end of a pair of each kind */
    __asm__(".balign 4\n"
            "3: .word 0, 41b, 42b, 43b, 44b, 45b, 46b, 47b, 48b, 49b, 50b, 51b, 52b, 0, 0, 0\n" MG_SWAR_ENDS MG_SWAR_ENDS);
}

#endif /* MCUGEN_SWAR_TWO_RISCV_H */
