/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, mg_s16 -> int8_t
 * s16 -> s8_line, mg_s16 -> int8_t, columns_s16 -> columns_s8
 * s16 -> f32, s32 -> f32
 */
#include "mcugen/column_sums.h"
#include "mcugen/reduce_sum_s16.h"

void mg_reduce_sum_s16__global_begin(const mg_reduce_sum_s16_params *p, void *acc)
{
    (void)memset(acc, 0, p->channels * sizeof(mg_s32));
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
        out[c] = mg_reduce_sum_s16_store(p, sums[c]);
    }
}
