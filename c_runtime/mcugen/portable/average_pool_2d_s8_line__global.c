/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s8_line.h"
#include "mcugen/column_sums.h"

void mg_average_pool_2d_s8_line__global_begin(const mg_average_pool_2d_s8_line_params *p, void *acc)
{
    (void)memset(acc, 0, p->channels * sizeof(int32_t));
}

void mg_average_pool_2d_s8_line__global_rows(const mg_average_pool_2d_s8_line_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                        void *acc)
{
    (void)y;
    mg_add_columns_s8(acc, in, n * p->in_w, p->channels);
}

void mg_average_pool_2d_s8_line__global_end(const mg_average_pool_2d_s8_line_params *p, const void *acc, int8_t *out)
{
    const mg_s32 *const sums = acc;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        out[c] = (int8_t)mg_line_at(&p->line, 0u, sums[c]);
    }
}
