/* SPDX-License-Identifier: Apache-2.0
 *
 * An output row of the kernels of depthwise_conv2d_s8__mve_taps.h. MG_NEAR: 1: taps are read directly for windows
 * inside the image; else 0.
 */
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/finish_begin__mve.h"

#if MG_HAS_MVE
/* If MG_NARROW, P0 masks the lanes behind the channels: they are neither read nor stored. */
#define MG_BYTES(q, at)                               \
    ".if " MG_TEXT(MG_NARROW) "\n"                    \
    "vpst\n"                                          \
    "vldrbt.u8 " q ", " at "\n"                       \
    ".else\n"                                         \
    "vldrb.u8 " q ", " at "\n"                        \
    ".endif\n"

/* Adds the 16-bit sums in half of the lanes of `group` (half b: even lanes, t: odd lanes) to the 32-bit sums in `sum`.
 */
#define MG_WIDEN(half, sum, group)                    \
    "vmovl" half ".s16 q6, " group "\n"               \
    "vadd.i32 " sum ", " sum ", q6\n"

#define MG_WIDEN_ALL       \
    MG_WIDEN("b", "q0", "q4") \
    MG_WIDEN("t", "q1", "q4") \
    MG_WIDEN("b", "q2", "q5") \
    MG_WIDEN("t", "q3", "q5")

#define MG_FOUR(sum, with) "vldrw.u32 " with ", [r5], #16\n" MG_HIGH(sum, with) MG_NUDGE(sum, with)
#define MG_FOUR_ALL     \
    MG_FOUR("q0", "q4") \
    MG_FOUR("q1", "q5") \
    MG_FOUR("q2", "q6") \
    MG_FOUR("q3", "q7")

/* Converts the high products of 16 sums to 16 bits: the even lanes in q0, the odd lanes in q2. next: bytes from the
 * last vector of shifts to the next vector that is read. */
#if !MG_NEAR
#define MG_SHIFTED(sum, with, next) "vldrw.u32 " with ", [r5], #" next "\n" MG_ROUND(sum, sum ", " sum ", " with)
#define MG_NUMBERS(next)         \
    MG_SHIFTED("q0", "q4", "16") \
    MG_SHIFTED("q1", "q5", "16") \
    MG_SHIFTED("q2", "q6", "16") \
    MG_SHIFTED("q3", "q7", next) \
    "vqmovnb.s32 q0, q0\n"       \
    "vqmovnb.s32 q2, q2\n"       \
    "vqmovnt.s32 q0, q1\n"       \
    "vqmovnt.s32 q2, q3\n"
#elif MG_FINISH == 5
#define MG_NUMBERS(next)         \
    "add r5, r5, #16 + " next "\n" \
    MG_ROUND("q0", "")           \
    MG_ROUND("q1", "")           \
    MG_ROUND("q2", "")           \
    MG_ROUND("q3", "")           \
    MG_DOWN_ALL
#else
#define MG_NUMBERS(next)         \
    MG_DOWN_ALL                  \
    "vldrh.u16 q4, [r5], #16\n"  \
    "vrshl.s16 q0, q0, q4\n"     \
    "vldrh.u16 q5, [r5], #" next "\n" \
    "vrshl.s16 q2, q2, q5\n"
#endif
#define MG_DOWN_ALL              \
    MG_DOWN_TO("b", "q0", "q0")  \
    MG_DOWN_TO("b", "q2", "q2")  \
    MG_DOWN_TO("t", "q0", "q1")  \
    MG_DOWN_TO("t", "q2", "q3")

/* Converts 16 sums to outputs in q0. r5: moves from the multipliers to the next block of the stream. next: bytes that
 * are added to r5 at the end. */
#define MG_SIXTEEN(next, least, most) \
    MG_FOUR_ALL                       \
    MG_NUMBERS(next)                  \
    MG_NARROWED("r7")                 \
    ".if " MG_TEXT(MG_CLAMP) "\n"     \
    "vdup.8 q4, " least "\n"          \
    "vdup.8 q5, " most "\n"           \
    ".endif\n"                        \
    MG_BETWEEN("q4", "q5")

#if MG_NEAR
#include "mcugen/depthwise_conv2d_s8_near__mve.h"
#endif

/* A run of pixels that have the same taps inside the image.
 * table    address of each tap in channel 0 of the first pixel, in groups of four (`quads`)
 * outside  address of the zero points for taps outside the image, which do not move; 0 if there are none
 * step     bytes from a pixel's taps to the next pixel's
 * count    pixels left
 * lanes    channels of a pixel, or of several pixels that are computed together
 * advance  bytes from the first channel of a pixel's last block to the first channel of the next pixel, which uses the
 *          table again if no tap is outside the image */
typedef struct {
    uint32_t *table;
    uint32_t outside, step, quads, count, lanes;
    const int8_t *stream;
    uint32_t advance;
} MG_VARIANT(pixels);

/* Computes a run of pixels.
 * r0: 1 if the number of taps is odd, r3: first channel of the block, r8: first channel of the last block,
 * r9, r10: least and largest output, r11: pairs of taps */
static __attribute__((naked)) void MG_VARIANT(compute)(const mg_depthwise_conv2d_s8__mve_taps_params *p MCUGEN_UNUSED, MG_VARIANT(pixels) *run MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r3-r11, lr}\n"
        "vpush {d8-d15}\n"
        "ldr r8, [r0, #8]\n"
        "ldrsh r7, [r0, #12]\n"
        "ldrsh r9, [r0, #14]\n"
        "ldrsh r10, [r0, #16]\n"
        "ldrh r4, [r0, #18]\n"
        "ldrh r6, [r0, #20]\n"
        "mul r6, r6, r4\n"
        "and r0, r6, #1\n"
        "lsr r11, r6, #1\n"
        "sub r8, r8, #16\n"
        "1:\n"
        "ldrd r4, r5, [r1, #20]\n"
        "mov r3, #0\n"
        ".if " MG_TEXT(MG_NARROW) "\n"
        "vctp.8 r4\n"
        ".endif\n"
        "2:\n"
        "vldrw.u32 q0, [r5], #16\n"
        "ldr r12, [r1]\n"
        "vldrw.u32 q1, [r5], #16\n"
        "vldrw.u32 q2, [r5], #16\n"
        "vldrw.u32 q3, [r5], #16\n"
        "wls lr, r11, 4f\n"
        "3:\n"
        "ldrd r4, r6, [r12], #8\n"
        "add r4, r4, r3\n"
        MG_BYTES("q6", "[r4]")
        "vldrb.u8 q7, [r5], #16\n"
        "add r6, r6, r3\n"
        "vmullb.s8 q4, q6, q7\n"
        "vmullt.s8 q5, q6, q7\n"
        MG_BYTES("q6", "[r6]")
        "vldrb.u8 q7, [r5], #16\n"
        "vmullb.s8 q6, q6, q7\n"
        "vadd.i16 q4, q4, q6\n"
        MG_BYTES("q6", "[r6]")
        "vmullt.s8 q6, q6, q7\n"
        "vadd.i16 q5, q5, q6\n"
        MG_WIDEN_ALL
        "le lr, 3b\n"
        "4:\n"
        "cbz r0, 5f\n"
        "ldr r4, [r12]\n"
        "add r4, r4, r3\n"
        MG_BYTES("q6", "[r4]")
        "vldrb.u8 q7, [r5], #16\n"
        "vmullb.s8 q4, q6, q7\n"
        "vmullt.s8 q5, q6, q7\n"
        MG_WIDEN_ALL
        "5:\n"
        MG_SIXTEEN("16", "r9", "r10")
        ".if " MG_TEXT(MG_NARROW) "\n"
        "vpst\n"
        "vstrbt.8 q0, [r2]\n"
        "ldr r4, [r1, #20]\n"
        "add r2, r2, r4\n"
        ".else\n"
        "vstrb.8 q0, [r2], #16\n"
        "add r3, r3, #16\n"
        "cmp r3, r8\n"
        "bls 2b\n"
        "sub r4, r3, r8\n"
        "mov r3, r8\n"
        "cmp r4, #16\n"
        "itt ne\n"
        "subne r2, r2, r4\n"
        "bne 2b\n"
        ".endif\n"
        "ldr r6, [r1, #16]\n"
        "subs r6, r6, #1\n"
        "beq 7f\n"
        "str r6, [r1, #16]\n"
        "ldrd r5, r6, [r1, #4]\n"
        "cbnz r5, 6f\n"
        "add r8, r8, r6\n"
        "ldrd r5, r6, [r1, #24]\n"
        "add r3, r3, r6\n"
        "b 2b\n"
        "6:\n"
        "ldr r12, [r1]\n"
        "mov r4, r5\n"
        "ldr r3, [r1, #12]\n"
        "dls lr, r3\n"
        "8:\n"
        "vldrw.u32 q0, [r12]\n"
        "vpt.i32 ne, q0, r4\n"
        "vaddt.i32 q0, q0, r6\n"
        "vstrw.u32 q0, [r12], #16\n"
        "le lr, 8b\n"
        "b 1b\n"
        "7:\n"
        "vpop {d8-d15}\n"
        "pop {r3-r11, pc}\n");
}
#undef MG_BYTES
#undef MG_WIDEN_ALL
#undef MG_WIDEN
#undef MG_FOUR
#undef MG_FOUR_ALL
#undef MG_SHIFTED
#undef MG_NUMBERS
#undef MG_DOWN_ALL
#undef MG_SIXTEEN

/* Geometry for filling tables.
 * step     pixels from a tap to the next; bytes: the same distance in bytes
 * width    pixels of a row
 * next     bytes from a row of the table to the next
 * outside  address for taps outside the image
 * height   rows of the window */
typedef struct {
    uint32_t step, bytes, width, next, outside, height;
} MG_VARIANT(taps);

/* Fills the table for the window that begins at a column. If a row has at most four taps, four words are stored for it,
 * some of which the next row overwrites. */
static void MG_VARIANT(place)(const MG_VARIANT(taps) *taps, const int8_t *const *rows, uint32_t column, uint32_t first, uint32_t *table)
{
    if (taps->next <= 16u) {
        __asm__ volatile("mov r8, #0\n"
                         "vidup.u32 q2, r8, #1\n"
                         "ldrd r8, r9, [%2]\n"
                         "vmul.i32 q0, q2, r8\n"
                         "vadd.i32 q0, q0, %3\n"
                         "vmul.i32 q1, q2, r9\n"
                         "vadd.i32 q1, q1, %4\n"
                         "ldrd r9, r10, [%2, #8]\n"
                         "ldrd r12, r8, [%2, #16]\n"
                         "dls lr, r8\n"
                         "1:\n"
                         "ldr r8, [%0], #4\n"
                         "cmp r8, #0\n"
                         "vadd.i32 q2, q1, r8\n"
                         "it ne\n"
                         "movne r8, r9\n"
                         "vpt.u32 cs, q0, r8\n"
                         "vdupt.32 q2, r12\n"
                         "vstrw.u32 q2, [%1]\n"
                         "add %1, %1, r10\n"
                         "le lr, 1b\n"
                         : "+r"(rows), "+r"(table)
                         : "r"(taps), "r"(column), "r"(first)
                         : "q0", "q1", "q2", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
        return;
    }
    for (uint32_t k = 0u; k < taps->height; k += 1u) {
        const uint32_t width = rows[k] != NULL ? taps->width : 0u, row = (uint32_t)rows[k] + first;
        for (uint32_t j = 0u; j < taps->next / 4u; j += 1u) {
            *table = column + j * taps->step < width ? row + j * taps->bytes : taps->outside;
            table += 1;
        }
    }
}

/* Sets the number of lanes of a run's pixels and the bytes from a pixel to the next. */
static void MG_VARIANT(move)(MG_VARIANT(pixels) *run, uint32_t lanes, uint32_t stride)
{
    run->lanes = lanes;
    run->step = stride * lanes;
#if MG_NARROW
    run->advance = run->step;
#else
    run->advance = run->step + 16u - lanes;
#endif
}

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__mve_taps_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    const uint32_t channels = p->channels, stride = p->stride, width = p->in_w, extent = (p->kernel_w - 1u) * p->dilation;
    MG_VARIANT(pixels) run;
    const MG_VARIANT(taps) taps = {p->dilation, p->dilation * channels, width, 4u * p->kernel_w, (uint32_t)p->outside, p->kernel_h};
    uint32_t column = 0u - p->left, left = p->out_w;
    (void)y;
    run.table = (uint32_t *)(void *)scratch;
    run.stream = p->stream;
    run.outside = rows[0] == NULL || rows[p->kernel_h - 1u] == NULL ? (uint32_t)p->outside : 0u;
    run.quads = ((uint32_t)p->kernel_h * p->kernel_w + 3u) / 4u;
    MG_VARIANT(move)(&run, channels, stride);
    while (left > 0u) {
        uint32_t n = 1u, count = 1u;
        if (column < width && column + extent < width) {
            count = (width - extent - column - 1u) / stride + 1u;
            count = count < left ? count : left;
#if MG_NARROW
            n = p->together < count ? p->together : count;
            count /= n;
#endif
        }
#if MG_NEAR
        if (run.outside == 0u && column < width && column + extent < width && n * channels >= 16u) {
            MG_VARIANT(near)(p, rows, out, column * channels, count);
        } else
#endif
        {
            MG_VARIANT(place)(&taps, rows, column, column * channels, run.table);
            run.count = count;
#if MG_NARROW
            MG_VARIANT(move)(&run, n * channels, stride);
#endif
            MG_VARIANT(compute)(p, &run, out);
        }
        left -= n * count;
        column += n * count * stride;
        out += n * count * channels;
    }
}
#else
/* Sum of one channel, a lane of a block. */
static int32_t MG_VARIANT(sum)(const mg_depthwise_conv2d_s8__mve_taps_params *p, const int8_t *const *rows, uint32_t column,
                               uint32_t c, const int8_t *lane)
{
    int32_t sum = 0;
    for (uint32_t k = 0u; k < (uint32_t)p->kernel_h * p->kernel_w; k += 1u) {
        const uint32_t at = column + k % p->kernel_w * p->dilation;
        const int8_t *const row = rows[k / p->kernel_w];
        sum += lane[k * 16u] * (row != NULL && at < p->in_w ? row[at * p->channels + c] : p->outside[c]);
    }
    return sum;
}

/* Computes 16 channels of a pixel, or all channels if there are fewer. Returns the next block. */
static const int8_t *MG_VARIANT(block)(const mg_depthwise_conv2d_s8__mve_taps_params *p, const int8_t *const *rows, uint32_t column,
                                       uint32_t from, const int8_t *block, int8_t *out)
{
    static const uint8_t places[4] = {0u, 2u, 1u, 3u};
    const int8_t *const rest = block + 64 + (uint32_t)p->kernel_h * p->kernel_w * 16u;
    for (uint32_t lane = 0u; lane < 16u && lane < p->channels; lane += 1u) {
        const uint32_t at = (places[lane % 4u] * 4u + lane / 4u) * 4u;
        int32_t sum, mult;
        (void)memcpy(&sum, block + at, 4u);
        sum += MG_VARIANT(sum)(p, rows, column, from + lane, block + 64 + lane);
        (void)memcpy(&mult, rest + at, 4u);
#if MG_NEAR
        int16_t shift;
        (void)memcpy(&shift, rest + 64u + lane % 2u * 16u + lane / 2u * 2u, 2u);
        shift = (int16_t)(shift - MG_DOWN);
#else
        int32_t shift;
        (void)memcpy(&shift, rest + 64 + at, 4u);
#endif
        out[from + lane] = (int8_t)mg_clamp(MG_SCALED(sum, mult, shift) + p->out_zero_point, p->out_min, p->out_max);
    }
    return rest + 128 - 32 * MG_NEAR;
}

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__mve_taps_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    (void)y;
    (void)scratch;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const int8_t *stream = p->stream;
        for (uint32_t c = 0u; c < p->channels; c += 16u) {
            const uint32_t from = p->channels < 16u || c + 16u <= p->channels ? c : p->channels - 16u;
            stream = MG_VARIANT(block)(p, rows, x * p->stride - p->left, from, stream, out + x * p->channels);
        }
    }
}
#endif
#include "mcugen/finish_end__mve.h"
