/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> s32, float -> int32_t
 * f32 -> s8, mg_f32 -> int8_t, float -> int32_t, mg_f32 *in -> void *in
 */
#include "mcugen/arg_max_f32.h"

/* Index of the largest or smallest of the values, which are p->inner elements apart. */
static uint32_t index_in(const mg_arg_max_f32_params *p, const mg_f32 *values)
{
    float best = values[0];
    uint32_t at = 0u;
    for (uint32_t i = 1u; i < p->size; i += 1u) {
        const float x = values[i * p->inner];
        if (p->smallest != 0u ? x < best : x > best) {
            best = x;
            at = i;
        }
    }
    return at;
}

void mg_arg_max_f32(const mg_arg_max_f32_params *p, const mg_f32 *in, void *out)
{
    const mg_f32 *const values = in;
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->inner; i += 1u) {
            const uint32_t at = index_in(p, values + o * p->size * p->inner + i);
            if (p->wide != 0u) {
                ((mg_s64 *)out)[o * p->inner + i] = (int64_t)at;
            } else {
                ((mg_s32 *)out)[o * p->inner + i] = (int32_t)at;
            }
        }
    }
}
