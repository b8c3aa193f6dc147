/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/resize_bilinear_u8.h"

static float number(int8_t stored)
{
    return (float)(stored + 128);
}

/* Computes output row y of an image. */
static void row(const mg_resize_bilinear_u8_params *p, const int8_t *in, uint32_t y, int8_t *out)
{
    const int8_t *const above = in + p->y_low[y] * p->in_w * p->depth;
    const int8_t *const below = in + p->y_high[y] * p->in_w * p->depth;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const uint32_t left = p->x_low[x] * p->depth, right = p->x_high[x] * p->depth;
        for (uint32_t c = 0u; c < p->depth; c += 1u) {
            float sum = number(above[left + c]) * p->y_first[y] * p->x_first[x];
            sum += number(below[left + c]) * p->y_part[y] * p->x_first[x];
            sum += number(above[right + c]) * p->y_first[y] * p->x_part[x];
            sum += number(below[right + c]) * p->y_part[y] * p->x_part[x];
            out[x * p->depth + c] = (int8_t)((int32_t)(sum + 0.5f) - 128);
        }
    }
}

void mg_resize_bilinear_u8(const mg_resize_bilinear_u8_params *p, const int8_t *in, int8_t *out)
{
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        for (uint32_t y = 0u; y < p->out_h; y += 1u) {
            const uint32_t place = (n * p->out_h + y) * p->out_w * p->depth;
            row(p, in + n * p->in_h * p->in_w * p->depth, y, out + place);
        }
    }
}
