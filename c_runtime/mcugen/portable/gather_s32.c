/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s32 -> s64, int32 -> int64
 */
#include "mcugen/gather_s32.h"

static uint32_t place(int32_t index, uint32_t size)
{
    const int32_t last = (int32_t)size - 1;
    const int32_t floored = index < 0 ? 0 : index;
    return (uint32_t)(floored > last ? last : floored);
}

void mg_gather_s32(const mg_gather_s32_params *p, const void *in, const mg_s32 *index, void *out)
{
    const uint8_t *from = in;
    uint8_t *to = out;
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        const mg_s32 *const chosen = index + b * p->count;
        for (uint32_t o = 0u; o < p->outer; o += 1u) {
            for (uint32_t k = 0u; k < p->count; k += 1u) {
                (void)memcpy(to, from + place(chosen[k], p->size) * p->run, p->run);
                to += p->run;
            }
            from += p->size * p->run;
        }
    }
}
