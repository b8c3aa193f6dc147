/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_pieces.h"
#include "mcugen/dense_s8_asm__mve.h"

MG_DECLARE_conv2d_s8__mve_pieces(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#define MG_COLUMN (MG_ROWS * MG_CHANNELS)
#define MG_BY_ONE (MG_ROWS != 3)
#define MG_BY_THREE (MG_ROWS == 3)
#include "mcugen/conv2d_s8_weave__mve.h"

#if MG_HAS_MVE
/* With one or two steps, the data of both pixels stays in q4 to q7 for all outputs. With three steps, it is loaded for
 * each block: from r7 for the first pixel, from r9 for the second. */
#if MG_STEPS == 1
#define MG_HOLD                             \
    "vldrb.u8 q4, [r7], #pixel\n"           \
    "vldrb.u8 q6, [r7], #pixel\n"
#define MG_STEPS_OF MG_HELD("", "q4", "q6")
#elif MG_STEPS == 2
#define MG_HOLD                             \
    "vldrb.u8 q5, [r7, #16]\n"              \
    "vldrb.u8 q4, [r7], #pixel\n"           \
    "vldrb.u8 q7, [r7, #16]\n"              \
    "vldrb.u8 q6, [r7], #pixel\n"
#define MG_STEPS_OF MG_HELD("", "q4", "q6") MG_HELD("a", "q5", "q7")
#else
#define MG_HOLD                             \
    "add r9, r7, #pixel\n"
#define MG_STEPS_OF                         \
    MG_STEP_PAIR("", "vldrb.u8", "[r7]", "[r9]")           \
    MG_STEP_PAIR("a", "vldrb.u8", "[r7, #16]", "[r9, #16]") \
    MG_STEP_PAIR("a", "vldrb.u8", "[r7, #32]", "[r9, #32]")
#endif
#define MG_HELD(a, x0, x1)                  \
    "vldrb.u8 q2, [r5], #16\n"              \
    "vmladav" a ".s8 r0, " x0 ", q2\n"      \
    "vldrb.u8 q3, [r5], #16\n"              \
    "vmladav" a ".s8 r2, " x1 ", q2\n"      \
    "vmladav" a ".s8 r4, " x0 ", q3\n"      \
    "vldrb.u8 q2, [r5], #16\n"              \
    "vmladav" a ".s8 r6, " x1 ", q3\n"      \
    "vmladav" a ".s8 r8, " x0 ", q2\n"      \
    "vldrb.u8 q3, [r5], #16\n"              \
    "vmladav" a ".s8 r10, " x1 ", q2\n"     \
    "vmladav" a ".s8 r12, " x0 ", q3\n"     \
    "vmladav" a ".s8 lr, " x1 ", q3\n"

#define MG_BOUNDS                           \
    ".if " MG_TEXT(MG_CLAMP) "\n"           \
    "vldrb.u8 q2, [sp]\n"                   \
    "vldrb.u8 q3, [sp, #16]\n"              \
    ".endif\n"

/* Computes all outputs of the pixels of a piece. If the number of pixels is odd, the last but one is computed twice.
 * r7: interleaved data of the first pixel, r11: zero point
 * Stack, offset from sp: 0: least output, 16: largest output, 32: stream, 36: end of the interleaved data of the pairs
 * of pixels, 40: end of the full blocks */
static __attribute__((naked)) void MG_VARIANT(piece)(const mg_conv2d_s8__mve_pieces_params *p MCUGEN_UNUSED, const int8_t *woven MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #48\n"
        ".set pixel, " MG_TEXT(MG_PIXEL) "\n"
        ".set outputs, " MG_TEXT(MG_OUTPUTS) "\n"
        ".set piece, " MG_TEXT(MG_PIECE) "\n"
        ".if " MG_TEXT(MG_CLAMP) "\n"
        "ldrsh r7, [r0, #10]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #12]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        ".endif\n"
        "ldr r5, [r0]\n"
        "ldrsh r11, [r0, #8]\n"
        "mov r7, r1\n"
        "movw r0, #piece / 2 * 2 * pixel\n"
        "add r6, r7, r0\n"
        "strd r5, r6, [sp, #32]\n"
        "movw r0, #outputs / 4 * (" MG_TEXT(MG_STEPS) " * 64 + 48)\n"
        "add r0, r0, r5\n"
        "str r0, [sp, #40]\n"
        "mov r1, r2\n"
        "add r3, r1, #outputs\n"
        "1:\n"
        "ldr r5, [sp, #32]\n"
        MG_HOLD
        "2:\n"
        MG_STEPS_OF
        MG_FINISH_PAIR_OF("r11", MG_BOUNDS, "q2", "q3")
        ".if outputs > 4\n"
        "ldr r0, [sp, #40]\n"
        "cmp r5, r0\n"
        "blo.w 2b\n"
        ".endif\n"
        ".if outputs % 4\n"
        "bhi 3f\n"
        "sub r1, r1, #4 - outputs % 4\n"
        "sub r3, r3, #4 - outputs % 4\n"
        "b.w 2b\n"
        "3:\n"
        ".endif\n"
        ".if " MG_TEXT(MG_STEPS) " == 3\n"
        "add r7, r7, #2 * pixel\n"
        ".endif\n"
        "ldr r0, [sp, #36]\n"
        "mov r1, r3\n"
        "cmp r7, r0\n"
        "add r3, r3, #outputs\n"
        "blo.w 1b\n"
        ".if piece % 2\n"
        "bhi 4f\n"
        "sub r7, r7, #pixel\n"
        "sub r1, r1, #outputs\n"
        "sub r3, r3, #outputs\n"
        "b.w 1b\n"
        "4:\n"
        ".endif\n"
        "add sp, sp, #48\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_HOLD
#undef MG_STEPS_OF
#undef MG_HELD
#undef MG_BOUNDS
#else
static void MG_VARIANT(piece)(const mg_conv2d_s8__mve_pieces_params *p, const int8_t *woven, int8_t *out)
{
    for (uint32_t i = 0u; i < MG_PIECE * MG_OUTPUTS; i += 1u) {
        const uint32_t o = i % MG_OUTPUTS, place = o >= MG_OUTPUTS / 4u * 4u ? o + 4u - MG_OUTPUTS % 4u : o;
        const int8_t *const block = p->stream + place / 4u * (MG_STEPS * 64u + 48u) + place % 4u * 16u;
        const int8_t *const x = woven + i / MG_OUTPUTS * MG_PIXEL;
        int32_t rest[3];
        for (uint32_t k = 0u; k < 3u; k += 1u) {
            (void)memcpy(&rest[k], block + MG_STEPS * 64u + k * 16u - place % 4u * 12u, 4u);
        }
        for (uint32_t k = 0u; k < MG_TAPS; k += 1u) {
            rest[0] += x[k] * block[k / 16u * 64u + k % 16u];
        }
        out[i] = (int8_t)mg_clamp(MG_SCALED(rest[0], rest[1], rest[2]) + p->out_zero_point, p->out_min, p->out_max);
    }
}
#endif

/* Interleaves n bytes of a row, at least one. */
static void MG_VARIANT(weave_some)(const int8_t *row, uint32_t n, const uint8_t *places, int8_t *woven)
{
#if MG_ROWS == 1
    (void)places;
    mg_copy_bytes(woven, row, n);
#elif MG_HAS_MVE
#define MG_WOVEN_SOME(at, by)               \
    "vctp.8 %1\n"                           \
    "vpstt\n"                               \
    "vldrbt.u8 q0, [%0], #" by "\n"         \
    "vstrbt.8 q0, [%3, " at "]\n"           \
    "subs %1, %1, #" by "\n"
    __asm__ volatile(".set chunk, " MG_TEXT(MG_CHUNK) "\n"
                     "vldrb.u8 q1, [%2]\n"
                     ".if chunk == 48\n"
                     "vldrb.u8 q2, [%2, #16]\n"
                     "vldrb.u8 q3, [%2, #32]\n"
                     ".endif\n"
                     "1:\n"
                     ".if chunk == 48\n"
                     MG_WOVEN_SOME("q1", "16")
                     "ble 2f\n"
                     MG_WOVEN_SOME("q2", "16")
                     "ble 2f\n"
                     MG_WOVEN_SOME("q3", "16")
                     ".else\n"
                     MG_WOVEN_SOME("q1", "chunk")
                     ".endif\n"
                     "add %3, %3, #chunk / " MG_TEXT(MG_CHANNELS) " * " MG_TEXT(MG_COLUMN) "\n"
                     "bgt 1b\n"
                     "2:\n"
                     : "+r"(row), "+r"(n), "+r"(places), "+r"(woven)
                     :
                     : "q0", "q1", "q2", "q3", "cc", "memory");
#undef MG_WOVEN_SOME
#else
    for (uint32_t i = 0u; i < n; i += 1u) {
        woven[i / MG_CHUNK * (MG_CHUNK / MG_CHANNELS * MG_COLUMN) + places[i % MG_CHUNK]] = row[i];
    }
#endif
}

/* Interleaves MG_COLUMNS columns from `column` on. Some of them, but not all, may be outside the image, and so may
 * rows. */
static void MG_VARIANT(weave_inside)(const mg_conv2d_s8__mve_pieces_params *p, const int8_t *const *rows, int32_t column, int8_t *woven)
{
    const int32_t before = column < 0 ? -column : 0, first = (column + before) * MG_CHANNELS;
    const int32_t end = MG_IN_WIDTH - column < MG_COLUMNS ? MG_IN_WIDTH - column : MG_COLUMNS;
    const uint32_t n = (uint32_t)(end - before) * MG_CHANNELS;
    mg_fill_bytes(woven, p->in_zero_point, MG_COLUMNS * MG_COLUMN);
    for (int32_t k = 0; k < MG_ROWS; k += 1) {
        if (rows[k] != NULL) {
            MG_VARIANT(weave_some)(rows[k] + first, n, p->places, woven + before * MG_COLUMN + k * MG_CHANNELS);
        }
    }
}

/* Interleaves MG_COLUMNS columns from `column` on. All of them and all rows are inside the image. */
static void MG_VARIANT(weave_all)(const mg_conv2d_s8__mve_pieces_params *p, const int8_t *const *rows, int32_t column, int8_t *woven)
{
    const int32_t first = column * MG_CHANNELS;
#if MG_ROWS == 3
    const int8_t *const at[3] = {rows[0] + first, rows[1] + first, rows[2] + first};
    MG_VARIANT(weave_three)(at, p->places, woven);
#else
    (void)p;
    for (uint32_t k = 0u; k < MG_ROWS; k += 1u) {
        MG_WEAVE(p, rows[k] + first, woven + k * MG_CHANNELS);
    }
#endif
}

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_pieces_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    const uint32_t inside = rows[0] != NULL && rows[MG_ROWS - 1] != NULL;
    (void)y;
    for (uint32_t x = 0u; x < MG_WIDTH; x += MG_PIECE) {
        const uint32_t first = x + MG_PIECE <= MG_WIDTH ? x : MG_WIDTH - MG_PIECE;
        const int32_t column = (int32_t)(first * MG_STRIDE) - MG_LEFT;
        if (inside != 0u && column >= 0 && column + MG_COLUMNS <= MG_IN_WIDTH) {
            MG_VARIANT(weave_all)(p, rows, column, scratch);
        } else {
            MG_VARIANT(weave_inside)(p, rows, column, scratch);
        }
        MG_VARIANT(piece)(p, scratch, out + first * MG_OUTPUTS);
    }
}
#undef MG_BY_ONE
#undef MG_BY_THREE
#undef MG_WEAVE
#undef MG_COLUMN
#include "mcugen/finish_end__mve.h"
