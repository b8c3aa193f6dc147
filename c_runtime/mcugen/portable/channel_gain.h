/* SPDX-License-Identifier: Apache-2.0
 *
 * The gain of a channel, computed from its noise, and the compressed product of signal and gain.
 */
#ifndef MCUGEN_CHANNEL_GAIN_H
#define MCUGEN_CHANNEL_GAIN_H

#include "mcugen/bits.h"

/* The gain for `noise`: for each number of leading zeros of `noise`, 0 to 32, a parabola. gains: three numbers per
 * parabola: value * 2^15 + 2^14, slope * 2^5, bend. Products fit 32 bits; the sum may wrap, and its bits 15 to 30 are
 * the gain. */
static MCUGEN_INLINE int32_t mg_channel_gain(const int32_t *gains, uint32_t noise)
{
    if (noise == 0u) {
        return (int16_t)(gains[3 * 32] >> 15);
    }
    const uint32_t zeros = mg_zeros_above(noise);
    const int32_t *const parabola = gains + 3u * zeros;
    const int32_t place = (int32_t)(((noise << zeros) >> 21) & 0x3FFu);
    const int32_t slope = parabola[1] + ((parabola[2] * place) >> 5);
    return (int16_t)((int32_t)((uint32_t)parabola[0] + (uint32_t)(slope * place)) >> 15);
}

/* With s = (x * gain) >> shift, gain as unsigned: s^2 / 2^20 if s < 8192, else s / 64 - 64. */
static MCUGEN_INLINE uint32_t mg_with_gain(uint32_t x, int32_t gain, uint32_t shift)
{
    uint32_t ratio;
    if (MG_LONG_PRODUCTS || gain < 0) {
        ratio = (uint32_t)(((uint64_t)x * (uint32_t)gain) >> shift);
    } else {
        ratio = mg_scaled_part(x, (uint32_t)gain, shift);
    }
    return ratio < 8192u ? (ratio * ratio) >> 20 : (ratio >> 6) - 64u;
}

#endif /* MCUGEN_CHANNEL_GAIN_H */
