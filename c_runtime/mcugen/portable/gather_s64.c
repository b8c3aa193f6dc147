/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/gather_s64.h"

static uint32_t place(int64_t index, uint32_t size)
{
    const int64_t last = (int64_t)size - 1;
    const int64_t floored = index < 0 ? 0 : index;
    return (uint32_t)(floored > last ? last : floored);
}

void mg_gather_s64(const mg_gather_s64_params *p, const void *in, const mg_s64 *index, void *out)
{
    const uint8_t *from = in;
    uint8_t *to = out;
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        const mg_s64 *const chosen = index + b * p->count;
        for (uint32_t o = 0u; o < p->outer; o += 1u) {
            for (uint32_t k = 0u; k < p->count; k += 1u) {
                (void)memcpy(to, from + place(chosen[k], p->size) * p->run, p->run);
                to += p->run;
            }
            from += p->size * p->run;
        }
    }
}
