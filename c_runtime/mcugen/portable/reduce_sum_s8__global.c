/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/column_sums.h"
#include "mcugen/reduce_sum_s8.h"

static inline int8_t store(const mg_reduce_sum_s8_params *p, int32_t sum)
{
    const int32_t y = mg_requantize(sum - p->in_zero_point_sum, p->mult, p->shift) + p->out_zero_point;
    return (int8_t)mg_clamp(y, -128, 127);
}

void mg_reduce_sum_s8__global_begin(const mg_reduce_sum_s8_params *p, void *acc)
{
    (void)memset(acc, 0, p->channels * sizeof(int32_t));
}

void mg_reduce_sum_s8__global_rows(const mg_reduce_sum_s8_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                   void *acc)
{
    (void)y;
    mg_add_columns_s8(acc, in, n * p->row_pixels, p->channels);
}

void mg_reduce_sum_s8__global_end(const mg_reduce_sum_s8_params *p, const void *acc, int8_t *out)
{
    const mg_s32 *const sums = acc;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        out[c] = store(p, sums[c]);
    }
}
