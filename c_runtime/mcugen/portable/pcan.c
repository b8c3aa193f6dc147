/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/pcan.h"

static uint32_t bits_of(uint32_t x)
{
    uint32_t bits = 0u;
    for (uint32_t k = 0u; k < 32u; k += 1u) {
        bits += (uint32_t)(x >> k > 0u);
    }
    return bits;
}

static int16_t gain(const mg_pcan_params *p, uint32_t noise)
{
    if (noise <= 2u) {
        return p->gains[noise];
    }
    const uint32_t bits = bits_of(noise);
    const int16_t *const parabola = p->gains + 4u * bits - 6u;
    const int32_t place = (int32_t)((bits < 11u ? noise << (11u - bits) : noise >> (bits - 11u)) & 0x3FFu);
    const int32_t slope = ((parabola[2] * place) >> 5) + parabola[1] * 32;
    const int32_t rise = (int32_t)((uint32_t)slope * (uint32_t)place);
    return (int16_t)((int32_t)(((int64_t)rise + (1 << 14)) >> 15) + parabola[0]);
}

void mg_pcan(const mg_pcan_params *p, const mg_u32 *x, const mg_u32 *noise, mg_u32 *y)
{
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        const uint32_t factor = (uint32_t)(int32_t)gain(p, noise[i]);
        const uint32_t ratio = (uint32_t)(((uint64_t)x[i] * factor) >> p->shift);
        y[i] = ratio < 8192u ? (ratio * ratio) >> 20 : (ratio >> 6) - 64u;
    }
}
