/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/hybrid_conv2d.h"

/* An image with its scale and zero point. */
typedef struct {
    const int8_t *data;
    float scale;
    int8_t zero;
} image;

static int32_t dot(const int8_t *x, const int8_t *w, uint32_t n)
{
    const uint32_t fours = n & ~3u;
    int32_t sum = 0;
    for (uint32_t k = 0u; k < fours; k += 4u) {
        sum += x[k] * w[k];
        sum += x[k + 1u] * w[k + 1u];
        sum += x[k + 2u] * w[k + 2u];
        sum += x[k + 3u] * w[k + 3u];
    }
    for (uint32_t k = fours; k < n; k += 1u) {
        sum += x[k] * w[k];
    }
    return sum;
}

/* Copies the taps of output pixel (y, x), channels [c, c + depth), into a patch; taps outside the image are the zero
 * point. */
static void gather(const mg_hybrid_conv2d_params *p, const image *in, uint32_t y, uint32_t x, uint32_t c, int8_t *patch)
{
    const uint32_t depth = p->in_c / p->groups;
    int8_t *to = patch;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        const int32_t row = (int32_t)(y * p->stride_h + i * p->dilation_h) - (int32_t)p->pad_h;
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int32_t column = (int32_t)(x * p->stride_w + j * p->dilation_w) - (int32_t)p->pad_w;
            if (row >= 0 && row < (int32_t)p->in_h && column >= 0 && column < (int32_t)p->in_w) {
                const uint32_t pixel = (uint32_t)row * p->in_w + (uint32_t)column;
                (void)memcpy(to, in->data + pixel * p->in_c + c, depth);
            } else {
                (void)memset(to, in->zero, depth);
            }
            to += depth;
        }
    }
}

/* Computes output channels [first, first + n) of a pixel. */
static void channels(const mg_hybrid_conv2d_params *p, const image *in, const int8_t *patch, uint32_t first, uint32_t n,
                     mg_f32 *out)
{
    for (uint32_t o = first; o < first + n; o += 1u) {
        const int32_t sum = dot(patch, p->weights + o * p->taps, p->taps) - in->zero * p->sums[o];
        const float acc = (float)sum;
        const float factor = p->twice != 0u ? acc * p->scale[o] : p->scale[o] * in->scale;
        const float scaled = p->twice != 0u ? factor * in->scale : acc * factor;
        out[o] = mg_hybrid_result(scaled, p->bias[o], p->out_min, p->out_max);
    }
}

static void convolve(const mg_hybrid_conv2d_params *p, const image *in, mg_f32 *out, int8_t *patch)
{
    const uint32_t depth = p->in_c / p->groups, n = p->out_c / p->groups;
    mg_f32 *to = out;
    for (uint32_t y = 0u; y < p->out_h; y += 1u) {
        for (uint32_t x = 0u; x < p->out_w; x += 1u) {
            for (uint32_t g = 0u; g < p->groups; g += 1u) {
                gather(p, in, y, x, g * depth, patch);
                channels(p, in, patch, g * n, n, to);
            }
            to += p->out_c;
        }
    }
}

void mg_hybrid_conv2d(const mg_hybrid_conv2d_params *p, const int8_t *q, const mg_f32 *scale, const int8_t *zero,
                      mg_f32 *out, void *scratch)
{
    const uint32_t in_size = (uint32_t)p->in_h * p->in_w * p->in_c, out_size = (uint32_t)p->out_h * p->out_w * p->out_c;
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        const image in = {q + n * in_size, scale[n], zero[n]};
        convolve(p, &in, out + n * out_size, scratch);
    }
}
