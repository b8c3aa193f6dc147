/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/column_sums.h"
#include "mcugen/reduce_sum_f32.h"

void mg_reduce_sum_f32__global_begin(const mg_reduce_sum_f32_params *p, void *acc)
{
    (void)memset(acc, 0, p->channels * sizeof(float));
}

void mg_reduce_sum_f32__global_rows(const mg_reduce_sum_f32_params *p, const mg_f32 *in, uint32_t y, uint32_t n,
                                    void *acc)
{
    (void)y;
    mg_add_columns_f32(acc, in, n * p->row_pixels, p->channels);
}

void mg_reduce_sum_f32__global_end(const mg_reduce_sum_f32_params *p, const void *acc, mg_f32 *out)
{
    const mg_f32 *const sums = acc;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        out[c] = sums[c] / p->divisor;
    }
}
