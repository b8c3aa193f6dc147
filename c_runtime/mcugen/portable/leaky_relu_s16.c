/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/leaky_relu_s16.h"

void mg_leaky_relu_s16(const mg_leaky_relu_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t x = in[i] - p->in_zero_point;
        const int32_t y = x >= 0 ? mg_requantize(x, p->mult, p->shift)
                                 : p->negative_sign * mg_requantize(x, p->negative_mult, p->negative_shift);
        out[i] = (int16_t)mg_clamp(y + p->out_zero_point, INT16_MIN, INT16_MAX);
    }
}
