/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8.h"

#include "mcugen/dot_s8.h"

static int8_t store(const mg_fully_connected_s8_params *p, uint32_t o, int32_t acc)
{
    const int32_t mult = p->mult[o * p->scale_stride];
    const int32_t shift = p->shift[o * p->scale_stride];
    const int32_t y = p->rounds_once != 0u ? mg_requantize_once(acc, mult, shift) : mg_requantize(acc, mult, shift);
    return (int8_t)mg_clamp(y + p->out_zero_point, p->out_min, p->out_max);
}

static void vector(const mg_fully_connected_s8_params *p, const int8_t *x, int8_t *out)
{
    const uint32_t fours = p->out_len & ~3u;
    for (uint32_t o = 0u; o < fours; o += 4u) {
        int32_t acc[4] = {p->bias[o], p->bias[o + 1u], p->bias[o + 2u], p->bias[o + 3u]};
        mg_dot_1x4_s8(acc, x, p->weights + o * p->in_len, p->in_len);
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            out[o + i] = store(p, o + i, acc[i]);
        }
    }
    for (uint32_t o = fours; o < p->out_len; o += 1u) {
        int32_t acc[1] = {p->bias[o]};
        mg_dot_1x1_s8(acc, x, p->weights + o * p->in_len, p->in_len);
        out[o] = store(p, o, acc[0]);
    }
}

void mg_fully_connected_s8(const mg_fully_connected_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        vector(p, in + i * p->in_len, out + i * p->out_len);
    }
}
