/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8_rows.h"

typedef int8_t mg_fully_connected_s8_rows_x;
typedef int8_t mg_fully_connected_s8_rows_w;
typedef int32_t mg_fully_connected_s8_rows_acc;

#define MG_TYPE fully_connected_s8_rows
#include "mcugen/fully_connected_s8_finish_template.h"
#include "mcugen/dot_1x4_template.h"

void mg_fully_connected_s8_rows_begin(const mg_fully_connected_s8_rows_params *p, void *acc)
{
    (void)memcpy(acc, p->bias, p->out_len * sizeof(int32_t));
}

void mg_fully_connected_s8_rows_rows(const mg_fully_connected_s8_rows_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                     void *acc)
{
    mg_s32 *const sums = acc;
    const uint32_t first = y * p->row_len, taps = n * p->row_len, fours = p->out_len & ~3u;
    for (uint32_t o = 0u; o < fours; o += 4u) {
        int32_t four[4] = {sums[o], sums[o + 1u], sums[o + 2u], sums[o + 3u]};
        mg_fully_connected_s8_rows_dot_1x4(four, in, 0, p->weights + o * p->in_len + 4u * first, taps);
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            sums[o + i] = four[i];
        }
    }
    for (uint32_t o = fours; o < p->out_len; o += 1u) {
        int32_t one = sums[o];
        mg_fully_connected_s8_rows_dot_1x1(&one, in, 0, p->weights, o * p->in_len + first, taps);
        sums[o] = one;
    }
}

void mg_fully_connected_s8_rows_end(const mg_fully_connected_s8_rows_params *p, const void *acc, int8_t *out)
{
    const mg_s32 *const sums = acc;
    for (uint32_t o = 0u; o < p->out_len; o += 1u) {
        out[o] = mg_fully_connected_s8_rows_finish(p, o, sums[o]);
    }
}
#undef MG_TYPE
