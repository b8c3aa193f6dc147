/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly shared by the int8 kernels for Helium that compute eight outputs of two pixels. General registers: see
 * dense_s8_asm__mve.h.
 *
 * q0-q3: elements of the pixels, q4: the first four outputs, q5-q7: free between steps
 * Stack: least and largest output
 */
#ifndef MCUGEN_EIGHTS__MVE_H
#define MCUGEN_EIGHTS__MVE_H

#include "mcugen/dense_s8_asm__mve.h"

/* Adds the products of 16 elements of each of two pixels to the sums of four outputs. x0, x1: registers with the
 * elements of pixel 0 and of pixel 1. a: see MG_STEP_PAIR. */
#define MG_FOUR_HELD(a, x0, x1)             \
    "vldrb.u8 q5, [r5], #16\n"              \
    "vmladav" a ".s8 r0, " x0 ", q5\n"      \
    "vmladav" a ".s8 r2, " x1 ", q5\n"      \
    "vldrb.u8 q6, [r5], #16\n"              \
    "vmladav" a ".s8 r4, " x0 ", q6\n"      \
    "vmladav" a ".s8 r6, " x1 ", q6\n"      \
    "vldrb.u8 q5, [r5], #16\n"              \
    "vmladav" a ".s8 r8, " x0 ", q5\n"      \
    "vmladav" a ".s8 r10, " x1 ", q5\n"     \
    "vldrb.u8 q6, [r5], #16\n"              \
    "vmladav" a ".s8 r12, " x0 ", q6\n"     \
    "vmladav" a ".s8 lr, " x1 ", q6\n"

/* Like MG_FOUR_HELD, but load_0 and load_1 first load the elements of pixels 0 and 1 to q5 and q6. */
#define MG_FOUR_LOADED(load_0, load_1)      \
    load_0                                  \
    "vldrb.u8 q7, [r5], #16\n"              \
    "vmladava.s8 r0, q5, q7\n"              \
    load_1                                  \
    "vmladava.s8 r2, q6, q7\n"              \
    MG_ONE_LOADED("r4", "r6")               \
    MG_ONE_LOADED("r8", "r10")              \
    MG_ONE_LOADED("r12", "lr")
#define MG_ONE_LOADED(sum, second)          \
    "vldrb.u8 q7, [r5], #16\n"              \
    "vmladava.s8 " sum ", q5, q7\n"         \
    "vmladava.s8 " second ", q6, q7\n"

/* Scales the sums to int16, without the zero point; the two pixels alternate. */
#define MG_FOUR_SCALED(result)                \
    "vmov q5[2], q5[0], r0, r8\n"           \
    "vldrw.u32 q7, [r5], #16\n"             \
    "vmov q5[3], q5[1], r4, r12\n"          \
    "vmov q6[2], q6[0], r2, r10\n"          \
    "vmov q6[3], q6[1], r6, lr\n"           \
    "vadd.i32 q5, q5, q7\n"                 \
    "vadd.i32 q6, q6, q7\n"                 \
    "vldrw.u32 q7, [r5], #16\n"             \
    MG_HIGH("q5", "q7")                     \
    MG_HIGH("q6", "q7")                     \
    MG_NUDGE("q5", "q7")                    \
    MG_NUDGE("q6", "q7")                    \
    "vldrw.u32 q7, [r5], #16\n"             \
    MG_ROUND("q5", "q5, q5, q7")            \
    MG_ROUND("q6", "q6, q6, q7")            \
    "vqmovnb.s32 " result ", q5\n"            \
    "vqmovnt.s32 " result ", q6\n"

/* MG_FOUR_HELD for one pixel: adds the products of its 16 elements in x0 to the sums of four outputs. */
#define MG_FOUR_ALONE(a, x0)                \
    "vldrb.u8 q6, [r5], #16\n"              \
    "vmladav" a ".s8 r0, " x0 ", q6\n"      \
    "vldrb.u8 q7, [r5], #16\n"              \
    "vmladav" a ".s8 r4, " x0 ", q7\n"      \
    "vldrb.u8 q6, [r5], #16\n"              \
    "vmladav" a ".s8 r8, " x0 ", q6\n"      \
    "vldrb.u8 q7, [r5], #16\n"              \
    "vmladav" a ".s8 r12, " x0 ", q7\n"

/* Scales the sums of pixel 0 to int16, without the zero point; the lanes of pixel 1 are unchanged. */
#define MG_FOUR_ALONE_SCALED(result)          \
    "vmov q6[2], q6[0], r0, r8\n"           \
    "vldrw.u32 q7, [r5], #16\n"             \
    "vmov q6[3], q6[1], r4, r12\n"          \
    "vadd.i32 q6, q6, q7\n"                 \
    "vldrw.u32 q7, [r5], #16\n"             \
    MG_HIGH("q6", "q7")                     \
    MG_NUDGE("q6", "q7")                    \
    "vldrw.u32 q7, [r5], #16\n"             \
    MG_ROUND("q6", "q6, q6, q7")            \
    "vqmovnb.s32 " result ", q6\n"

/* Converts eight outputs of both pixels, in q4 and q5, to bytes in q4; the two pixels alternate. zero: register of the
 * zero point. */
#define MG_NARROWED_0(zero)                 \
    "vqmovunb.s16 q4, q4\n"                 \
    "vqmovunt.s16 q4, q5\n"                 \
    "vadd.i8 q4, q4, " zero "\n"
#define MG_NARROWED_1(zero)                 \
    "vqadd.s16 q4, q4, " zero "\n"          \
    "vqadd.s16 q5, q5, " zero "\n"          \
    "vqmovnb.s16 q4, q4\n"                  \
    "vqmovnt.s16 q4, q5\n"
#define MG_NARROWED_2(zero) MG_NARROWED_1(zero)
#define MG_NARROWED_3(zero) MG_NARROWED_1(zero)
#define MG_NARROWED_4(zero) MG_NARROWED_1(zero)
#define MG_NARROWED_5(zero) MG_NARROWED_1(zero)
#define MG_WITHIN_0
#define MG_WITHIN_1                         \
    "vldrb.u8 q5, [sp]\n"                   \
    "vmax.s8 q4, q4, q5\n"                  \
    "vldrb.u8 q6, [sp, #16]\n"              \
    "vmin.s8 q4, q4, q6\n"
#define MG_EIGHT_BYTES(zero) MG_PASTE(MG_NARROWED_, MG_FINISH, )(zero) MG_PASTE(MG_WITHIN_, MG_CLAMP, )

/* Converts and stores eight outputs of both pixels. */
#define MG_EIGHT_NARROWED(zero)             \
    MG_EIGHT_BYTES(zero)                    \
    "vshr.u32 q5, q4, #16\n"                \
    "vstrh.32 q5, [r3], #8\n"               \
    "vstrh.32 q4, [r1], #8\n"

#endif /* MCUGEN_EIGHTS__MVE_H */
