/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/resize_nearest_neighbor.h"

/* Copies pixels that are whole words; they are aligned because all rows are. Two output pixels share one read. */
static void row_of_words(const mg_resize_nearest_neighbor_params *p, const mg_s32 *row, mg_s32 *to)
{
    const uint32_t n = p->pixel / 4u;
    for (uint32_t r = 0u; r < p->runs; r += 1u) {
        const mg_s32 *const from = row + p->from[r] * n;
        const uint32_t times = p->times[r];
        for (uint32_t t = 1u; t < times; t += 2u) {
            mg_s32 *const second = to + n;
            for (uint32_t i = 0u; i < n; i += 1u) {
                const int32_t a = from[i];
                to[i] = a;
                second[i] = a;
            }
            to += 2u * n;
        }
        if ((times & 1u) != 0u) {
            (void)memcpy(to, from, p->pixel);
            to += n;
        }
    }
}

static void row_of_bytes(const mg_resize_nearest_neighbor_params *p, const void *row, void *out)
{
    const uint8_t *const in = row;
    const uint32_t n = p->pixel;
    uint8_t *to = out;
    for (uint32_t r = 0u; r < p->runs; r += 1u) {
        const uint8_t *const from = in + p->from[r] * n;
        const uint32_t times = p->times[r];
        for (uint32_t t = 0u; t < times; t += 1u) {
            for (uint32_t i = 0u; i < n; i += 1u) {
                to[i] = from[i];
            }
            to += n;
        }
    }
}

static void resized(const mg_resize_nearest_neighbor_params *p, const void *row, void *out)
{
    if (p->pixel % 4u == 0u) {
        row_of_words(p, row, out);
    } else {
        row_of_bytes(p, row, out);
    }
}

void mg_resize_nearest_neighbor__s8(const mg_resize_nearest_neighbor_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    (void)y;
    resized(p, rows[0], out);
}

void mg_resize_nearest_neighbor__s16(const mg_resize_nearest_neighbor_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out)
{
    (void)y;
    resized(p, rows[0], out);
}

void mg_resize_nearest_neighbor__f32(const mg_resize_nearest_neighbor_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out)
{
    (void)y;
    resized(p, rows[0], out);
}

void mg_resize_nearest_neighbor__s32(const mg_resize_nearest_neighbor_params *p, const mg_s32 *const *rows, uint32_t y, mg_s32 *out)
{
    (void)y;
    resized(p, rows[0], out);
}

void mg_resize_nearest_neighbor__u32(const mg_resize_nearest_neighbor_params *p, const mg_u32 *const *rows, uint32_t y, mg_u32 *out)
{
    (void)y;
    resized(p, rows[0], out);
}

void mg_resize_nearest_neighbor__bool(const mg_resize_nearest_neighbor_params *p, const uint8_t *const *rows, uint32_t y, uint8_t *out)
{
    (void)y;
    resized(p, rows[0], out);
}
