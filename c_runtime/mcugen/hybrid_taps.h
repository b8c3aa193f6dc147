/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the taps of an output pixel of an image that was quantized at run time, and the bounds of results. The
 * including file defines MG_PARAMS, a struct with MG_WINDOW_FIELDS, in_h, stride_h, dilation_h, pad_h, capped, reach,
 * out_min and out_max; the kernel's columns are adjacent in the image. It also defines MG_COPY and MG_FILL, with the
 * arguments of memcpy and memset.
 */
#include "mcugen/runtime.h"

/* Whether each output pixel's taps are the channels of one pixel of the image, `whole` bytes. */
static inline uint32_t mg_hybrid_in_place(const MG_PARAMS *p, uint32_t whole)
{
    return (uint32_t)(p->kernel_h == 1u && p->kernel_w == 1u && p->in_c == whole && p->in_h == p->out_h && p->in_w == p->out_w);
}

/* Returns the taps of an output pixel: in the image where they are one run of `whole` bytes, else copied to a patch. Taps
 * outside the image are the zero point. */
static inline const int8_t *mg_hybrid_taps(const MG_PARAMS *p, const int8_t *in, int8_t zero, uint32_t pixel, uint32_t whole,
                                           int8_t *patch)
{
    const uint32_t y = pixel / p->out_w, x = pixel - y * p->out_w, depth = p->in_c, run = p->kernel_w * depth;
    const int32_t column = (int32_t)(x * p->stride_w) - (int32_t)p->pad_w, in_w = p->in_w, kernel_w = p->kernel_w;
    const int32_t first = mg_clamp(-column, 0, kernel_w), end = mg_clamp(in_w - column, first, kernel_w);
    const uint32_t before = (uint32_t)first * depth, inside = (uint32_t)(end - first) * depth;
    int32_t row = (int32_t)(y * p->stride_h) - (int32_t)p->pad_h;
    int8_t *to = patch;
    if (inside == whole && row >= 0 && row < (int32_t)p->in_h) {
        return in + (uint32_t)(row * in_w + column) * depth;
    }
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        const uint32_t there = row >= 0 && row < (int32_t)p->in_h ? inside : 0u;
        if (there < run) {
            MG_FILL(to, zero, run);
        }
        if (there > 0u) {
            MG_COPY(to + before, in + (uint32_t)(row * in_w + column + first) * depth, there);
        }
        row += p->dilation_h;
        to += run;
    }
    return patch;
}

/* Clamps the n results of an image of this scale, if one may be beyond the upper bound or infinite. */
static inline void mg_hybrid_clamp(const MG_PARAMS *p, float scale, mg_f32 *out, uint32_t n)
{
    const float size = scale < 0.0f ? -scale : scale;
    const uint32_t beyond = p->capped != 0u || !(size * p->reach < 1e38f) ? n : 0u;
    for (uint32_t i = 0u; i < beyond; i += 1u) {
        out[i] = mg_clamp_float(out[i], p->out_min, p->out_max);
    }
}
