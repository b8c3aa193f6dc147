/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dynamic_update_slice.h"

/* First index on axis k that is replaced. */
static uint32_t first(const mg_dynamic_update_slice_params *p, const mg_s32 *start, uint32_t k)
{
    if (k < p->leading) {
        return 0u;
    }
    return (uint32_t)mg_clamp(start[k - p->leading], 0, (int32_t)(p->shape[k] - p->size[k]));
}

void mg_dynamic_update_slice(const mg_dynamic_update_slice_params *p, const void *x, const void *part, const mg_s32 *start,
                             void *y)
{
    const uint8_t *from = part;
    uint8_t *const to = y;
    const uint32_t run = p->size[5] * p->item;
    uint32_t rows = 1u;
    for (uint32_t k = 0u; k < 5u; k += 1u) {
        rows *= p->size[k];
    }
    (void)memcpy(y, x, p->bytes);
    for (uint32_t row = 0u; row < rows; row += 1u) {
        uint32_t rest = row, pitch = p->shape[5], at = first(p, start, 5u);
        for (uint32_t k = 5u; k > 0u; k -= 1u) {
            at += (first(p, start, k - 1u) + rest % p->size[k - 1u]) * pitch;
            rest /= p->size[k - 1u];
            pitch *= p->shape[k - 1u];
        }
        (void)memcpy(to + at * p->item, from, run);
        from += run;
    }
}
