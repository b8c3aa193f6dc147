/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the kernels of conv2d_s8__mve_woven.h: interleaving rows, and computing MG_WIDTH outputs from interleaved
 * taps, MG_PIXEL bytes from an output's taps to the next. MG_BY_ONE, MG_BY_THREE: see conv2d_s8_weave__mve.h.
 */
#include "mcugen/dense_s8_asm__mve.h"

#include "mcugen/finish_begin__mve.h"

#define MG_COLUMN (MG_ROWS * MG_CHANNELS)
#define MG_BLOCKS ((MG_WIDTH + 3) / 4)
#define MG_PAIR (MG_BLOCKS * 32)
#define MG_PLACES ((MG_CHUNK + 15) / 16 * 16)

#include "mcugen/conv2d_s8_weave__mve.h"

#if MG_HAS_MVE
/* Computes the sums of a pair of outputs for one pixel, in registers `first` and `second`; the last step comes first.
 * a: "" begins the sums, "a" adds to them; x, y: free vectors. */
#if MG_STEPS == 1
#define MG_SUM_PAIR(a, first, second, x, y)             \
    "vldrb.u8 " x ", [r1], #pixel\n"                    \
    "vmladav" a ".s8 " first ", " x ", q0\n"            \
    "vmladav" a ".s8 " second ", " x ", q1\n"
#elif MG_STEPS == 2
#define MG_SUM_PAIR(a, first, second, x, y)             \
    "vldrb.u8 " x ", [r1, #16]\n"                       \
    "vmladav" a ".s8 " first ", " x ", q1\n"            \
    "vldrb.u8 " y ", [r1], #pixel\n"                    \
    "vmladav" a ".s8 " second ", " x ", q3\n"           \
    "vmladava.s8 " first ", " y ", q0\n"                \
    "vmladava.s8 " second ", " y ", q2\n"
#else
#define MG_SUM_PAIR(a, first, second, x, y)             \
    "vldrb.u8 q6, [r1, #32]\n"                          \
    "vmladav" a ".s8 " first ", q6, q2\n"               \
    "vldrb.u8 q7, [r1, #16]\n"                          \
    "vmladav" a ".s8 " second ", q6, q5\n"              \
    "vmladava.s8 " first ", q7, q1\n"                   \
    "vldrb.u8 q6, [r1], #pixel\n"                       \
    "vmladava.s8 " second ", q7, q4\n"                  \
    "vmladava.s8 " first ", q6, q0\n"                   \
    "vmladava.s8 " second ", q6, q3\n"
#endif

/* Computes the sums of a pair of outputs for four pixels and stores the eight sums at r7, which advances. */
#define MG_SUM_FOUR(a)                          \
    MG_SUM_PAIR(a, "r0", "r8", "q4", "q5")      \
    MG_SUM_PAIR(a, "r2", "r10", "q6", "q7")     \
    MG_SUM_PAIR(a, "r4", "r12", "q4", "q5")     \
    MG_SUM_PAIR(a, "r6", "lr", "q6", "q7")      \
    "stmia r7!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"

/* Loads the weights of a pair of outputs from r5, and makes r1 point to the taps of the first pixel (r9). */
#define MG_SUM_BEGIN                            \
    ".irp step, 0, 1, 2, 3, 4, 5\n"             \
    ".if \\step < 2 * " MG_TEXT(MG_STEPS) "\n"  \
    "vldrb.u8 q\\step, [r5], #16\n"             \
    ".endif\n"                                  \
    ".endr\n"                                   \
    "mov r1, r9\n"

/* Adds the products of the pair's second weights, if the pair has any: the next flag byte is then 1. The stack holds
 * the pointer to the flags. */
#if MG_SPLIT
#define MG_SUM_SPLIT                            \
    "ldr r0, [sp, #64]\n"                       \
    "ldrb r2, [r0], #1\n"                       \
    "str r0, [sp, #64]\n"                       \
    "cmp r2, #0\n"                              \
    "beq 8f\n"                                  \
    MG_SUM_BEGIN                                \
    "subw r7, r7, #pair\n"                      \
    "7:\n"                                      \
    "ldmia r7, {r0, r2, r4, r6, r8, r10, r12, lr}\n" \
    MG_SUM_FOUR("a")                            \
    "cmp r7, r11\n"                             \
    "bne 7b\n"                                  \
    "8:\n"
#else
#define MG_SUM_SPLIT
#endif

#if MG_FINISH == 5
#define MG_SCALED_SUM(q, bias, mult, t)         \
    "vadd.i32 " q ", " q ", " bias "\n"         \
    MG_HIGH(q, mult)                            \
    MG_ROUND(q, "")
#define MG_SHIFTED(q, shift)
#else
#define MG_SCALED_SUM(q, bias, mult, t)         \
    "vadd.i32 " q ", " q ", " bias "\n"         \
    MG_HIGH(q, mult)                            \
    MG_NUDGE(q, t)
#define MG_SHIFTED(q, shift) "vrshl.s16 " q ", " q ", " shift "\n"
#endif

/* Converts four outputs of four pixels, with sums at r0 and r1, to bytes in q0. */
#define MG_SIXTEEN                              \
    "vldrw.u32 q1, [r0, #16]\n"                 \
    "vldrw.u32 q3, [r1, #16]\n"                 \
    MG_SCALED_SUM("q1", "r5", "r9", "q0")       \
    MG_SCALED_SUM("q3", "r7", "r11", "q0")      \
    "vldrw.u32 q0, [r0], #32\n"                 \
    MG_SCALED_SUM("q0", "r4", "r8", "q2")       \
    "vldrw.u32 q2, [r1], #32\n"                 \
    MG_DOWN_TO("b", "q0", "q0")                 \
    MG_DOWN_TO("t", "q0", "q1")                 \
    MG_SCALED_SUM("q2", "r6", "r10", "q1")      \
    MG_SHIFTED("q0", "q5")                      \
    MG_DOWN_TO("b", "q2", "q2")                 \
    MG_DOWN_TO("t", "q2", "q3")                 \
    MG_SHIFTED("q2", "q6")                      \
    MG_NARROWED("r12")                          \
    ".if " MG_TEXT(MG_CLAMP) "\n"               \
    "vldrb.u8 q1, [sp]\n"                       \
    "vldrb.u8 q3, [sp, #16]\n"                  \
    ".endif\n"                                  \
    MG_BETWEEN("q1", "q3")

/* Computes an output row, four outputs at a time: first their sums, then their bytes.
 * r7: sums, r11: end of a pair's sums, r3: end of both pairs' sums, q7: offsets of 16 outputs, q4: of the next 16
 * Stack, offset from sp:
 *   0: least output, 16: largest output, 32: out, 36: out of the last four outputs, 40: stream, 44: interleaved rows,
 *   48: sums, 52: finish, 56: zero point, 60: places, 64: pointer to the flags of pairs with second weights */
static __attribute__((naked)) void MG_VARIANT(line)(const mg_conv2d_s8__mve_woven_params *p MCUGEN_UNUSED, const int8_t *woven MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, int32_t *sums MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #72\n"
        ".set pixel, " MG_TEXT(MG_PIXEL) "\n"
        ".set blocks, " MG_TEXT(MG_BLOCKS) "\n"
        ".set outputs, " MG_TEXT(MG_OUTPUTS) "\n"
        ".set width, " MG_TEXT(MG_WIDTH) "\n"
        ".set pair, " MG_TEXT(MG_PAIR) "\n"
        ".set places, " MG_TEXT(MG_PLACES) "\n"
        ".if " MG_TEXT(MG_CLAMP) "\n"
        "ldrsh r7, [r0, #14]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #16]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        ".endif\n"
        "ldrd r5, r6, [r0]\n"
        "strd r5, r1, [sp, #40]\n"
        "strd r3, r6, [sp, #48]\n"
        "ldr r4, [r0, #8]\n"
        "ldrsh r7, [r0, #12]\n"
        "strd r7, r4, [sp, #56]\n"
        ".if " MG_TEXT(MG_SPLIT) "\n"
        "add r4, r4, #places + 32\n"
        "str r4, [sp, #64]\n"
        ".endif\n"
        "add r4, r2, #outputs - 4\n"
        "strd r2, r4, [sp, #32]\n"
        "1:\n"
        "ldrd r5, r9, [sp, #40]\n"
        "ldr r7, [sp, #48]\n"
        "add r3, r7, #2 * pair\n"
        "2:\n"
        MG_SUM_BEGIN
        "addw r11, r7, #pair\n"
        ".if blocks % 4 == 1\n"
        "b 6f\n"
        ".elseif blocks % 4 == 2\n"
        "b 5f\n"
        ".elseif blocks % 4 == 3\n"
        "b 4f\n"
        ".endif\n"
        "3:\n"
        MG_SUM_FOUR("")
        "4:\n"
        MG_SUM_FOUR("")
        "5:\n"
        MG_SUM_FOUR("")
        "6:\n"
        MG_SUM_FOUR("")
        "cmp r7, r11\n"
        "bne 3b\n"
        MG_SUM_SPLIT
        "cmp r7, r3\n"
        "bne.w 2b\n"
        "str r5, [sp, #40]\n"
        "ldrd r0, r3, [sp, #48]\n"
        "addw r1, r0, #pair\n"
        "ldr r2, [sp, #32]\n"
        "ldrd r12, r4, [sp, #56]\n"
        "vldrb.u8 q7, [r4, #places]\n"
        "vldrb.u8 q4, [r4, #places + 16]\n"
        "ldrd r4, r5, [r3], #8\n"
        "vdup.32 q5, r4\n"
        "vdup.32 q6, r5\n"
        "ldmia r3!, {r4-r11}\n"
        "str r3, [sp, #52]\n"
        ".if 7 * outputs + 3 <= 255\n"
        ".if width / 8\n"
        "mov lr, #width / 8\n"
        "dls lr, lr\n"
        "3:\n"
        MG_SIXTEEN
        "vstrb.8 q0, [r2, q7]\n"
        MG_SIXTEEN
        "vstrb.8 q0, [r2, q4]\n"
        "add r2, r2, #8 * outputs\n"
        "le lr, 3b\n"
        ".endif\n"
        ".if width / 4 % 2\n"
        MG_SIXTEEN
        "vstrb.8 q0, [r2, q7]\n"
        "add r2, r2, #4 * outputs\n"
        ".endif\n"
        ".else\n"
        "mov lr, #width / 4\n"
        "dls lr, lr\n"
        "3:\n"
        MG_SIXTEEN
        "vstrb.8 q0, [r2, q7]\n"
        "add r2, r2, #4 * outputs\n"
        "le lr, 3b\n"
        ".endif\n"
        ".if width % 4\n"
        MG_SIXTEEN
        "mov r4, #width % 4 * 4\n"
        "vctp.8 r4\n"
        "vpst\n"
        "vstrbt.8 q0, [r2, q7]\n"
        ".endif\n"
        "ldrd r2, r4, [sp, #32]\n"
        "cmp r2, r4\n"
        "beq 9f\n"
        "add r2, r2, #4\n"
        ".if outputs % 4\n"
        "cmp r2, r4\n"
        "it hi\n"
        "movhi r2, r4\n"
        ".endif\n"
        "str r2, [sp, #32]\n"
        "b.w 1b\n"
        "9:\n"
        "add sp, sp, #72\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_SUM_PAIR
#undef MG_SUM_FOUR
#undef MG_SUM_BEGIN
#undef MG_SUM_SPLIT
#undef MG_SCALED_SUM
#undef MG_SHIFTED
#undef MG_SIXTEEN
#else
/* Sum of the products of a pixel's taps. */
static int32_t MG_VARIANT(sum)(const int8_t *x, const int8_t *w)
{
    int32_t sum = 0;
    for (uint32_t k = 0u; k < MG_TAPS; k += 1u) {
        sum += x[k] * w[k];
    }
    return sum;
}

static void MG_VARIANT(line)(const mg_conv2d_s8__mve_woven_params *p, const int8_t *woven, int8_t *out, int32_t *sums)
{
    const int8_t *w = p->stream;
    for (uint32_t o = 0u; o < (MG_OUTPUTS + 3u) / 4u * 4u; o += 1u) { /* outputs in the order of the pairs */
        const uint32_t first = o / 4u * 4u + 4u <= MG_OUTPUTS ? o / 4u * 4u : MG_OUTPUTS - 4u;
        const uint32_t output = first + o % 2u * 2u + o / 2u % 2u, split = MG_SPLIT ? p->places[MG_PLACES + 32 + o / 2u] : 0u;
        const int32_t *const finish = p->finish + o / 4u * 10u;
        int16_t shift[4];
        (void)memcpy(shift, finish, 8u);
        for (uint32_t x = 0u; x < MG_WIDTH; x += 1u) {
            const int8_t *const at = woven + x * MG_PIXEL;
            sums[x] = MG_VARIANT(sum)(at, w) + (split != 0u ? MG_VARIANT(sum)(at, w + MG_STEPS * 32) : 0);
            sums[x] = MG_SCALED(sums[x] + finish[2u + o % 4u], finish[6u + o % 4u], shift[o % 4u] - MG_DOWN);
            out[x * MG_OUTPUTS + output] = (int8_t)mg_clamp(sums[x] + p->out_zero_point, p->out_min, p->out_max);
        }
        w += MG_STEPS * (o % 2u != 0u && split != 0u ? 48 : 16);
    }
}
#endif
#undef MG_PLACES
#include "mcugen/finish_end__mve.h"
