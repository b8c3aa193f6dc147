/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter_bank_log.h"

static uint32_t whole_part(uint32_t x)
{
    uint32_t whole = 0u;
    for (uint32_t k = 1u; k < 32u; k += 1u) {
        whole += (uint32_t)(x >> k > 0u);
    }
    return whole;
}

/* The logarithm to base 2 of x > 0, with 16 bits after the point. */
static uint32_t log2_of(const mg_filter_bank_log_params *p, uint32_t x)
{
    const uint32_t whole = whole_part(x);
    const uint32_t rest = x - ((uint32_t)1 << whole);
    const uint32_t part = whole < 16u ? rest << (16u - whole) : rest >> (whole - 16u);
    const int32_t low = p->bends[part >> 9], high = p->bends[(part >> 9) + 1u];
    const int32_t between = ((high - low) * (int32_t)(part & 511u)) >> 16;
    return (whole << 16) + part + (uint32_t)(low + between);
}

void mg_filter_bank_log(const mg_filter_bank_log_params *p, const mg_u32 *x, mg_s16 *y)
{
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        const uint32_t raised = x[i] << p->bits;
        uint32_t found = 0u;
        if (raised > 1u) {
            const uint32_t natural = (uint32_t)((45426u * (uint64_t)log2_of(p, raised) + 32768u) >> 16);
            found = (p->scale * natural + 32768u) >> 16;
        }
        y[i] = (int16_t)(found < 32767u ? found : 32767u);
    }
}
