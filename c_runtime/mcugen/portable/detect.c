/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/detect.h"

void mg_detect(const mg_detect_params *p, const uint8_t *x, const uint8_t *recent, const mg_s32 *wait, uint8_t *found,
               uint8_t *next, mg_s32 *left)
{
    uint32_t sum = *x;
    for (uint32_t i = 1u; i < p->size; i += 1u) {
        next[i - 1u] = recent[i];
        sum += recent[i];
    }
    next[p->size - 1u] = *x;
    const int32_t rows = *wait + (int32_t)p->step < 0 ? *wait + (int32_t)p->step : 0;
    *found = rows == 0 && sum > p->limit ? 1u : 0u;
    *left = rows;
    if (*found != 0u) {
        (void)memset(next, 0, p->size);
        *left = -(int32_t)p->hold;
    }
}
