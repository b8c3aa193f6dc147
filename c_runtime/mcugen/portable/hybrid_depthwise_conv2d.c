/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/hybrid_depthwise_conv2d.h"

/* The sum of output channel o at pixel (y, x); taps outside the image add nothing. */
static int32_t sum_at(const mg_hybrid_depthwise_conv2d_params *p, const int8_t *in, int32_t zero, uint32_t y, uint32_t x,
                      uint32_t o)
{
    const uint32_t c = o / p->multiplier;
    int32_t sum = 0;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        const int32_t row = (int32_t)(y * p->stride_h + i * p->dilation_h) - (int32_t)p->pad_h;
        const uint32_t taps = row >= 0 && row < (int32_t)p->in_h ? p->kernel_w : 0u;
        for (uint32_t j = 0u; j < taps; j += 1u) {
            const int32_t column = (int32_t)(x * p->stride_w + j * p->dilation_w) - (int32_t)p->pad_w;
            if (column >= 0 && column < (int32_t)p->in_w) {
                const uint32_t pixel = (uint32_t)row * p->in_w + (uint32_t)column;
                sum += (in[pixel * p->in_c + c] - zero) * p->weights[(i * p->kernel_w + j) * p->out_c + o];
            }
        }
    }
    return sum;
}

static void convolve(const mg_hybrid_depthwise_conv2d_params *p, const int8_t *in, float scale, int32_t zero, mg_f32 *out)
{
    mg_f32 *to = out;
    for (uint32_t y = 0u; y < p->out_h; y += 1u) {
        for (uint32_t x = 0u; x < p->out_w; x += 1u) {
            for (uint32_t o = 0u; o < p->out_c; o += 1u) {
                const float acc = (float)sum_at(p, in, zero, y, x, o);
                const float factor = p->scale[o] * scale;
                const float scaled = acc * factor;
                to[o] = mg_hybrid_result(scaled, p->bias[o], p->out_min, p->out_max);
            }
            to += p->out_c;
        }
    }
}

void mg_hybrid_depthwise_conv2d(const mg_hybrid_depthwise_conv2d_params *p, const int8_t *q, const mg_f32 *scale,
                                const int8_t *zero, mg_f32 *out)
{
    const uint32_t in_size = (uint32_t)p->in_h * p->in_w * p->in_c, out_size = (uint32_t)p->out_h * p->out_w * p->out_c;
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        convolve(p, q + n * in_size, scale[n], zero[n], out + n * out_size);
    }
}
