/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly for RV32, shared by the kernels that compute sums of two channels: adding the sums of a group, and scaling
 * the sums of a pair of channels to outputs.
 */
#ifndef MCUGEN_SWAR_ENDS_RISCV_H
#define MCUGEN_SWAR_ENDS_RISCV_H

/* Adds a group's sum to the sum of both channels and to the sum of the upper channel. */
#define MG_SWAR_SPLIT(sum, both, upper) \
    "add " both ", " both ", " sum "\n srai " sum ", " sum ", 16\n add " upper ", " upper ", " sum "\n"

/* a0: stream, t5: span, t6: low */

/* Load the constants of a channel, with the multiplier in three or four parts.
 * a2: multiplier, a3: shift, a4: rounding. The high word of 4 * sum * multiplier is sum * multiplier shifted right by
 * 30. */
#define MG_SWAR_THREE                                                                \
    "lw a2, 0(a0)\n lw a3, 4(a0)\n lw a4, 8(a0)\n slli a3, a3, 10\n slli a4, a4, 20\n" \
    "or a2, a2, a3\n or a2, a2, a4\n lw a3, 12(a0)\n lw a4, 16(a0)\n addi a0, a0, 20\n" \
    "addi a3, a3, -10\n srai a4, a4, 10\n"
#define MG_SWAR_FOURS                                                                                   \
    "lw a2, 0(a0)\n lw a3, 4(a0)\n lw a4, 8(a0)\n lw a5, 12(a0)\n slli a3, a3, 8\n slli a4, a4, 16\n"     \
    "slli a5, a5, 24\n or a2, a2, a3\n or a4, a4, a5\n or a2, a2, a4\n lw a4, 16(a0)\n lw a3, 20(a0)\n" \
    "addi a0, a0, 24\n addi a3, a3, -6\n srai a4, a4, 6\n"

/* t0 = four times the sum of a channel */
#define MG_SWAR_LOWER(both, upper) "slli t0, " upper ", 18\n slli t1, " both ", 2\n sub t0, t1, t0\n"
#define MG_SWAR_UPPER(both, upper) "slli t0, " upper ", 2\n"

/* MG_SWAR_BELOW: if the sum is negative, subtracts 1 from sum * multiplier / 2^31, that is, 2 from the high word. */
#define MG_SWAR_BELOW "srai t2, t0, 31\n slli t2, t2, 1\n add t1, t1, t2\n"
#define MG_SWAR_PLAIN

#define MG_SWAR_PUT(sum, below, at, out)                                                           \
    sum "mulh t1, t0, a2\n add t1, t1, a4\n" below "sra t1, t1, a3\n"                              \
    "bgeu t5, t1, 9f\n srai t1, t1, 31\n not t1, t1\n and t1, t1, t5\n 9: add t1, t1, t6\n sb t1, " at "(" out ")\n"

#endif /* MCUGEN_SWAR_ENDS_RISCV_H */
