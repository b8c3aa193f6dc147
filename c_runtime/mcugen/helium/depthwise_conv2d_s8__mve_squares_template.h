/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/depthwise_conv2d_s8__mve_squares.h"

MG_DECLARE_depthwise_conv2d_s8__mve_squares(MG_KERNEL);

/* Bytes of the words of two output rows; with a stride of 2, of one output row. */
#define MG_GROUP (4 * MG_SLICE * ((MG_WIDTH - 1) * MG_STRIDE + 4))

#include "mcugen/finish_begin__mve.h"

#if MG_HAS_MVE
#define MG_STORE_WORDS                             \
    "vst40.8 {q0, q1, q2, q3}, [%4]\n"             \
    "vst41.8 {q0, q1, q2, q3}, [%4]\n"             \
    "vst42.8 {q0, q1, q2, q3}, [%4]\n"             \
    "vst43.8 {q0, q1, q2, q3}, [%4]!\n"
#define MG_LOAD_ROWS(next)                         \
    "vldrb.u8 q0, [%0], #" next "\n"               \
    "vldrb.u8 q1, [%1], #" next "\n"               \
    "vldrb.u8 q2, [%2], #" next "\n"               \
    "vldrb.u8 q3, [%3], #" next "\n"

#if MG_SLICE == MG_CHANNELS
/* Interleaves 16 bytes of four rows, n times. */
#define MG_WEAVE MG_LOAD_ROWS("16") MG_STORE_WORDS
#else
/* Interleaves MG_SLICE channels (more than 16) of n pixels of four rows. */
#define MG_WEAVE                                                       \
    ".set vectors, (" MG_TEXT(MG_SLICE) " + 15) / 16\n"                \
    ".set next, " MG_TEXT(MG_CHANNELS) " - " MG_TEXT(MG_SLICE) " + 16\n" \
    ".rept vectors - 2\n"                                              \
    MG_LOAD_ROWS("16")                                                 \
    MG_STORE_WORDS                                                     \
    ".endr\n"                                                          \
    MG_LOAD_ROWS(MG_TEXT(MG_SLICE) " - 16 * (vectors - 1)")            \
    MG_STORE_WORDS                                                     \
    ".if vectors * 16 > " MG_TEXT(MG_SLICE) "\n"                       \
    "sub %4, %4, #4 * (16 * vectors - " MG_TEXT(MG_SLICE) ")\n"        \
    ".endif\n"                                                         \
    ".if next < 128\n"                                                 \
    MG_LOAD_ROWS("next")                                               \
    ".else\n"                                                          \
    MG_LOAD_ROWS("0")                                                  \
    "addw %0, %0, #next\n"                                             \
    "addw %1, %1, #next\n"                                             \
    "addw %2, %2, #next\n"                                             \
    "addw %3, %3, #next\n"                                             \
    ".endif\n"                                                         \
    MG_STORE_WORDS
#endif

static void MG_VARIANT(weave)(const int8_t *a, const int8_t *b, const int8_t *c, const int8_t *d, int8_t *out, uint32_t n)
{
    __asm__ volatile("dls lr, %5\n"
                     "1:\n"
                     MG_WEAVE
                     "le lr, 1b\n"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(out)
                     : "r"(n)
                     : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
}
#undef MG_WEAVE
#undef MG_LOAD_ROWS
#undef MG_STORE_WORDS
#else
static void MG_VARIANT(weave)(const int8_t *a, const int8_t *b, const int8_t *c, const int8_t *d, int8_t *out, uint32_t n)
{
    const uint32_t run = MG_SLICE == MG_CHANNELS ? 16u : MG_SLICE;
    const int8_t *const rows[4] = {a, b, c, d};
    for (uint32_t i = 0u; i < n * run * 4u; i += 1u) {
        out[i] = rows[i % 4u][i / 4u / run * (MG_SLICE == MG_CHANNELS ? 16u : MG_CHANNELS) + i / 4u % run];
    }
}
#endif

/* Makes the words of four rows: `columns` pixels, channels from `from` on. */
static void MG_VARIANT(words)(const int8_t *const *rows, uint32_t from, int8_t *out, uint32_t columns)
{
#if MG_SLICE == MG_CHANNELS
    const uint32_t n = columns * MG_CHANNELS, last = n - 16u;
    (void)from;
    MG_VARIANT(weave)(rows[0], rows[1], rows[2], rows[3], out, n / 16u);
    if (n % 16u != 0u) {
        MG_VARIANT(weave)(rows[0] + last, rows[1] + last, rows[2] + last, rows[3] + last, out + 4u * last, 1u);
    }
#else
    MG_VARIANT(weave)(rows[0] + from, rows[1] + from, rows[2] + from, rows[3] + from, out, columns);
#endif
}

#if MG_HAS_MVE
/* Sums of 2x2 outputs. With a stride of 1, one vector has the windows of all four; with a stride of 2, each output has
 * a vector. */
#if MG_STRIDE == 1
#define MG_SQUARE(q, upper, right, lower, last)                           \
    "vldrw.u32 " q ", [q6, #8 * " MG_TEXT(MG_SLICE) "]!\n"                \
    "vmladav.s8 " upper ", " q ", q0\n"                                   \
    "vmladav.s8 " right ", " q ", q1\n"                                   \
    "vmladav.s8 " lower ", " q ", q2\n"                                   \
    "vmladav.s8 " last ", " q ", q3\n"
#define MG_COLUMN                                                         \
    "vldrw.u32 q4, [q6, #8 * " MG_TEXT(MG_SLICE) "]!\n"                   \
    "vmladav.s8 r0, q4, q0\n"                                             \
    "vmladav.s8 r4, q4, q2\n"
#define MG_BACK(bytes) "movw r0, #" bytes "\n vsub.i32 q6, q6, r0\n"
#define MG_PLACES "q7"
#else
#define MG_ONE(q, sum, words)                                             \
    "vldrw.u32 " q ", [" words ", #8 * " MG_TEXT(MG_SLICE) "]!\n"         \
    "vmladav.s8 " sum ", " q ", q0\n"
#define MG_SQUARE(q, upper, right, lower, last)                           \
    MG_ONE("q1", upper, "q6")                                             \
    MG_ONE("q2", lower, "q7")                                             \
    MG_ONE("q1", right, "q6")                                             \
    MG_ONE("q2", last, "q7")
#define MG_COLUMN                                                         \
    MG_ONE("q1", "r0", "q6")                                              \
    MG_ONE("q2", "r4", "q7")
#define MG_BACK(bytes) "movw r0, #" bytes "\n vsub.i32 q6, q6, r0\n vsub.i32 q7, q7, r0\n"
#define MG_PLACES "q3"
#endif

#define MG_INSIDE_0(t)
#define MG_INSIDE_1(t)             \
    "vldrb.u8 " t ", [sp]\n"       \
    "vmax.s8 q4, q4, " t "\n"      \
    "vldrb.u8 " t ", [sp, #16]\n"  \
    "vmin.s8 q4, q4, " t "\n"
#define MG_WITHIN(t) MG_PASTE(MG_INSIDE_, MG_CLAMP, )(t)

/* Computes 4 pixels of two rows, 8 outputs. Rounding halves away from zero overwrites the vector of output offsets. */
#define MG_EIGHT                                  \
    MG_SQUARE("q4", "r0", "r2", "r4", "r6")       \
    MG_SQUARE("q5", "r8", "r10", "r12", "lr")     \
    "vmov q4[2], q4[0], r0, r4\n"                 \
    "vmov q4[3], q4[1], r8, r12\n"                \
    "vmov q5[2], q5[0], r2, r6\n"                 \
    "vmov q5[3], q5[1], r10, lr\n"                \
    "vadd.i32 q4, q4, r5\n"                       \
    "vadd.i32 q5, q5, r5\n"                       \
    MG_HIGH("q4", "r7")                           \
    MG_HIGH("q5", "r7")                           \
    MG_NUDGE("q4", MG_PLACES)                     \
    MG_NUDGE("q5", MG_PLACES)                     \
    ".if " MG_TEXT(MG_LINEAR) " == 1\n"           \
    "vldrb.u8 " MG_PLACES ", [sp, #48]\n"         \
    ".endif\n"                                    \
    MG_ROUND("q4", "q4, r9")                      \
    MG_ROUND("q5", "q5, r9")                      \
    "vqmovnb.s32 q4, q4\n"                        \
    "vqmovnt.s32 q4, q5\n"                        \
    "vqadd.s16 q4, q4, r3\n"                      \
    "vqmovnb.s16 q4, q4\n"                        \
    MG_WITHIN("q5")                               \
    "vstrb.16 q4, [r1, " MG_PLACES "]\n"          \
    "add r1, r1, #4 * " MG_TEXT(MG_CHANNELS) "\n"

/* Computes the rest of two rows: two pixels of each, or one, which is stored twice. */
#define MG_FOUR                                   \
    ".if rest == 1\n"                             \
    MG_COLUMN                                     \
    "vmov q4[2], q4[0], r0, r4\n"                 \
    "vmov q4[3], q4[1], r0, r4\n"                 \
    ".else\n"                                     \
    MG_SQUARE("q4", "r0", "r2", "r4", "r6")       \
    "vmov q4[2], q4[0], r0, r4\n"                 \
    "vmov q4[3], q4[1], r2, r6\n"                 \
    ".endif\n"                                    \
    "vadd.i32 q4, q4, r5\n"                       \
    MG_HIGH("q4", "r7")                           \
    MG_NUDGE("q4", "q5")                          \
    MG_ROUND("q4", "q4, r9")                      \
    "vqmovnb.s32 q4, q4\n"                        \
    "vqadd.s16 q4, q4, r3\n"                      \
    "vqmovnb.s16 q4, q4\n"                        \
    MG_WITHIN("q5")                               \
    "vldrb.u8 q5, [sp, #32]\n"                    \
    "vstrb.32 q4, [r1, q5]\n"

/* Computes a slice of the channels, one after the other.
 * Stack, offset from sp: 0: least output, 16: largest output, 32: offsets of the outputs in the rest of two rows, 48:
 * offsets of the outputs of a block, 64: number of groups of three blocks left, 68: end of the stream */
static __attribute__((naked)) void MG_VARIANT(compute)(const mg_depthwise_conv2d_s8__mve_squares_params *p MCUGEN_UNUSED, const int8_t *words MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, const int8_t *stream MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #72\n"
        ".set width, " MG_TEXT(MG_WIDTH) "\n"
        ".set channels, " MG_TEXT(MG_CHANNELS) "\n"
        ".set word, 4 * " MG_TEXT(MG_SLICE) "\n"
        ".set rest, width % 4\n"
        ".set blocks, width / 4\n"
        ".set column, word * " MG_TEXT(MG_STRIDE) "\n"
        "ldrsh r7, [r0, #10]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #12]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        "ldr r4, [r0, #4]\n"
        "vldrb.u8 q6, [r4]\n"
        "vldrb.u8 q0, [r4, #16]\n"
        "vstrb.8 q0, [sp, #32]\n"
        "vldrb.u8 q0, [r4, #32]\n"
        "vstrb.8 q0, [sp, #48]\n"
        "sub r1, r1, #2 * word\n"
        "vadd.i32 q6, q6, r1\n"
        ".if " MG_TEXT(MG_STRIDE) " == 2\n"
        "movw r4, #" MG_TEXT(MG_GROUP) "\n"
        "vadd.i32 q7, q6, r4\n"
        ".endif\n"
        "vldrb.u8 " MG_PLACES ", [sp, #48]\n"
        "mov r11, r3\n"
        "add r3, r3, #32 * " MG_TEXT(MG_SLICE) "\n"
        "str r3, [sp, #68]\n"
        "ldrsh r3, [r0, #8]\n"
        "mov r1, r2\n"
        "1:\n"
        "ldmia r11!, {r5, r7, r9}\n"
        ".if " MG_TEXT(MG_STRIDE) " == 1\n"
        "vldrb.u8 q1, [r11], #4\n"
        "vldrb.u8 q0, [r11], #16\n"
        "vshl.i32 q3, q1, #8\n"
        "vshl.i32 q2, q0, #8\n"
        ".else\n"
        "vldrb.u8 q0, [r11, #4]\n"
        "add r11, r11, #20\n"
        ".endif\n"
        ".if blocks < 4\n"
        ".rept blocks\n"
        MG_EIGHT
        ".endr\n"
        ".else\n"
        "mov r0, #blocks / 3\n"
        "2:\n"
        "str r0, [sp, #64]\n"
        ".rept 3\n"
        MG_EIGHT
        ".endr\n"
        "ldr r0, [sp, #64]\n"
        "subs r0, r0, #1\n"
        "bne 2b\n"
        ".rept blocks % 3\n"
        MG_EIGHT
        ".endr\n"
        ".endif\n"
        ".set done, 4 * blocks\n"
        ".if rest == 3\n"
        MG_BACK("column")
        "sub r1, r1, #channels\n"
        MG_EIGHT
        ".set done, width\n"
        ".elseif rest\n"
        MG_FOUR
        ".endif\n"
        ".if rest == 1\n"
        MG_BACK("4 * blocks * column + 2 * word - 4")
        ".elseif rest == 2\n"
        MG_BACK("width * column - 4")
        ".else\n"
        MG_BACK("done * column - 4")
        ".endif\n"
        ".if done * channels - 1 < 4096\n"
        "subw r1, r1, #done * channels - 1\n"
        ".else\n"
        "movw r0, #done * channels - 1\n"
        "sub r1, r1, r0\n"
        ".endif\n"
        "ldr r0, [sp, #68]\n"
        "cmp r11, r0\n"
        "bne.w 1b\n"
        "add sp, sp, #72\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_FOUR
#undef MG_EIGHT
#undef MG_WITHIN
#undef MG_INSIDE_0
#undef MG_INSIDE_1
#undef MG_PLACES
#undef MG_BACK
#undef MG_COLUMN
#undef MG_SQUARE
#undef MG_ONE

#else
static void MG_VARIANT(compute)(const mg_depthwise_conv2d_s8__mve_squares_params *p, const int8_t *words, int8_t *out, const int8_t *stream)
{
    for (uint32_t i = 0u; i < 2u * MG_WIDTH * MG_SLICE; i += 1u) {
        const uint32_t c = i % MG_SLICE, x = i / MG_SLICE % MG_WIDTH, y = i / MG_SLICE / MG_WIDTH;
        const int8_t *const constants = stream + c * 32u;
        const int8_t *const window = words + (MG_STRIDE == 1 ? y : y * MG_GROUP) + (x * MG_STRIDE * MG_SLICE + c) * 4u;
        int32_t rest[3], sum = 0;
        for (uint32_t t = 0u; t < 9u; t += 1u) {
            sum += constants[16u + t / 3u * 4u + t % 3u] * window[t / 3u * 4u * MG_SLICE + t % 3u];
        }
        (void)memcpy(rest, constants, 12u);
        sum = MG_SCALED(sum + rest[0], rest[1], rest[2]) + p->out_zero_point;
        out[(y * MG_WIDTH + x) * MG_CHANNELS + c] = (int8_t)mg_clamp(sum, p->out_min, p->out_max);
    }
}
#endif

/* If `out` is equal to `in`, an input row that the next two output rows also read is saved before it is overwritten;
 * with several slices, alternately in two buffers. An output row without a partner is computed in scratch. */
MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__mve_squares_params *p, const int8_t *in, int8_t *out, int8_t *scratch)
{
    const uint32_t row_bytes = MG_WIDTH * MG_CHANNELS;
    const uint32_t turn = MG_SLICE == MG_CHANNELS ? 0u : p->reused;
    int8_t *const outside = scratch + MG_STRIDE * MG_GROUP, *const first = outside + p->columns * MG_CHANNELS;
    int8_t *const aside = first + p->reused + turn;
    const int8_t *rows[6];
    mg_fill_bytes(scratch, p->in_zero_point, MG_STRIDE * MG_GROUP + p->columns * MG_CHANNELS);
    for (uint32_t y = 0u; y < p->out_h; y += 2u) {
        int8_t *const to = y + 1u < p->out_h ? out + y * row_bytes : aside;
        for (uint32_t j = 0u; j < 2u + 2u * MG_STRIDE; j += 1u) {
            const uint32_t at = y * MG_STRIDE + j - p->above;
            rows[j] = at < p->in_h ? in + at * p->in_row : outside;
        }
        if (in == out && p->reused != 0u && y != 0u) {
            rows[0] = y % 4u == 0u ? first : first + turn;
        }
        for (uint32_t from = 0u; from < MG_CHANNELS; from += MG_SLICE) {
            for (uint32_t j = 0u; j < MG_STRIDE; j += 1u) {
                MG_VARIANT(words)(&rows[2u * j], from, scratch + j * MG_GROUP + p->left * (4u * MG_SLICE), p->columns);
            }
            if (in == out && from == 0u) {
                mg_copy_bytes(y % 4u == 0u ? first + turn : first, rows[2], p->reused);
            }
            MG_VARIANT(compute)(p, scratch, to + from, p->stream + from * 32u);
        }
        if (to == aside) {
            mg_copy_bytes(out + y * row_bytes, aside, row_bytes);
        }
    }
}
#undef MG_GROUP
#include "mcugen/finish_end__mve.h"
