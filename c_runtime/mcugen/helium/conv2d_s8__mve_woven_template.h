/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_woven.h"
#include "mcugen/dense_s8_asm__mve.h"

MG_DECLARE_conv2d_s8__mve_woven(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#define MG_COLUMN (MG_ROWS * MG_CHANNELS)
#define MG_BLOCKS ((MG_WIDTH + 3) / 4)
#define MG_PAIR (MG_BLOCKS * 32)

#if MG_HAS_MVE
#if MG_ROWS > 1
/* A vector of the input row, from r5, to its places from r6 on. */
#define MG_WOVEN(places, next)              \
    "vldrb.u8 q0, [r5], #" next "\n"        \
    "vstrb.8 q0, [r6, " places "]\n"

/* What is left of the row after `done` bytes. */
#define MG_WOVEN_LAST(places, done)                 \
    ".if used > " done "\n"                         \
    "mov r7, #used - (" done ")\n"                  \
    "vctp.8 r7\n"                                   \
    "vpstt\n"                                       \
    "vldrbt.u8 q0, [r5], #16\n"                     \
    "vstrbt.8 q0, [r6, " places "]\n"               \
    ".endif\n"

/* The rows that are not NULL. The last chunk of each may be less than whole. */
static void MG_VARIANT(weave)(const int8_t *const *rows, const uint8_t *places, int8_t *woven)
{
    __asm__ volatile(".set chunk, " MG_TEXT(MG_CHUNK) "\n"
                     ".set used, " MG_TEXT(MG_USED) "\n"
                     ".if chunk %% 16 == 0\n"
                     ".set chunks, used / chunk\n"
                     ".elseif used < 16\n"
                     ".set chunks, 0\n"
                     ".else\n"
                     ".set chunks, (used - 16) / chunk + 1\n"
                     ".endif\n"
                     "vldrb.u8 q1, [%2]\n"
                     ".if chunk == 48\n"
                     "vldrb.u8 q2, [%2, #16]\n"
                     "vldrb.u8 q3, [%2, #32]\n"
                     ".endif\n"
                     "mov r4, #" MG_TEXT(MG_ROWS) "\n"
                     "1:\n"
                     "ldr r5, [%0], #4\n"
                     "mov r6, %1\n"
                     "cbz r5, 3f\n"
                     ".if chunks > 0\n"
                     "movw lr, #chunks\n"
                     "dls lr, lr\n"
                     "2:\n"
                     ".if chunk == 48\n"
                     MG_WOVEN("q1", "16")
                     MG_WOVEN("q2", "16")
                     MG_WOVEN("q3", "16")
                     ".else\n"
                     MG_WOVEN("q1", "chunk")
                     ".endif\n"
                     "addw r6, r6, #chunk / " MG_TEXT(MG_CHANNELS) " * " MG_TEXT(MG_COLUMN) "\n"
                     "le lr, 2b\n"
                     ".endif\n"
                     MG_WOVEN_LAST("q1", "chunks * chunk")
                     ".if chunk == 48\n"
                     MG_WOVEN_LAST("q2", "chunks * chunk + 16")
                     MG_WOVEN_LAST("q3", "chunks * chunk + 32")
                     ".endif\n"
                     "3:\n"
                     "add %1, %1, #" MG_TEXT(MG_CHANNELS) "\n"
                     "subs r4, r4, #1\n"
                     "bne 1b\n"
                     : "+r"(rows), "+r"(woven)
                     : "r"(places)
                     : "q0", "q1", "q2", "q3", "r4", "r5", "r6", "r7", "lr", "cc", "memory");
}

#endif

/* Two sums of a pixel, which begin with the last step. x, y: vectors that are free. */
#if MG_STEPS == 1
#define MG_SUM_PAIR(a, b, x, y)             \
    "vldrb.u8 " x ", [r1], #pixel\n"        \
    "vmladav.s8 " a ", " x ", q0\n"         \
    "vmladav.s8 " b ", " x ", q1\n"
#elif MG_STEPS == 2
#define MG_SUM_PAIR(a, b, x, y)             \
    "vldrb.u8 " x ", [r1, #16]\n"           \
    "vmladav.s8 " a ", " x ", q1\n"         \
    "vldrb.u8 " y ", [r1], #pixel\n"        \
    "vmladav.s8 " b ", " x ", q3\n"         \
    "vmladava.s8 " a ", " y ", q0\n"        \
    "vmladava.s8 " b ", " y ", q2\n"
#else
#define MG_SUM_PAIR(a, b, x, y)             \
    "vldrb.u8 q6, [r1, #32]\n"              \
    "vmladav.s8 " a ", q6, q2\n"            \
    "vldrb.u8 q7, [r1, #16]\n"              \
    "vmladav.s8 " b ", q6, q5\n"            \
    "vmladava.s8 " a ", q7, q1\n"           \
    "vldrb.u8 q6, [r1], #pixel\n"           \
    "vmladava.s8 " b ", q7, q4\n"           \
    "vmladava.s8 " a ", q6, q0\n"           \
    "vmladava.s8 " b ", q6, q3\n"
#endif

/* Four pixels, to r7. */
#define MG_SUM_FOUR                             \
    MG_SUM_PAIR("r0", "r8", "q4", "q5")         \
    MG_SUM_PAIR("r2", "r10", "q6", "q7")        \
    MG_SUM_PAIR("r4", "r12", "q4", "q5")        \
    MG_SUM_PAIR("r6", "lr", "q6", "q7")         \
    "stmia r7!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"

/* All sums. r3: pairs that are left, r9: woven rows, r11: the end of the pair's sums. */
static __attribute__((naked)) void MG_VARIANT(sums)(const int8_t *woven MCUGEN_UNUSED, const int8_t *stream MCUGEN_UNUSED, int32_t *sums MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        ".set pixel, " MG_TEXT(MG_PIXEL) "\n"
        ".set blocks, " MG_TEXT(MG_BLOCKS) "\n"
        "mov r5, r1\n"
        "mov r7, r2\n"
        "mov r9, r0\n"
        "mov r3, #" MG_TEXT(MG_PAIRS) "\n"
        "1:\n"
        ".irp step, 0, 1, 2, 3, 4, 5\n"
        ".if \\step < 2 * " MG_TEXT(MG_STEPS) "\n"
        "vldrb.u8 q\\step, [r5], #16\n"
        ".endif\n"
        ".endr\n"
        "mov r1, r9\n"
        "addw r11, r7, #32 * blocks\n"
        ".if blocks % 2\n"
        "b 3f\n"
        ".endif\n"
        "2:\n"
        MG_SUM_FOUR
        "3:\n"
        MG_SUM_FOUR
        "cmp r7, r11\n"
        "bne 2b\n"
        "subs r3, r3, #1\n"
        "bne 1b\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}

/* Four outputs of four pixels, from r0 and r1, in q0. */
#define MG_DOWN_TO(half, q, r)                  \
    ".if " MG_TEXT(MG_DOWN) "\n"                \
    "vshrn" half ".i32 " q ", " r ", #" MG_TEXT(MG_DOWN) "\n" \
    ".else\n"                                   \
    "vmovn" half ".i32 " q ", " r "\n"          \
    ".endif\n"
#if MG_FINISH == 5
#define MG_SCALED_SUM(q, mult)                  \
    MG_HIGH(q, mult)                            \
    MG_ROUND(q, "")
#define MG_SHIFTED(q, shift)
#else
#define MG_SCALED_SUM(q, mult)                  \
    MG_HIGH(q, mult)                            \
    MG_NUDGE(q, "q4")
#define MG_SHIFTED(q, shift) "vrshl.s16 " q ", " q ", " shift "\n"
#endif
#if MG_FINISH == 0
#define MG_NARROWED                             \
    "vqmovunb.s16 q0, q0\n"                     \
    "vqmovunt.s16 q0, q2\n"                     \
    "vadd.i8 q0, q0, r12\n"
#else
#define MG_NARROWED                             \
    "vqadd.s16 q0, q0, r12\n"                   \
    "vqadd.s16 q2, q2, r12\n"                   \
    "vqmovnb.s16 q0, q0\n"                      \
    "vqmovnt.s16 q0, q2\n"
#endif
#define MG_SIXTEEN                              \
    "vldrw.u32 q1, [r0, #16]\n"                 \
    "vldrw.u32 q0, [r0], #32\n"                 \
    "vadd.i32 q1, q1, r5\n"                     \
    "vldrw.u32 q3, [r1, #16]\n"                 \
    "vadd.i32 q0, q0, r4\n"                     \
    MG_SCALED_SUM("q1", "r9")                   \
    "vldrw.u32 q2, [r1], #32\n"                 \
    MG_SCALED_SUM("q0", "r8")                   \
    "vadd.i32 q3, q3, r7\n"                     \
    "vadd.i32 q2, q2, r6\n"                     \
    MG_SCALED_SUM("q3", "r11")                  \
    MG_DOWN_TO("b", "q0", "q0")                 \
    MG_SCALED_SUM("q2", "r10")                  \
    MG_DOWN_TO("t", "q0", "q1")                 \
    MG_DOWN_TO("b", "q2", "q2")                 \
    MG_SHIFTED("q0", "q5")                      \
    MG_DOWN_TO("t", "q2", "q3")                 \
    MG_SHIFTED("q2", "q6")                      \
    MG_NARROWED                                 \
    ".if " MG_TEXT(MG_CLAMP) "\n"               \
    "vldrb.u8 q1, [sp]\n"                       \
    "vldrb.u8 q3, [sp, #16]\n"                  \
    ".endif\n"                                  \
    MG_BETWEEN("q1", "q3")

/* All outputs. q7: places of 16 outputs. Stack: least and largest output, the first of the four outputs, the last such. */
static __attribute__((naked)) void MG_VARIANT(outputs)(const mg_conv2d_s8__mve_woven_params *p MCUGEN_UNUSED, const int32_t *sums MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #40\n"
        ".set outputs, " MG_TEXT(MG_OUTPUTS) "\n"
        ".set width, " MG_TEXT(MG_WIDTH) "\n"
        ".set pair, " MG_TEXT(MG_PAIR) "\n"
        ".if " MG_TEXT(MG_CLAMP) "\n"
        "ldrsh r7, [r0, #14]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #16]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        ".endif\n"
        "ldr r3, [r0, #4]\n"
        "ldrsh r12, [r0, #12]\n"
        "mov r4, #0\n"
        "vidup.u32 q7, r4, #1\n"
        "movw r4, #outputs * 257\n"
        "movt r4, #outputs * 257\n"
        "vmul.i32 q7, q7, r4\n"
        "movw r4, #0x0100\n"
        "movt r4, #0x0302\n"
        "vadd.i32 q7, q7, r4\n"
        "mov r0, r1\n"
        "add r4, r2, #outputs - 4\n"
        "strd r2, r4, [sp, #32]\n"
        "1:\n"
        "addw r1, r0, #pair\n"
        "ldrd r4, r5, [r3], #8\n"
        "vdup.32 q5, r4\n"
        "vdup.32 q6, r5\n"
        "ldmia r3!, {r4-r11}\n"
        ".if width / 4\n"
        "mov lr, #width / 4\n"
        "dls lr, lr\n"
        "2:\n"
        MG_SIXTEEN
        "vstrb.8 q0, [r2, q7]\n"
        "add r2, r2, #4 * outputs\n"
        "le lr, 2b\n"
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
        "beq 3f\n"
        "add r2, r2, #4\n"
        ".if outputs % 4\n"
        "cmp r2, r4\n"
        "it hi\n"
        "movhi r2, r4\n"
        ".endif\n"
        ".if outputs % 4 == 1\n"
        "it lo\n"
        "movlo r0, r1\n"
        ".else\n"
        "mov r0, r1\n"
        ".endif\n"
        "str r2, [sp, #32]\n"
        "b 1b\n"
        "3:\n"
        "add sp, sp, #40\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}

#if MG_SPLIT
/* Adds the second sums of an output, of four pixels at a time. */
static inline void MG_VARIANT(add)(int32_t *sums, const int32_t *more)
{
    __asm__ volatile("dls lr, %2\n"
                     "1:\n"
                     "vldrw.u32 q0, [%0]\n"
                     "vldrw.u32 q1, [%1], #32\n"
                     "vadd.i32 q0, q0, q1\n"
                     "vstrw.32 q0, [%0], #32\n"
                     "le lr, 1b\n"
                     : "+r"(sums), "+r"(more)
                     : "r"(MG_BLOCKS)
                     : "q0", "q1", "lr", "cc", "memory");
}
#endif
#else
#if MG_ROWS > 1
static void MG_VARIANT(weave)(const int8_t *const *rows, const uint8_t *places, int8_t *woven)
{
    for (uint32_t k = 0u; k < MG_ROWS; k += 1u) {
        for (uint32_t i = 0u; rows[k] != NULL && i < MG_USED; i += 1u) {
            woven[i / MG_CHUNK * (MG_CHUNK / MG_CHANNELS * MG_COLUMN) + places[i % MG_CHUNK] + k * MG_CHANNELS] = rows[k][i];
        }
    }
}

#endif

static void MG_VARIANT(sums)(const int8_t *woven, const int8_t *stream, int32_t *sums)
{
    for (uint32_t i = 0u; i < MG_PAIRS * MG_BLOCKS * 8u; i += 1u) {
        const int8_t *const w = stream + (i / (MG_BLOCKS * 8u) * 2u + i / 4u % 2u) * MG_STEPS * 16u;
        const uint32_t x = i / 8u % MG_BLOCKS * 4u + i % 4u;
        sums[i] = 0;
        for (uint32_t k = 0u; x < MG_WIDTH && k < MG_TAPS; k += 1u) {
            sums[i] += woven[x * MG_PIXEL + k] * w[k];
        }
    }
}

static void MG_VARIANT(outputs)(const mg_conv2d_s8__mve_woven_params *p, const int32_t *sums, int8_t *out)
{
    for (uint32_t o = 0u; o < MG_OUTPUTS; o += 4u) {
        const uint32_t first = o + 4u <= MG_OUTPUTS ? o : MG_OUTPUTS - 4u;
        const uint32_t pair = o / 2u - (uint32_t)(MG_OUTPUTS % 4u == 1u && o + 1u == MG_OUTPUTS);
        const int32_t *const rest = p->rest + o / 4u * 10u;
        for (uint32_t i = 0u; i < MG_WIDTH * 4u; i += 1u) {
            const uint32_t x = i / 4u, k = i % 4u, place = k / 2u + k % 2u * 2u;
            const int32_t sum = sums[(pair + k % 2u) * (MG_PAIR / 4u) + x / 4u * 8u + k / 2u * 4u + x % 4u];
            int16_t shift[4];
            (void)memcpy(shift, rest, 8u);
            const int32_t y = MG_SCALED(sum + rest[2u + place], rest[6u + place], shift[place] - MG_DOWN);
            out[x * MG_OUTPUTS + first + k] = (int8_t)mg_clamp(y + p->out_zero_point, p->out_min, p->out_max);
        }
    }
}

#if MG_SPLIT
static void MG_VARIANT(add)(int32_t *sums, const int32_t *more)
{
    for (uint32_t i = 0u; i < MG_WIDTH; i += 1u) {
        sums[i / 4u * 8u + i % 4u] += more[i / 4u * 8u + i % 4u];
    }
}
#endif
#endif

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_woven_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    const uint32_t before = MG_LEFT * MG_COLUMN, inside = MG_USED * MG_ROWS, all = MG_COLUMNS * MG_COLUMN;
    int32_t *const sums = (int32_t *)(void *)scratch;
    int8_t *const woven = scratch + MG_PAIRS * MG_PAIR;
    (void)y;
    if (rows[0] == NULL || rows[MG_ROWS - 1] == NULL) {
        mg_fill_bytes(woven, p->in_zero_point, all);
    } else {
        if (before > 0u) {
            mg_fill_bytes(woven, p->in_zero_point, before);
        }
        if (all > before + inside) {
            mg_fill_bytes(woven + before + inside, p->in_zero_point, all - before - inside);
        }
    }
#if MG_ROWS == 1
    if (rows[0] != NULL) {
        mg_copy_bytes(woven + before, rows[0], MG_USED);
    }
#else
    MG_VARIANT(weave)(rows, p->places, woven + before);
#endif
    MG_VARIANT(sums)(woven, p->stream, sums);
#if MG_SPLIT
    for (uint32_t k = 0u; k < MG_SPLIT; k += 1u) {
        const int32_t *const at = p->rest + (MG_OUTPUTS + 3) / 4 * 10 + k * 2u;
        MG_VARIANT(add)(sums + at[0], sums + at[1]);
    }
#endif
    MG_VARIANT(outputs)(p, sums, out);
}
#undef MG_COLUMN
#undef MG_BLOCKS
#undef MG_PAIR
#undef MG_WOVEN
#undef MG_WOVEN_LAST
#undef MG_SUM_PAIR
#undef MG_SUM_FOUR
#undef MG_DOWN_TO
#undef MG_SCALED_SUM
#undef MG_SHIFTED
#undef MG_NARROWED
#undef MG_SIXTEEN
#include "mcugen/finish_end__mve.h"
