/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8.h"

/* The sum of one output. Its weights are `stride` elements apart. It wraps to 32 bits. */
static inline int32_t sum_of(const int8_t *w, uint32_t stride, const int8_t *x, uint32_t n, int32_t bias)
{
    uint32_t sum = (uint32_t)bias;
    for (uint32_t k = 0u; k < n; k += 1u) {
        sum += (uint32_t)(w[k * stride] * x[k]);
    }
    return (int32_t)sum;
}

void mg_fully_connected_s8_s16(const mg_fully_connected_s8_params *p, const int8_t *in, mg_s16 *out, uint32_t n)
{
    const uint32_t fours = p->out_len & ~3u;
    for (uint32_t i = 0u; i < n; i += 1u) {
        for (uint32_t o = 0u; o < p->out_len; o += 1u) {
            const uint32_t first = (o < fours ? o & ~3u : o) * p->in_len + (o < fours ? o & 3u : 0u);
            const uint32_t scale = o * p->scale_stride;
            const int32_t sum = sum_of(p->weights + first, o < fours ? 4u : 1u, in, p->in_len, p->bias[o]);
            const int32_t y = mg_requantize(sum, p->mult[scale], p->shift[scale]) + p->out_zero_point;
            out[o] = (int16_t)mg_clamp(y, p->out_min, p->out_max);
        }
        in += p->in_len;
        out += p->out_len;
    }
}
