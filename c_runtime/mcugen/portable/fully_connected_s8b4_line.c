/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8b4_line.h"

void mg_fully_connected_s8b4_line(const mg_fully_connected_s8b4_line_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const uint32_t blocks = (p->taps + p->block - 1u) / p->block;
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int8_t *const x = in + i * p->taps;
        for (uint32_t o = 0u; o < p->out_len; o += 1u) {
            const mg_block_row row = {p->weights + o * p->row_len, p->factors + o * blocks, p->taps, p->block};
            out[i * p->out_len + o] = (int8_t)mg_line_at(&p->line, o, p->bias[o] + mg_block_row_sum(row, x));
        }
    }
}
