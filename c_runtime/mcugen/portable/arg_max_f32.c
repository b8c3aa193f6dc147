/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/arg_max_f32.h"

static uint32_t position(const mg_arg_max_f32_params *p, const mg_f32 *in)
{
    float best = in[0];
    uint32_t at = 0u;
    for (uint32_t i = 1u; i < p->size; i += 1u) {
        const float x = in[i * p->inner];
        if (p->smallest != 0u ? x < best : x > best) {
            best = x;
            at = i;
        }
    }
    return at;
}

void mg_arg_max_f32(const mg_arg_max_f32_params *p, const mg_f32 *in, void *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->inner; i += 1u) {
            const uint32_t at = position(p, in + o * p->size * p->inner + i);
            if (p->wide != 0u) {
                ((mg_s64 *)out)[o * p->inner + i] = (int64_t)at;
            } else {
                ((mg_s32 *)out)[o * p->inner + i] = (int32_t)at;
            }
        }
    }
}
