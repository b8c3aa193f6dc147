/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/hybrid_conv2d__dsp.h"
#include "mcugen/curves.h"
#include "mcugen/dsp_pairs.h"

#define MG_PARAMS mg_hybrid_conv2d__dsp_params
#define MG_COPY (void)memcpy
#define MG_FILL (void)memset
#include "mcugen/hybrid_taps.h"

#define MG_PIXELS 3u

/* Three pixels times all output channels.
 * x, x_end  [words][3]: taps of the three pixels, two to a word, less the zero point
 * end       end of the stream;   step: bytes from a pixel to the next;   scale: of the image */
typedef struct {
    const uint32_t *x, *x_end, *end;
    mg_f32 *out;
    uintptr_t step, twice, relu;
    const uint32_t *stream;
    float scale;
} block;

#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && defined(__thumb2__) && defined(__GNUC__)

/* r0: x, r1-r3: taps, r4, r6, r8: sums of a, r5, r7, r9: of a + 256 b, r10, r11: weights, r12: x_end, lr: stream
 * Stack: x, x_end, end, out, step, twice, relu */
#define MG_WORD(w)                                                                        \
    "ldmia r0!, {r1-r3}\n"                                                                \
    "smlad r5, r1, " w ", r5\n smlad r7, r2, " w ", r7\n smlad r9, r3, " w ", r9\n"        \
    "sxtb16 " w ", " w "\n"                                                               \
    "smlad r4, r1, " w ", r4\n smlad r6, r2, " w ", r6\n smlad r8, r3, " w ", r8\n"
#define MG_WORDS "ldrd r10, r11, [lr], #8\n" MG_WORD("r10") MG_WORD("r11")
#define MG_SPLIT(a, b) "sub " b ", " b ", " a "\n asr " b ", " b ", #8\n"
#define MG_EACH(op, even, odd)                                                             \
    op " s0, s0, " even "\n" op " s1, s1, " odd "\n" op " s2, s2, " even "\n"              \
    op " s3, s3, " odd "\n" op " s4, s4, " even "\n" op " s5, s5, " odd "\n"

static void __attribute__((naked, noinline)) channels(MCUGEN_UNUSED const block *job)
{
    __asm__(".syntax unified\n"
            "push {r4-r11, lr}\n"
            "sub sp, sp, #28\n"
            "ldmia r0!, {r4-r10}\n"
            "stmia sp, {r4-r10}\n"
            "ldr lr, [r0]\n"
            "vldr s14, [r0, #4]\n"
            "1: ldrd r0, r12, [sp]\n"
            "movs r4, #0\n movs r5, #0\n movs r6, #0\n movs r7, #0\n mov r8, #0\n mov r9, #0\n"
            "2:\n" MG_WORDS MG_WORDS
            "cmp r0, r12\n"
            "bne 2b\n" MG_SPLIT("r4", "r5") MG_SPLIT("r6", "r7") MG_SPLIT("r8", "r9"));
    __asm__(".syntax unified\n"
            "vldmia lr!, {s8-s11}\n"
            "vmov s0, s1, r4, r5\n vmov s2, s3, r6, r7\n vmov s4, s5, r8, r9\n"
            "vcvt.f32.s32 s0, s0\n vcvt.f32.s32 s1, s1\n vcvt.f32.s32 s2, s2\n"
            "vcvt.f32.s32 s3, s3\n vcvt.f32.s32 s4, s4\n vcvt.f32.s32 s5, s5\n"
            "ldrd r10, r11, [sp, #20]\n"
            "cmp r10, #0\n"
            "bne 3f\n"
            "vmul.f32 s8, s8, s14\n vmul.f32 s9, s9, s14\n"
            "3:\n" MG_EACH("vmul.f32", "s8", "s9")
            "beq 4f\n" MG_EACH("vmul.f32", "s14", "s14")
            "4:\n" MG_EACH("vadd.f32", "s10", "s11")
            "vmov r4, r5, s0, s1\n vmov r6, r7, s2, s3\n vmov r8, r9, s4, s5\n");
    __asm__(".syntax unified\n"
            "cmp r11, #0\n"
            "beq 5f\n"
            "bic r4, r4, r4, asr #31\n bic r5, r5, r5, asr #31\n bic r6, r6, r6, asr #31\n"
            "bic r7, r7, r7, asr #31\n bic r8, r8, r8, asr #31\n bic r9, r9, r9, asr #31\n"
            "5: ldrd r10, r11, [sp, #12]\n"
            "add r12, r10, r11\n"
            "strd r6, r7, [r12]\n"
            "add r12, r12, r11\n"
            "strd r8, r9, [r12]\n"
            "strd r4, r5, [r10], #8\n"
            "str r10, [sp, #12]\n"
            "ldr r0, [sp, #8]\n"
            "cmp lr, r0\n"
            "bne 1b\n"
            "add sp, sp, #28\n"
            "pop {r4-r11, pc}\n");
}

/* The differences a - b of both int16 of the words. */
static inline uint32_t less(uint32_t a, uint32_t b)
{
    uint32_t found;
    __asm__("ssub16 %0, %1, %2" : "=r"(found) : "r"(a), "r"(b));
    return found;
}

#else

static void finish(const block *job, const uint32_t *scales, int32_t sum, uint32_t pixel, uint32_t channel)
{
    const float acc = (float)sum, of_weights = mg_of_bits(scales[channel]);
    const float factor = job->twice != 0u ? acc * of_weights : of_weights * job->scale;
    const float scaled = job->twice != 0u ? factor * job->scale : acc * factor;
    const float y = scaled + mg_of_bits(scales[2u + channel]);
    job->out[pixel * (job->step / sizeof y) + channel] = job->relu != 0u && y < 0.0f ? 0.0f : y;
}

static void channels(const block *job)
{
    const uint32_t words = (uint32_t)(job->x_end - job->x) / MG_PIXELS, pairs = (uint32_t)(job->end - job->stream) / (words + 4u);
    block at = *job;
    for (uint32_t k = 0u; k < pairs; k += 1u) {
        for (uint32_t i = 0u; i < MG_PIXELS; i += 1u) {
            int32_t a = 0, both = 0;
            for (uint32_t t = 0u; t < words; t += 1u) {
                const uint32_t x = at.x[t * MG_PIXELS + i], w = at.stream[t];
                both = mg_dsp_add_products(x, w, both);
                a = mg_dsp_add_products(x, mg_dsp_even(w), a);
            }
            finish(&at, at.stream + words, a, i, 0u);
            finish(&at, at.stream + words, (int32_t)((uint32_t)both - (uint32_t)a) >> 8, i, 1u);
        }
        at.stream += words + 4u;
        at.out += 2;
    }
}

static inline uint32_t less(uint32_t a, uint32_t b)
{
    return ((a - b) & 0xFFFFu) | ((a >> 16) - (b >> 16)) << 16;
}

#endif

/* Widens the taps of pixel k of three. */
static void widen(const int8_t *taps, uint32_t words, int8_t zero, uint32_t k, uint32_t *x)
{
    const uint32_t zeros = (uint32_t)(uint16_t)zero * 0x10001u;
    uint32_t *to = x + k;
    for (uint32_t t = 0u; t < words; t += 2u) {
        const uint32_t word = mg_dsp_word(taps + 2u * t);
        to[0] = less(mg_dsp_even(word), zeros);
        to[MG_PIXELS] = less(mg_dsp_odd(word), zeros);
        to += 2u * MG_PIXELS;
    }
}

static void convolve(const mg_hybrid_conv2d__dsp_params *p, const int8_t *in, float scale, int8_t zero, mg_f32 *out,
                     uint32_t *x)
{
    const uint32_t words = p->words, out_c = p->out_c, pixels = (uint32_t)p->out_h * p->out_w;
    const uint32_t whole = pixels < MG_PIXELS ? 0u : MG_PIXELS, in_place = mg_hybrid_in_place(p, 2u * words);
    int8_t *const patch = (int8_t *)(x + MG_PIXELS * words);
    block job = {x, x + MG_PIXELS * words, p->stream + (out_c / 2u) * (words + 4u), out, 0u, p->twice, p->relu, p->stream, scale};
    job.step = whole != 0u ? out_c * sizeof(*out) : 0u;
    (void)memset(patch, 0, 2u * words);
    for (uint32_t done = 0u; done < pixels; done += whole != 0u ? MG_PIXELS : 1u) {
        const uint32_t first = done + whole <= pixels ? done : pixels - whole;
        for (uint32_t k = 0u; k < MG_PIXELS; k += 1u) {
            const uint32_t pixel = whole != 0u ? first + k : first;
            const int8_t *const taps =
                in_place != 0u ? in + pixel * 2u * words : mg_hybrid_taps(p, in, zero, pixel, 2u * words, patch);
            widen(taps, words, zero, k, x);
        }
        job.out = out + first * out_c;
        channels(&job);
    }
    mg_hybrid_clamp(p, scale, out, pixels * out_c);
}

void mg_hybrid_conv2d__dsp(const mg_hybrid_conv2d__dsp_params *p, const int8_t *q, const mg_f32 *scale, const int8_t *zero,
                           mg_f32 *out, void *scratch)
{
    const uint32_t in_size = (uint32_t)p->in_h * p->in_w * p->in_c, out_size = (uint32_t)p->out_h * p->out_w * p->out_c;
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        convolve(p, q + n * in_size, scale[n], zero[n], out + n * out_size, scratch);
    }
}
