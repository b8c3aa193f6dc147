/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8b4_line.h"

/* Copies the taps of output column x. */
static void gather(const mg_conv2d_s8b4_line_params *p, const int8_t *const *rows, uint32_t x, int8_t *to)
{
    const uint32_t channels = p->in_c;
    const int8_t fill = (int8_t)p->in_zero_point;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int32_t column = (int32_t)(x * p->stride_w + j * p->dilation_w) - (int32_t)p->pad_w;
            const uint32_t step = column >= 0 && column < (int32_t)p->in_w ? 1u : 0u;
            const int8_t *const from = step != 0u ? rows[i] + (uint32_t)column * channels : &fill;
            for (uint32_t k = 0u; k < channels; k += 1u) {
                to[k] = from[k * step];
            }
            to += channels;
        }
    }
}

void mg_conv2d_s8b4_line(const mg_conv2d_s8b4_line_params *p, const int8_t *const *rows, uint32_t y, int8_t *out,
                         int8_t *scratch)
{
    const uint32_t blocks = (p->taps + p->block - 1u) / p->block;
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        gather(p, rows, x, scratch);
        for (uint32_t o = 0u; o < p->out_c; o += 1u) {
            const mg_block_row row = {p->weights + o * p->row_len, p->factors + o * blocks, p->taps, p->block};
            out[x * p->out_c + o] = (int8_t)mg_line_at(&p->line, o, p->bias[o] + mg_block_row_sum(row, scratch));
        }
    }
}
