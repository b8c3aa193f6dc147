/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8_block.h"

void mg_conv2d_s8__pointwise(const mg_conv2d_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const uint32_t pairs = n & ~1u;
    const mg_conv2d_s8_taps taps = {&in, 1u, p->in_c};
    for (uint32_t i = 0u; i < pairs; i += 2u) {
        const int32_t offset = (int32_t)(i * p->in_c);
        mg_conv2d_s8_two(p, &taps, offset, offset + p->in_c, out + i * p->out_c);
    }
    if (pairs < n) {
        mg_conv2d_s8_one(p, &taps, (int32_t)(pairs * p->in_c), out + pairs * p->out_c);
    }
}
