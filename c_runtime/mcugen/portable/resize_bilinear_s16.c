/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, mg_s16 -> int8_t, int16 -> int8
 */
#include "mcugen/resize_bilinear_s16.h"

/* Computes output row y of an image. */
static void row(const mg_resize_bilinear_s16_params *p, const mg_s16 *in, uint32_t y, mg_s16 *out)
{
    const mg_s16 *const above = in + p->y_low[y] * p->in_w * p->depth;
    const mg_s16 *const below = in + p->y_high[y] * p->in_w * p->depth;
    const int64_t dy = p->y_part[y];
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const uint32_t left = p->x_low[x] * p->depth, right = p->x_high[x] * p->depth;
        const int64_t dx = p->x_part[x];
        for (uint32_t c = 0u; c < p->depth; c += 1u) {
            const int64_t first = above[left + c] * (1024 - dx) + above[right + c] * dx;
            const int64_t second = below[left + c] * (1024 - dx) + below[right + c] * dx;
            const int64_t sum = first * (1024 - dy) + second * dy;
            out[x * p->depth + c] = (int16_t)((sum + (sum > 0 ? 524288 : -524288)) / 1048576);
        }
    }
}

void mg_resize_bilinear_s16(const mg_resize_bilinear_s16_params *p, const mg_s16 *in, mg_s16 *out)
{
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        for (uint32_t y = 0u; y < p->out_h; y += 1u) {
            const uint32_t place = (n * p->out_h + y) * p->out_w * p->depth;
            row(p, in + n * p->in_h * p->in_w * p->depth, y, out + place);
        }
    }
}
