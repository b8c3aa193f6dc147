/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s8.h"
#include "mcugen/column_sums.h"
#include "mcugen/divide.h"

void mg_average_pool_2d_s8__global_begin(const mg_average_pool_2d_s8_params *p, void *acc)
{
    (void)memset(acc, 0, p->channels * sizeof(int32_t));
}

void mg_average_pool_2d_s8__global_rows(const mg_average_pool_2d_s8_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                        void *acc)
{
    (void)y;
    mg_add_columns_s8(acc, in, n * p->in_w, p->channels);
}

void mg_average_pool_2d_s8__global_end(const mg_average_pool_2d_s8_params *p, const void *acc, int8_t *out)
{
    const mg_s32 *const sums = acc;
    const uint32_t count = p->in_h * p->in_w;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        const int32_t sum = sums[c] + p->offset * (int32_t)count;
        const int32_t y = mg_average(sum, count, p->recip_mult[0], p->recip_shift[0]) - p->offset;
        out[c] = (int8_t)mg_clamp(y, p->out_min, p->out_max);
    }
}
