/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts integer sums to stored integers. The result is the real number scale * sum, rounded once, computed by a
 * linear function per channel. When the code is generated, this is proved for every sum that can occur.
 *
 *   y = (sum * mult + addend) >> (shift & 63)     addend includes the rounding and the zero point
 *
 * shift       bits 0 to 5: the shift
 *             bit 6: if all shifted-out bits from bit tie_bits on are 0, the real number lies halfway between two y;
 *             the y an even number of steps from the zero point is taken
 *             bit 7: y may leave 32 bits and is bounded first
 * exceptions  pairs (sum, y), channel by channel, for sums for which the formula is wrong; exception_end: per channel,
 *             the end of its pairs
 */
#ifndef MCUGEN_LINE_H
#define MCUGEN_LINE_H

#include "mcugen/runtime.h"

/* y clamped to [-2^30, 2^30]. These bounds are outside the range of every output type, so the clamp that follows gives
 * the same result. */
static inline int32_t mg_within_32_bits(int64_t y)
{
    return y < -0x40000000 ? -0x40000000 : y > 0x40000000 ? 0x40000000 : (int32_t)y;
}

typedef struct {
    const int64_t *addend;
    const int32_t *mult;
    const int32_t *exceptions;
    const uint16_t *exception_end;
    const uint8_t *shift;
    int32_t zero_point, out_min, out_max;
    uint8_t has_exceptions, tie_bits;
} mg_line;

static inline int32_t mg_line_at(const mg_line *line, uint32_t o, int32_t sum)
{
    const int64_t total = (int64_t)sum * line->mult[o] + line->addend[o];
    const uint32_t shift = line->shift[o];
    int32_t y = (int32_t)(total >> (shift & 63u));
    if (shift >= 64u) {
        const uint64_t lost = ((uint64_t)1 << (shift & 63u)) - 1u;
        y = shift < 128u ? y : mg_within_32_bits(total >> (shift & 63u));
        if ((shift & 64u) != 0u) {
            y -= ((uint64_t)total & lost) >> line->tie_bits == 0u ? (y - line->zero_point) & 1 : 0;
        }
    }
    if (line->has_exceptions != 0u) {
        const uint32_t end = line->exception_end[o];
        for (uint32_t k = o == 0u ? 0u : line->exception_end[o - 1u]; k < end; k += 1u) {
            y = line->exceptions[2u * k] == sum ? line->exceptions[2u * k + 1u] : y;
        }
    }
    return mg_clamp(y, line->out_min, line->out_max);
}

#endif /* MCUGEN_LINE_H */
