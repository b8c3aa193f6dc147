/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/column_sums.h"
#include "mcugen/reduce_sum_s16.h"

static inline mg_s16 store(const mg_reduce_sum_s16_params *p, int32_t sum)
{
    const int32_t y = mg_requantize(sum - p->in_zero_point_sum, p->mult, p->shift) + p->out_zero_point;
    return (mg_s16)mg_clamp(y, -32768, 32767);
}

void mg_reduce_sum_s16__global_begin(const mg_reduce_sum_s16_params *p, void *acc)
{
    (void)memset(acc, 0, p->channels * sizeof(int32_t));
}

void mg_reduce_sum_s16__global_rows(const mg_reduce_sum_s16_params *p, const mg_s16 *in, uint32_t y, uint32_t n,
                                    void *acc)
{
    (void)y;
    mg_add_columns_s16(acc, in, n * p->row_pixels, p->channels);
}

void mg_reduce_sum_s16__global_end(const mg_reduce_sum_s16_params *p, const void *acc, mg_s16 *out)
{
    const mg_s32 *const sums = acc;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        out[c] = store(p, sums[c]);
    }
}
