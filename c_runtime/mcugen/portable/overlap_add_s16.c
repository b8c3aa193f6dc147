/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/overlap_add_s16.h"

static int16_t plus(int16_t a, int16_t b)
{
    return (int16_t)mg_clamp(a + b, -32768, 32767);
}

/* Adds a frame to the sums. The first `step` sums are then complete: they are written to y, the other sums move to the
 * front, and zeros follow them. */
static void frame(const mg_overlap_add_s16_params *p, const mg_s16 *x, mg_s16 *y, mg_s16 *sums)
{
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        sums[i] = plus(sums[i], x[i]);
    }
    (void)memcpy(y, sums, p->step * sizeof(*y));
    (void)memmove(sums, sums + p->step, (p->size - p->step) * sizeof(*sums));
    (void)memset(sums + (p->size - p->step), 0, p->step * sizeof(*sums));
}

void mg_overlap_add_s16(const mg_overlap_add_s16_params *p, const mg_s16 *x, const mg_s16 *sums, mg_s16 *y, mg_s16 *new_sums)
{
    (void)memcpy(new_sums, sums, p->rows * p->size * sizeof(*sums));
    for (uint32_t r = 0u; r < p->rows; r += 1u) {
        for (uint32_t k = 0u; k < p->frames; k += 1u) {
            const uint32_t n = r * p->frames + k;
            frame(p, x + n * p->size, y + n * p->step, new_sums + r * p->size);
        }
    }
}
