/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8_block.h"

/* Copies the taps of output column x into a patch of kernel_h * kernel_w * in_c bytes, in_zero_point outside the row. */
static void gather(const mg_conv2d_s8_params *p, const int8_t *const *rows, uint32_t x, int8_t *patch)
{
    const size_t channels = p->in_c;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int32_t column = (int32_t)(x * p->stride_w + j * p->dilation_w) - (int32_t)p->pad_w;
            int8_t *const to = patch + (i * p->kernel_w + j) * channels;
            if (column >= 0 && column < (int32_t)p->in_w) {
                memcpy(to, rows[i] + (size_t)column * channels, channels);
            } else {
                memset(to, (uint8_t)p->in_zero_point, channels);
            }
        }
    }
}

/* Columns [first, end), gathered two by two. */
static void edge(const mg_conv2d_s8_params *p, const int8_t *const *rows, uint32_t first, uint32_t end, int8_t *out,
                 int8_t *scratch)
{
    const uint32_t size = (uint32_t)p->kernel_h * p->kernel_w * p->in_c;
    const int8_t *const patch = scratch;
    const mg_conv2d_s8_taps taps = {&patch, 1u, size};
    for (uint32_t x = first; x < end; x += 2u) {
        int8_t *const to = out + x * p->out_c;
        gather(p, rows, x, scratch);
        if (x + 1u < end) {
            gather(p, rows, x + 1u, scratch + size);
            mg_conv2d_s8_two(p, &taps, 0, (int32_t)size, to);
        } else {
            mg_conv2d_s8_one(p, &taps, 0, to);
        }
    }
}

void mg_conv2d_s8(const mg_conv2d_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    const mg_conv2d_s8_taps taps = {rows, p->kernel_h, (uint32_t)p->kernel_w * p->in_c};
    const int32_t step = (int32_t)p->stride_w * p->in_c;
    const int32_t start = -(int32_t)p->pad_w * (int32_t)p->in_c;
    (void)y;
    edge(p, rows, 0u, p->inside_first, out, scratch);
    for (uint32_t x = p->inside_first; x < p->inside_end; x += 2u) {
        const int32_t offset = start + (int32_t)x * step;
        int8_t *const to = out + x * p->out_c;
        if (x + 1u < p->inside_end) {
            mg_conv2d_s8_two(p, &taps, offset, offset + step, to);
        } else {
            mg_conv2d_s8_one(p, &taps, offset, to);
        }
    }
    edge(p, rows, p->inside_end, p->out_w, out, scratch);
}
