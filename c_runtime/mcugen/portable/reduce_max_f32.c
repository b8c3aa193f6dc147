/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> s16
 * f32 -> s8, mg_f32 -> int8_t
 * max -> min, x[0] > extreme -> x[0] < extreme
 * max_f32 -> min_s16, mg_f32 -> mg_s16, x[0] > extreme -> x[0] < extreme
 * max_f32 -> min_s8, mg_f32 -> int8_t, x[0] > extreme -> x[0] < extreme
 */
#include "mcugen/reduce_max_f32.h"

static mg_f32 extreme_of(const mg_reduce_max_f32_params *p, const mg_f32 *in)
{
    mg_f32 extreme = in[0];
    for (uint32_t i = 0u; i < p->reduced[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->reduced[1]; j += 1u) {
            const mg_f32 *x = in + i * p->reduced_stride[0] + j * p->reduced_stride[1];
            const uint32_t stride = p->reduced_stride[2];
            for (uint32_t k = 0u; k < p->reduced[2]; k += 1u) {
                extreme = x[0] > extreme ? x[0] : extreme;
                x += stride;
            }
        }
    }
    return extreme;
}

void mg_reduce_max_f32(const mg_reduce_max_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    mg_f32 *to = out;
    for (uint32_t i = 0u; i < p->kept[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->kept[1]; j += 1u) {
            const mg_f32 *from = in + i * p->kept_stride[0] + j * p->kept_stride[1];
            for (uint32_t k = 0u; k < p->kept[2]; k += 1u) {
                to[k] = extreme_of(p, from);
                from += p->kept_stride[2];
            }
            to += p->kept[2];
        }
    }
}
