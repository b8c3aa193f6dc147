/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly shared by the int8 kernels for Helium: steps of 16 products, and the conversion of sums to outputs.
 *
 * r0, r4, r8, r12: sums of 4 outputs of a pixel; r2, r6, r10, lr: of a second pixel (VMLADAV takes even registers)
 * r1, r3: outputs of the two pixels, r5: stream
 * q4: zero point, q5: least output, q6: largest output
 */
#ifndef MCUGEN_DENSE_S8_ASM__MVE_H
#define MCUGEN_DENSE_S8_ASM__MVE_H

#include "mcugen/filter.h"
#include "mcugen/scale_float.h"

/* Saves the registers. room: bytes of the stack frame. */
#define MG_ENTER(room)                      \
    "push {r4-r11, lr}\n"                   \
    "sub sp, sp, #4\n"                      \
    "vpush {d8-d13}\n"                      \
    "sub sp, sp, #" room "\n"
#define MG_LEAVE(room)                      \
    "add sp, sp, #" room "\n"               \
    "vpop {d8-d13}\n"                       \
    "add sp, sp, #4\n"                      \
    "pop {r4-r11, pc}\n"

/* Loads the zero point to q4 and the limits of the outputs to q5 and q6. zero, least, most: offsets in the struct at r0
 */
#define MG_LIMITS(zero, least, most)        \
    "ldrsh r7, [r0, #" zero "]\n"           \
    "vdup.16 q4, r7\n"                      \
    "ldrsh r7, [r0, #" least "]\n"          \
    "vdup.8 q5, r7\n"                       \
    "ldrsh r7, [r0, #" most "]\n"           \
    "vdup.8 q6, r7\n"

/* full: end of the full blocks of r4 outputs; all: end of all blocks, `block` bytes each; repeated: outputs that the
 * last block repeats, if it is not full. */
#define MG_ENDS(full, block, all, repeated)             \
    "lsr " full ", r4, #2\n"                            \
    "mla " full ", " full ", " block ", r5\n"           \
    "mov " all ", " full "\n"                           \
    "ands " repeated ", r4, #3\n"                       \
    "itt ne\n"                                          \
    "addne " all ", " all ", " block "\n"               \
    "rsbne " repeated ", " repeated ", #4\n"

/* Starts the last block, which repeats some outputs. Their number is on the stack at offset `repeated`. */
#define MG_AGAIN(repeated)                  \
    "4:\n"                                  \
    "ldr r0, [sp, #" repeated "]\n"         \
    "sub r1, r1, r0\n"                      \
    "sub r3, r3, r0\n"                      \
    "b.w 2b\n"

/* Adds the products of 16 elements of two pixels to four outputs. a: "" begins the sums, "a" adds to them. x0, x1:
 * addresses of the elements, as operands of VLDR. */
#define MG_STEP_PAIR(a, load, x0, x1)       \
    load " q0, " x0 "\n"                    \
    "vldrb.u8 q2, [r5], #16\n"              \
    "vmladav" a ".s8 r0, q0, q2\n"          \
    load " q1, " x1 "\n"                    \
    "vmladav" a ".s8 r2, q1, q2\n"          \
    "vldrb.u8 q3, [r5], #16\n"              \
    "vmladav" a ".s8 r4, q0, q3\n"          \
    "vldrb.u8 q2, [r5], #16\n"              \
    "vmladav" a ".s8 r6, q1, q3\n"          \
    "vmladav" a ".s8 r8, q0, q2\n"          \
    "vldrb.u8 q3, [r5], #16\n"              \
    "vmladav" a ".s8 r10, q1, q2\n"         \
    "vmladav" a ".s8 r12, q0, q3\n"         \
    "vmladav" a ".s8 lr, q1, q3\n"

#define MG_STEP_ONE(a, load, x0, x1)         \
    load " q0, " x0 "\n"                    \
    "vldrb.u8 q2, [r5], #16\n"              \
    "vmladav" a ".s8 r0, q0, q2\n"          \
    "vldrb.u8 q3, [r5], #16\n"              \
    "vmladav" a ".s8 r4, q0, q3\n"          \
    "vldrb.u8 q2, [r5], #16\n"              \
    "vmladav" a ".s8 r8, q0, q2\n"          \
    "vldrb.u8 q3, [r5], #16\n"              \
    "vmladav" a ".s8 r12, q0, q3\n"

/* Rounds halves away from zero: 1 is subtracted from a negative high product before it is shifted by 1 or more. */
#define MG_NUDGE_0(q, t)
#define MG_NUDGE_1(q, t)             \
    "vshr.s32 " t ", " q ", #31\n"   \
    "vadd.i32 " q ", " q ", " t "\n"
#define MG_NUDGE_2(q, t)
#define MG_NUDGE_3(q, t)
#define MG_NUDGE(q, t) MG_PASTE(MG_NUDGE_, MG_LINEAR, )(q, t)

/* Multiplies sums by `mult`. MG_LINEAR 0, 1: high half of the doubled product, rounded; 2: the same, but rounded down,
 * as the shift that follows rounds; 3: product of floats. */
#define MG_HIGH_0(q, mult) "vqrdmulh.s32 " q ", " q ", " mult "\n"
#define MG_HIGH_1(q, mult) MG_HIGH_0(q, mult)
#define MG_HIGH_2(q, mult) "vqdmulh.s32 " q ", " q ", " mult "\n"
#define MG_HIGH_3(q, mult)             \
    "vcvt.f32.s32 " q ", " q "\n"      \
    "vmul.f32 " q ", " q ", " mult "\n"
#define MG_HIGH(q, mult) MG_PASTE(MG_HIGH_, MG_LINEAR, )(q, mult)

/* Shifts right with rounding; floats are converted to the nearest integer. */
#define MG_ROUND_0(q, shifted) "vrshl.s32 " shifted "\n"
#define MG_ROUND_1(q, shifted) MG_ROUND_0(q, shifted)
#define MG_ROUND_2(q, shifted) MG_ROUND_0(q, shifted)
#define MG_ROUND_3(q, shifted) "vcvtn.s32.f32 " q ", " q "\n"
#define MG_ROUND(q, shifted) MG_PASTE(MG_ROUND_, MG_LINEAR, )(q, shifted)

/* C versions of the assembly above. */
#define MG_SCALED_0(x, mult, shift) mg_requantize(x, mult, shift)
#define MG_SCALED_1(x, mult, shift) mg_requantize(x, mult, shift)
#define MG_SCALED_2(x, mult, shift) mg_requantize_once(x, mult, shift)
#define MG_SCALED_3(x, mult, shift) mg_scale_float(x, mult)
#define MG_SCALED(x, mult, shift) MG_PASTE(MG_SCALED_, MG_LINEAR, )(x, mult, shift)

#define MG_BETWEEN_0(low, high)
#define MG_BETWEEN_1(low, high)    \
    "vmax.s8 q0, q0, " low "\n"    \
    "vmin.s8 q0, q0, " high "\n"
#define MG_BETWEEN(low, high) MG_PASTE(MG_BETWEEN_, MG_CLAMP, )(low, high)

/* Shifts high products right by MG_DOWN, rounding down, to lanes of 16 bits. half: "b": the even lanes, "t": the odd
 * lanes. */
#define MG_DOWN_TO(half, q, r)                  \
    ".if " MG_TEXT(MG_DOWN) "\n"                \
    "vshrn" half ".i32 " q ", " r ", #" MG_TEXT(MG_DOWN) "\n" \
    ".else\n"                                   \
    "vmovn" half ".i32 " q ", " r "\n"          \
    ".endif\n"

/* Converts results of 16 bits to outputs, in q0. The even lanes are in q0, the odd lanes in q2. */
#define MG_NARROWED(zero)                       \
    ".if " MG_TEXT(MG_FINISH) " == 0\n"         \
    "vqmovunb.s16 q0, q0\n"                     \
    "vqmovunt.s16 q0, q2\n"                     \
    "vadd.i8 q0, q0, " zero "\n"                \
    ".else\n"                                   \
    "vqadd.s16 q0, q0, " zero "\n"              \
    "vqadd.s16 q2, q2, " zero "\n"              \
    "vqmovnb.s16 q0, q0\n"                      \
    "vqmovnt.s16 q0, q2\n"                      \
    ".endif\n"

/* Converts the sums of two pixels to outputs and stores them. zero: a vector or a register with the zero point; bounds:
 * instructions that load `least` and `most` if these are not in registers. */
#define MG_FINISH_PAIR_OF(zero, bounds, least, most) \
    "vmov q0[2], q0[0], r0, r8\n"    \
    "vldrw.u32 q2, [r5], #16\n"      \
    "vmov q0[3], q0[1], r4, r12\n"   \
    "vmov q1[2], q1[0], r2, r10\n"   \
    "vmov q1[3], q1[1], r6, lr\n"    \
    "vadd.i32 q0, q0, q2\n"          \
    "vldrw.u32 q3, [r5], #16\n"      \
    "vadd.i32 q1, q1, q2\n"          \
    MG_HIGH("q0", "q3")              \
    "vldrw.u32 q2, [r5], #16\n"      \
    MG_HIGH("q1", "q3")              \
    MG_NUDGE("q0", "q3")             \
    MG_NUDGE("q1", "q3")             \
    MG_ROUND("q0", "q0, q0, q2")     \
    MG_ROUND("q1", "q1, q1, q2")     \
    "vqmovnb.s32 q0, q0\n"           \
    "vqmovnt.s32 q0, q1\n"           \
    "vqadd.s16 q0, q0, " zero "\n"   \
    "vqmovnb.s16 q0, q0\n"           \
    bounds                           \
    MG_BETWEEN(least, most)          \
    "vshr.u32 q1, q0, #16\n"         \
    "vstrb.32 q1, [r3], #4\n"        \
    "vstrb.32 q0, [r1], #4\n"
#define MG_FINISH_PAIR MG_FINISH_PAIR_OF("q4", "", "q5", "q6")

/* Computes four outputs of the patches at r7 and r9. The first step begins the sums. The loop does two steps and is
 * entered in its middle if the number of steps is even. steps: stack offset of the number of steps minus 1. */
#define MG_TWO_STEP(a) MG_STEP_PAIR(a, "vldrb.u8", "[r7], #16", "[r9], #16")
#define MG_TWO_PATCHES(steps)               \
    MG_TWO_STEP("")                         \
    "ldr r11, [sp, #" steps "]\n"           \
    "lsrs r11, r11, #1\n"                   \
    "adc r11, r11, #0\n"                    \
    "bcs 8f\n"                              \
    "beq 3f\n"                              \
    "7:\n"                                  \
    MG_TWO_STEP("a")                        \
    "8:\n"                                  \
    MG_TWO_STEP("a")                        \
    "subs r11, r11, #1\n"                   \
    "bgt 7b\n"                              \
    "3:\n"                                  \
    MG_FINISH_PAIR

/* Converts the sums of a pixel to outputs and stores the lanes that P0 enables. */
#define MG_FINISH_ONE                \
    "vmov q0[2], q0[0], r0, r8\n"    \
    "vldrw.u32 q2, [r5], #16\n"      \
    "vmov q0[3], q0[1], r4, r12\n"   \
    "vldrw.u32 q3, [r5], #16\n"      \
    "vadd.i32 q0, q0, q2\n"          \
    "vldrw.u32 q2, [r5], #16\n"      \
    MG_HIGH("q0", "q3")              \
    MG_NUDGE("q0", "q3")             \
    MG_ROUND("q0", "q0, q0, q2")     \
    "vqmovnb.s32 q0, q0\n"           \
    "vqadd.s16 q0, q0, q4\n"         \
    "vqmovnb.s16 q0, q0\n"           \
    MG_BETWEEN("q5", "q6")                        \
    "vpst\n"                         \
    "vstrbt.32 q0, [r1], #4\n"

#endif /* MCUGEN_DENSE_S8_ASM__MVE_H */
