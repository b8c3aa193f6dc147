/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/hybrid_conv2d__mve.h"
#include "mcugen/mve.h"

#define MG_PARAMS mg_hybrid_conv2d__mve_params
#define MG_COPY mg_copy_bytes
#define MG_FILL mg_fill_bytes
#include "mcugen/hybrid_taps.h"

#define MG_CHANNELS 4u
#define MG_HYBRID_LANES 16u

/* All output channels of a pixel.
 * x, start  taps; values that the sums start at
 * factor    what sums are multiplied by first;   scale: what they are multiplied by then
 * low       the lower bound as the bits of a float, or INT32_MIN */
typedef struct {
    uint32_t steps;
    const int8_t *x, *weights;
    const mg_s32 *start;
    const mg_f32 *factor;
    const float *bias;
    mg_f32 *out;
    uint32_t blocks;
    float scale;
    int32_t low;
} pixel;

#if MG_HAS_MVE_FLOAT
/* r0: steps, r1, r10: x, r3: weights, r5: start, r7: factor, r9: bias, r11: out, r12: blocks, r2, r4, r6, r8: sums */
static void __attribute__((naked, noinline)) channels(MCUGEN_UNUSED const pixel *job)
{
    __asm__(".syntax unified\n"
            "push {r4-r11, lr}\n"
            "ldrd r1, r3, [r0, #4]\n ldrd r5, r7, [r0, #12]\n ldrd r9, r11, [r0, #20]\n ldrd r12, r2, [r0, #28]\n"
            "vdup.32 q3, r2\n"
            "ldr r2, [r0, #36]\n"
            "vdup.32 q2, r2\n"
            "ldr r0, [r0]\n"
            "1: ldrd r2, r4, [r5], #8\n ldrd r6, r8, [r5], #8\n"
            "mov r10, r1\n"
            "dls lr, r0\n"
            "2: vldrb.u8 q0, [r10], #16\n"
            "vldrb.u8 q1, [r3], #16\n vmladava.s8 r2, q0, q1\n"
            "vldrb.u8 q1, [r3], #16\n vmladava.s8 r4, q0, q1\n"
            "vldrb.u8 q1, [r3], #16\n vmladava.s8 r6, q0, q1\n"
            "vldrb.u8 q1, [r3], #16\n vmladava.s8 r8, q0, q1\n"
            "le lr, 2b\n"
            "vmov q0[2], q0[0], r2, r6\n vmov q0[3], q0[1], r4, r8\n"
            "vldrw.u32 q1, [r7], #16\n"
            "vcvt.f32.s32 q0, q0\n"
            "vmul.f32 q0, q0, q1\n"
            "vldrw.u32 q1, [r9], #16\n"
            "vmul.f32 q0, q0, q3\n"
            "vadd.f32 q0, q0, q1\n"
            "vmax.s32 q0, q0, q2\n"
            "vstrw.32 q0, [r11], #16\n"
            "subs r12, r12, #1\n"
            "bne 1b\n"
            "pop {r4-r11, pc}\n");
}
#else
#define channels channels_one_by_one
#endif

/* All output channels of a pixel, for all scales. */
static void channels_one_by_one(const pixel *job)
{
    for (uint32_t o = 0u; o < MG_CHANNELS * job->blocks; o += 1u) {
        const int8_t *const w = job->weights + (o / MG_CHANNELS * job->steps * MG_CHANNELS + o % MG_CHANNELS) * MG_HYBRID_LANES;
        int32_t sum = job->start[o];
        for (uint32_t t = 0u; t < MG_HYBRID_LANES * job->steps; t += 1u) {
            sum += job->x[t] * w[t / MG_HYBRID_LANES * MG_CHANNELS * MG_HYBRID_LANES + t % MG_HYBRID_LANES];
        }
        const float acc = (float)sum * job->factor[o];
        const float scaled = acc * job->scale;
        const float y = scaled + job->bias[o];
        job->out[o] = job->low == 0 && y < 0.0f ? 0.0f : y;
    }
}

static void convolve(const mg_hybrid_conv2d__mve_params *p, const int8_t *in, float scale, int8_t zero, mg_f32 *out,
                     mg_s32 *start)
{
    const uint32_t out_c = p->out_c, pixels = (uint32_t)p->out_h * p->out_w, whole = MG_HYBRID_LANES * p->steps;
    mg_f32 *const factor = (mg_f32 *)(void *)(start + out_c);
    int8_t *const patch = (int8_t *)(factor + out_c);
    const uint32_t in_place = mg_hybrid_in_place(p, whole);
    const float size = scale < 0.0f ? -scale : scale;
    pixel job = {p->steps, patch, p->weights, start, factor, p->bias, out, out_c / MG_CHANNELS, 1.0f, INT32_MIN};
    job.scale = p->twice != 0u ? scale : 1.0f;
    job.low = p->relu != 0u ? 0 : INT32_MIN;
    for (uint32_t o = 0u; o < out_c; o += 1u) {
        start[o] = -(zero * p->sums[o]);
        factor[o] = p->twice != 0u ? p->scale[o] : p->scale[o] * scale;
    }
    mg_fill_bytes(patch, 0, whole);
    for (uint32_t k = 0u; k < pixels; k += 1u) {
        job.x = in_place != 0u ? in + k * whole : mg_hybrid_taps(p, in, zero, k, whole, patch);
        job.out = out + k * out_c;
        if (size * p->least > 1e-30f) {
            channels(&job);
        } else {
            channels_one_by_one(&job);
        }
    }
    mg_hybrid_clamp(p, scale, out, pixels * out_c);
}

void mg_hybrid_conv2d__mve(const mg_hybrid_conv2d__mve_params *p, const int8_t *q, const mg_f32 *scale, const int8_t *zero,
                           mg_f32 *out, void *scratch)
{
    const uint32_t in_size = (uint32_t)p->in_h * p->in_w * p->in_c, out_size = (uint32_t)p->out_h * p->out_w * p->out_c;
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        convolve(p, q + n * in_size, scale[n], zero[n], out + n * out_size, scratch);
    }
}
