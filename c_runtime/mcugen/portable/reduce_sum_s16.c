/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, mg_s16 -> int8_t
 * s16 -> s8_line, mg_s16 -> int8_t
 * s16 -> f32, int32_t -> float
 */
#include "mcugen/reduce_sum_s16.h"

static int32_t sum_of(const mg_reduce_sum_s16_params *p, const mg_s16 *in)
{
    int32_t sum = 0;
    for (uint32_t i = 0u; i < p->reduced[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->reduced[1]; j += 1u) {
            const mg_s16 *x = in + i * p->reduced_stride[0] + j * p->reduced_stride[1];
            const uint32_t stride = p->reduced_stride[2];
            for (uint32_t k = 0u; k < p->reduced[2]; k += 1u) {
                sum += x[0];
                x += stride;
            }
        }
    }
    return sum;
}

void mg_reduce_sum_s16(const mg_reduce_sum_s16_params *p, const mg_s16 *in, mg_s16 *out)
{
    mg_s16 *to = out;
    for (uint32_t i = 0u; i < p->kept[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->kept[1]; j += 1u) {
            const mg_s16 *from = in + i * p->kept_stride[0] + j * p->kept_stride[1];
            for (uint32_t k = 0u; k < p->kept[2]; k += 1u) {
                to[k] = mg_reduce_sum_s16_store(p, sum_of(p, from));
                from += p->kept_stride[2];
            }
            to += p->kept[2];
        }
    }
}
