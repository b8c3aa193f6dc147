/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/resize_bilinear_s8.h"

/* Output row y of an image. */
static void row(const mg_resize_bilinear_s8_params *p, const int8_t *in, uint32_t y, int8_t *out)
{
    const int8_t *const above = in + p->y_low[y] * p->in_w * p->depth;
    const int8_t *const below = in + p->y_high[y] * p->in_w * p->depth;
    const int64_t dy = p->y_part[y];
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const uint32_t left = p->x_low[x] * p->depth, right = p->x_high[x] * p->depth;
        const int64_t dx = p->x_part[x];
        for (uint32_t c = 0u; c < p->depth; c += 1u) {
            const int64_t first = above[left + c] * (1024 - dx) + above[right + c] * dx;
            const int64_t second = below[left + c] * (1024 - dx) + below[right + c] * dx;
            const int64_t sum = first * (1024 - dy) + second * dy;
            out[x * p->depth + c] = (int8_t)((sum + (sum > 0 ? 524288 : -524288)) / 1048576);
        }
    }
}

void mg_resize_bilinear_s8(const mg_resize_bilinear_s8_params *p, const int8_t *in, int8_t *out)
{
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        for (uint32_t y = 0u; y < p->out_h; y += 1u) {
            const uint32_t place = (n * p->out_h + y) * p->out_w * p->depth;
            row(p, in + n * p->in_h * p->in_w * p->depth, y, out + place);
        }
    }
}
