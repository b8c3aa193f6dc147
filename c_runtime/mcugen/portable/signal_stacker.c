/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/signal_stacker.h"

void mg_signal_stacker(const mg_signal_stacker_params *p, const mg_s16 *x, const mg_s16 *kept, const mg_s32 *count,
                       mg_s16 *y, uint8_t *valid, mg_s16 *new_kept, mg_s32 *new_count)
{
    const uint32_t wanted = *count > 0 ? 1u : p->left + 1u;
    const uint32_t copies = wanted < p->frames ? wanted : p->frames;
    const uint32_t before = *count > 0 ? (uint32_t)*count - 1u : 0u;
    const uint32_t old = (p->frames - copies) * p->channels;
    const uint32_t known = before + wanted;
    (void)memcpy(y, kept + copies * p->channels, old * sizeof(*y));
    for (uint32_t k = 0u; k < copies; k += 1u) {
        (void)memcpy(y + old + k * p->channels, x, p->channels * sizeof(*y));
    }
    (void)memcpy(new_kept, y, p->frames * p->channels * sizeof(*y));
    *valid = known >= p->frames ? 1u : 0u;
    *new_count = (int32_t)(known - (known >= p->frames ? p->step : 0u)) + 1;
}
