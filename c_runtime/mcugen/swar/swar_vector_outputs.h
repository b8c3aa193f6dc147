/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales the sums of swar_eight.h to the outputs of a block.
 */
#include "mcugen/swar_eight.h"
#include "mcugen/swar_vector_s8.h"

#define MG_SWAR_LINEAR 1u
#define MG_SWAR_FOUR 4u

/* floor((acc * mult + rounding) / 2^shift). If acc is negative and the kind is linear, 1 is subtracted before the last
 * rounding. The product is computed part by part: the multiplier is in three parts of 11, 10 and 10 bits, or in four of
 * 7, 8, 8 and 8. */
static inline int32_t mg_swar_scaled(const uint32_t *q, uint32_t kind, int32_t acc)
{
    const int32_t below = (kind & MG_SWAR_LINEAR) != 0u ? acc >> 31 : 0;
    if ((kind & MG_SWAR_FOUR) != 0u) {
        const int32_t second = (((acc * (int32_t)q[0]) >> 8) + acc * (int32_t)q[1]) >> 8;
        const int32_t third = ((second + acc * (int32_t)q[2]) >> 8) + below * 128;
        return (third + acc * (int32_t)q[3] + (int32_t)q[4]) >> q[5];
    }
    const int32_t second = ((((acc * (int32_t)q[0]) >> 10) + acc * (int32_t)q[1]) >> 10) + below * 2048;
    return (second + acc * (int32_t)q[2] + (int32_t)q[4]) >> q[3];
}

/* Stores the outputs of a block. w: the stream behind the block's groups. Returns the stream behind the block. */
static const uint32_t *mg_swar_outputs(const mg_swar_vector_s8_params *p, const uint32_t *w, uint32_t *sums, int8_t *out)
{
    const uint32_t *q = w;
    const uint32_t outputs = w[-5], kind = w[-4], size = (kind & MG_SWAR_FOUR) != 0u ? 6u : 5u;
    for (uint32_t k = 0u; k < MG_SWAR_OUTPUTS; k += 2u) {
        sums[k] -= sums[k + 1u] << 16;
    }
    for (uint32_t k = 0u; k < outputs; k += 1u) {
        const int32_t y = mg_swar_scaled(q, kind, (int32_t)sums[k]);
        out[q[size]] = (int8_t)(mg_clamp(y, 0, (int32_t)p->out_span) + p->out_min);
        q += size + 1u;
    }
    return q;
}
