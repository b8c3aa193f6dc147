/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/reduce_sum_s8.h"

static inline int8_t store(const mg_reduce_sum_s8_params *p, int32_t sum)
{
    const int32_t y = mg_requantize(sum - p->in_zero_point_sum, p->mult, p->shift) + p->out_zero_point;
    return (int8_t)mg_clamp(y, -128, 127);
}

static int32_t sum(const mg_reduce_sum_s8_params *p, const int8_t *in)
{
    int32_t total = 0;
    for (uint32_t i = 0u; i < p->reduced[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->reduced[1]; j += 1u) {
            const int8_t *x = in + i * p->reduced_stride[0] + j * p->reduced_stride[1];
            const uint32_t stride = p->reduced_stride[2];
            for (uint32_t k = 0u; k < p->reduced[2]; k += 1u) {
                total += x[0];
                x += stride;
            }
        }
    }
    return total;
}

void mg_reduce_sum_s8(const mg_reduce_sum_s8_params *p, const int8_t *in, int8_t *out)
{
    int8_t *to = out;
    for (uint32_t i = 0u; i < p->kept[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->kept[1]; j += 1u) {
            const int8_t *from = in + i * p->kept_stride[0] + j * p->kept_stride[1];
            for (uint32_t k = 0u; k < p->kept[2]; k += 1u) {
                to[k] = store(p, sum(p, from));
                from += p->kept_stride[2];
            }
            to += p->kept[2];
        }
    }
}
