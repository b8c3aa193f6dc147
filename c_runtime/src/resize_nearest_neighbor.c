/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/resize_nearest_neighbor.h"

static void resize_row(const mg_resize_nearest_neighbor_params *p, const uint8_t *in, uint8_t *out)
{
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        memcpy(out + x * p->pixel, in + p->from_column[x] * p->pixel, p->pixel);
    }
}

static void resize_image(const mg_resize_nearest_neighbor_params *p, const uint8_t *in, uint8_t *out)
{
    const uint32_t in_row = p->in_w * p->pixel;
    const uint32_t out_row = p->out_w * p->pixel;
    for (uint32_t y = 0u; y < p->out_h; y += 1u) {
        uint8_t *const to = out + y * out_row;
        if (y > 0u && p->from_row[y] == p->from_row[y - 1u]) {
            memcpy(to, to - out_row, out_row);
        } else {
            resize_row(p, in + p->from_row[y] * in_row, to);
        }
    }
}

void mg_resize_nearest_neighbor(const mg_resize_nearest_neighbor_params *p, const void *in, void *out)
{
    const uint8_t *from = in;
    uint8_t *to = out;
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        resize_image(p, from, to);
        from += p->in_h * p->in_w * p->pixel;
        to += p->out_h * p->out_w * p->pixel;
    }
}
