/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/demosaic.h"

/* Three adjacent rows. own: 0 if the middle row (at) has green and red pixels, 2 if green and blue. */
typedef struct {
    const uint8_t *above, *at, *below;
    uint32_t own;
} mg_demosaic_rows;

static MCUGEN_INLINE void green_pixel(const mg_demosaic_rows *r, uint32_t left, uint32_t x, uint32_t right, uint8_t *out)
{
    out[r->own] = (uint8_t)(((uint32_t)r->at[left] + r->at[right] + 1u) >> 1);
    out[1] = r->at[x];
    out[2u - r->own] = (uint8_t)(((uint32_t)r->above[x] + r->below[x] + 1u) >> 1);
}

static MCUGEN_INLINE void other_pixel(const mg_demosaic_rows *r, uint32_t left, uint32_t x, uint32_t right, uint8_t *out)
{
    const uint32_t sides = (uint32_t)r->at[left] + r->at[right] + r->above[x] + r->below[x];
    const uint32_t corners = (uint32_t)r->above[left] + r->above[right] + r->below[left] + r->below[right];
    out[r->own] = r->at[x];
    out[1] = (uint8_t)((sides + 2u) >> 2);
    out[2u - r->own] = (uint8_t)((corners + 2u) >> 2);
}

void mg_demosaic(const mg_demosaic_params *p, const uint8_t *const *rows, uint32_t y, uint8_t *out)
{
    const uint32_t is_blue_row = (y & 1u) ^ p->red_row, first_green = p->red_column ^ is_blue_row ^ 1u, last = p->width - 1u;
    const uint8_t *const above = rows[0] != NULL ? rows[0] : rows[2];
    const mg_demosaic_rows r = {above, rows[1], rows[2] != NULL ? rows[2] : above, 2u * is_blue_row};
    for (uint32_t x = 0u; x < p->width; x += 2u) {
        const uint32_t left = x == 0u ? 1u : x - 1u, right = x + 1u == last ? x : x + 2u;
        uint8_t *const to = out + 3u * x;
        if (first_green == 0u) {
            green_pixel(&r, left, x, x + 1u, to);
            other_pixel(&r, x, x + 1u, right, to + 3);
        } else {
            other_pixel(&r, left, x, x + 1u, to);
            green_pixel(&r, x, x + 1u, right, to + 3);
        }
    }
}
