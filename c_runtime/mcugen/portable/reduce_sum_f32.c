/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/reduce_sum_f32.h"

static float sum(const mg_reduce_sum_f32_params *p, const mg_f32 *in)
{
    float total = 0.0f;
    for (uint32_t i = 0u; i < p->reduced[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->reduced[1]; j += 1u) {
            const mg_f32 *x = in + i * p->reduced_stride[0] + j * p->reduced_stride[1];
            const uint32_t stride = p->reduced_stride[2];
            for (uint32_t k = 0u; k < p->reduced[2]; k += 1u) {
                total += x[0];
                x += stride;
            }
        }
    }
    return total;
}

void mg_reduce_sum_f32(const mg_reduce_sum_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    mg_f32 *to = out;
    for (uint32_t i = 0u; i < p->kept[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->kept[1]; j += 1u) {
            const mg_f32 *from = in + i * p->kept_stride[0] + j * p->kept_stride[1];
            for (uint32_t k = 0u; k < p->kept[2]; k += 1u) {
                to[k] = sum(p, from) / p->divisor;
                from += p->kept_stride[2];
            }
            to += p->kept[2];
        }
    }
}
