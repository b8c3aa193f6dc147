/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a block of 3 or 2 pixels times all pairs of output channels, on cores with SMLAD.
 *
 *   MG_QUADS      groups of four taps in a run
 *   MG_PAIR       1: two more taps end each run
 *   MG_SEGMENTS   n > 0: the taps are n runs, each at a pointer of its own, with pixels MG_STEP bytes apart
 *                 0: the taps are gathered: each group of four of all pixels of the block, then the next group
 *   MG_LOOP       0: all runs are unrolled (where taps are gathered: there is just one)
 *   MG_REST       1: there are blocks of 2 pixels, too
 *   MG_LINEAR     0: outputs are clamped at their zero point, or above; 1: any
 *   MG_COMPOSITE  0: int16 weights, doubled; 1: int8 weights, two channels to a halfword, a + 256 b
 *   MG_SINGLE     1: single loads only, which pair with other instructions on Cortex-M7
 *
 * The stream holds for each pair of channels (a, b), in the order of reading:
 *   bias a, bias b, doubled; composite: bias a, bias a + 256 bias b
 *   each group of four taps: a01 b01 a23 b23; composite: ab01 ab23 (two taps to a word, the first in the lower half)
 *   the two last taps of a run: a01 b01; composite: ab01
 *   mult a, mult b, addend a, addend b, shift a, shift b, as in dsp_requantize.h
 * Taps are stored values, without regard to their zero point: that is in the bias.
 */
#include "mcugen/dsp_block.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

#if MG_COMPOSITE
#define MG_WEIGHTS "ldrd r1, r3, [lr], #8\nsxtb16 r0, r1\nsxtb16 r2, r3\n"
#else
#define MG_WEIGHTS "ldmia lr!, {r0-r3}\n"
#endif

#if MG_COMPOSITE
#define MG_WEIGHTS_TWO "ldr r1, [lr], #4\nsxtb16 r0, r1\n"
#define MG_SUMS(p, q) MG_DSP_SPLIT(p, q)
#else
#define MG_WEIGHTS_TWO "ldrd r0, r1, [lr], #8\n"
#define MG_SUMS(p, q)
#endif

#if MG_LINEAR
#define MG_FINISH(p, q) MG_SUMS(p, q) MG_DSP_FINISH_LINEAR(p, q) MG_DSP_BYTES(p, q)
#else
#define MG_FINISH(p, q) MG_SUMS(p, q) MG_DSP_FINISH_CLAMPED(p, q) MG_DSP_BYTES(p, q)
#endif

#define MG_SIZES(pixels)                                                                                               \
    ".set mg_segments, " MG_TEXT(MG_SEGMENTS) "\n.set mg_quads, " MG_TEXT(MG_QUADS) "\n"                               \
    ".set mg_pair, " MG_TEXT(MG_PAIR) "\n.set mg_loop, " MG_TEXT(MG_LOOP) "\n"                                         \
    ".set mg_j, (4*mg_segments+7)/8*8\n.set mg_frame, mg_j+20\n"                                                       \
    ".if mg_segments\n.set mg_p, " MG_TEXT(MG_STEP) "\n.set mg_q, 8\n"                                                 \
    ".else\n.set mg_p, 8\n.set mg_q, 8*" pixels "\n.endif\n"

#define MG_LOW(offset) "ldr r10, [r12, #mg_x+" offset "]\n"
#define MG_HIGH(offset) "ldr r11, [r12, #mg_x+4+" offset "]\n"
#define MG_SMLAD(sum, x, w) "smlad " sum ", " x ", " w ", " sum "\n"
#if MG_SINGLE
/* A load beside each product, where there is one to do, and well before it is used. */
#define MG_PIXEL(p, q, low, high)                                                           \
    MG_SMLAD(p, "r10", "r0") MG_SMLAD(q, "r10", "r1") low MG_SMLAD(p, "r11", "r2") MG_SMLAD(q, "r11", "r3") high
#if MG_COMPOSITE
#define MG_FIRST                                                                                    \
    "ldr r1, [lr], #8\n" MG_LOW("0") "ldr r3, [lr, #-4]\n" MG_HIGH("0")                             \
    "sxtb16 r0, r1\n" MG_SMLAD("r5", "r10", "r1") "sxtb16 r2, r3\n" MG_SMLAD("r4", "r10", "r0")     \
    MG_LOW("mg_p") MG_SMLAD("r5", "r11", "r3") MG_SMLAD("r4", "r11", "r2") MG_HIGH("mg_p")
#else
#define MG_FIRST                                                                                    \
    "ldr r0, [lr], #16\n" MG_LOW("0") "ldr r1, [lr, #-12]\n" MG_HIGH("0")                           \
    MG_SMLAD("r4", "r10", "r0") "ldr r2, [lr, #-8]\n" MG_SMLAD("r5", "r10", "r1")                   \
    "ldr r3, [lr, #-4]\n" MG_LOW("mg_p") MG_SMLAD("r4", "r11", "r2") MG_SMLAD("r5", "r11", "r3")    \
    MG_HIGH("mg_p")
#endif
#define MG_QUAD2 MG_FIRST MG_PIXEL("r6", "r7", "", "")
#define MG_QUAD3                                                                                    \
    MG_FIRST MG_PIXEL("r6", "r7", MG_LOW("2*mg_p"), MG_HIGH("2*mg_p")) MG_PIXEL("r8", "r9", "", "")
#else
#define MG_PIXEL(offset, p, q)                                                                      \
    "ldrd r10, r11, [r12, #mg_x+" offset "]\n" MG_DSP_MULTIPLY(p, q) MG_DSP_MULTIPLY_HIGH(p, q)
#define MG_QUAD2 MG_WEIGHTS MG_PIXEL("0", "r4", "r5") MG_PIXEL("mg_p", "r6", "r7")
#define MG_QUAD3 MG_QUAD2 MG_PIXEL("2*mg_p", "r8", "r9")
#endif
#define MG_PIXEL_TWO(offset, p, q) MG_LOW(offset) MG_DSP_MULTIPLY(p, q)
#define MG_TWO2 MG_WEIGHTS_TWO MG_PIXEL_TWO("0", "r4", "r5") MG_PIXEL_TWO("mg_p", "r6", "r7")
#define MG_TWO3 MG_TWO2 MG_PIXEL_TWO("2*mg_p", "r8", "r9")

__attribute__((naked, noinline)) static void MG_VARIANT(block3)(const mg_dsp_job *job MCUGEN_UNUSED)
{
    __asm__(MG_SIZES("3") MG_DSP_BEGIN
            "ldrd r4, r5, [lr]\n"
            "ldrd r6, r7, [lr]\n"
            "ldrd r8, r9, [lr], #8\n");
    __asm__(MG_DSP_GATHERED(MG_QUAD3));
    __asm__(MG_DSP_LOOPED(MG_QUAD3, MG_TWO3));
    __asm__(MG_DSP_UNROLLED(MG_QUAD3, MG_TWO3));
    __asm__("ldmia lr!, {r0-r3, r10, r11}\n"
            MG_FINISH("r4", "r5") MG_FINISH("r6", "r7") MG_FINISH("r8", "r9")
            MG_DSP_OUT
            "add r11, r12, r10\n"
            "strh r8, [r11, r10]\n"
            "strh r6, [r11]\n"
            "strh r4, [r12], #2\n"
            MG_DSP_END);
}

#if MG_REST
__attribute__((naked, noinline)) static void MG_VARIANT(block2)(const mg_dsp_job *job MCUGEN_UNUSED)
{
    __asm__(MG_SIZES("2") MG_DSP_BEGIN
            "ldrd r4, r5, [lr]\n"
            "ldrd r6, r7, [lr], #8\n");
    __asm__(MG_DSP_GATHERED(MG_QUAD2));
    __asm__(MG_DSP_LOOPED(MG_QUAD2, MG_TWO2));
    __asm__(MG_DSP_UNROLLED(MG_QUAD2, MG_TWO2));
    __asm__("ldmia lr!, {r0-r3, r10, r11}\n"
            MG_FINISH("r4", "r5") MG_FINISH("r6", "r7")
            MG_DSP_OUT
            "strh r6, [r12, r10]\n"
            "strh r4, [r12], #2\n"
            MG_DSP_END);
}
#endif

#undef MG_WEIGHTS
#undef MG_WEIGHTS_TWO
#undef MG_SUMS
#undef MG_FINISH
#undef MG_SIZES
#undef MG_LOW
#undef MG_HIGH
#undef MG_SMLAD
#undef MG_FIRST
#undef MG_PIXEL
#undef MG_PIXEL_TWO
#undef MG_QUAD2
#undef MG_QUAD3
#undef MG_TWO2
#undef MG_TWO3

#else

/* The data of group g of a pixel: two words of it, of `pixels` in the block. */
static inline const mg_s32 *MG_VARIANT(data)(const mg_dsp_job *job, uint32_t g, uint32_t pixel, uint32_t pixels)
{
#if MG_SEGMENTS
    (void)pixels;
    const uint32_t in_run = MG_QUADS + MG_PAIR;
    const mg_s16 *const run = ((const mg_s16 *const *)job->x)[g / in_run] + job->x_end / 2u;
    return (const void *)(run + g % in_run * 4u + pixel * (MG_STEP / 2u));
#else
    return (const mg_s32 *)job->x + (g * pixels + pixel) * 2u;
#endif
}

/* Adds two taps to both sums of a pixel. Returns the words of the stream that were read. */
static inline uint32_t MG_VARIANT(multiply)(int32_t *sum, const int32_t *w, int32_t x)
{
    const int32_t low = mg_dsp_low(x), high = mg_dsp_high(x);
#if MG_COMPOSITE
    const int32_t a0 = (int8_t)(*w & 0xFF), a1 = (int8_t)(*w >> 16 & 0xFF);
    sum[0] += low * a0 + high * a1;
    sum[1] = (int32_t)((uint32_t)sum[1] + (uint32_t)(low * mg_dsp_low(*w)) + (uint32_t)(high * mg_dsp_high(*w)));
    return 1u;
#else
    for (uint32_t c = 0u; c < 2u; c += 1u) {
        const uint32_t products = (uint32_t)(low * mg_dsp_low(w[c])) + (uint32_t)(high * mg_dsp_high(w[c]));
        sum[c] = (int32_t)((uint32_t)sum[c] + products);
    }
    return 2u;
#endif
}

/* A pair of channels of one pixel. Returns the stream of the next pair. */
static inline const int32_t *MG_VARIANT(pixel)(const mg_dsp_job *job, const int32_t *w, int8_t *out, uint32_t pixel,
                                               uint32_t pixels)
{
#if MG_SEGMENTS
    const uint32_t groups = MG_SEGMENTS * (MG_QUADS + MG_PAIR);
#else
    const uint32_t groups = (uint32_t)((job->x_end - (uintptr_t)job->x) / (8u * pixels));
#endif
    int32_t sum[2] = {w[0], w[1]};
    w += 2;
    for (uint32_t g = 0u; g < groups; g += 1u) {
        const mg_s32 *const x = MG_VARIANT(data)(job, g, pixel, pixels);
        const uint32_t words = MG_PAIR != 0 && g % (MG_QUADS + MG_PAIR) == MG_QUADS ? 1u : 2u;
        for (uint32_t i = 0u; i < words; i += 1u) {
            w += MG_VARIANT(multiply)(sum, w, x[i]);
        }
    }
#if MG_COMPOSITE
    sum[1] = (int32_t)((uint32_t)sum[1] - (uint32_t)sum[0]) >> 7;
    sum[0] *= 2;
#endif
    for (uint32_t c = 0u; c < 2u; c += 1u) {
#if MG_LINEAR
        const int32_t y = mg_dsp_scale(sum[c], w[c], w[c + 2u], w[c + 4u]);
#else
        const int32_t y = mg_dsp_scale_clamped(sum[c], w[c], w[c + 2u], w[c + 4u]);
#endif
        out[c] = (int8_t)mg_clamp(y, -128, 127);
    }
    return w + 6;
}

static void MG_VARIANT(block)(const mg_dsp_job *job, uint32_t pixels)
{
    const int32_t length = (int32_t)(MG_VARIANT(pixel)(job, job->stream, job->out, 0u, pixels) - job->stream);
    const int32_t pairs = (int32_t)(job->end - job->stream) / length;
    for (uint32_t pixel = 0u; pixel < pixels; pixel += 1u) {
        for (int32_t k = 0; k < pairs; k += 1) {
            int8_t *const out = job->out + pixel * job->out_c + 2 * k;
            (void)MG_VARIANT(pixel)(job, job->stream + k * length, out, pixel, pixels);
        }
    }
}

static inline void MG_VARIANT(block3)(const mg_dsp_job *job)
{
    MG_VARIANT(block)(job, 3u);
}

#if MG_REST
static inline void MG_VARIANT(block2)(const mg_dsp_job *job)
{
    MG_VARIANT(block)(job, 2u);
}
#endif

#endif

static inline void MG_VARIANT(pixels)(const mg_dsp_job *job, uint32_t pixels)
{
#if MG_REST
    if (pixels == 2u) {
        MG_VARIANT(block2)(job);
        return;
    }
#endif
    (void)pixels;
    MG_VARIANT(block3)(job);
}

/* All of out_c channels of 3 or 2 pixels, of which an odd last one has a pair of its own, up to `last` in the stream. */
MG_DSP_ONCE static void MG_VARIANT(channels)(const mg_dsp_job *job, const int32_t *last, uint32_t out_c, uint32_t pixels)
{
    int8_t pair[6];
    const mg_dsp_job odd = {job->x, job->x_end, pair, 2u, last, job->end};
    if (out_c > 1u) {
        MG_VARIANT(pixels)(job, pixels);
    }
    if ((out_c & 1u) != 0u) {
        MG_VARIANT(pixels)(&odd, pixels);
        for (uint32_t i = 0u; i < pixels; i += 1u) {
            job->out[i * job->out_c + out_c - 1u] = pair[2u * i];
        }
    }
}
