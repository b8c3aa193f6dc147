/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_vector_s8.h"

#include "mcugen/swar_eight.h"

#define MG_SWAR_LINEAR 1u
#define MG_SWAR_FOUR 4u

/* n elements, + 128: by words where they are aligned. */
static void mg_swar_biased(const int8_t *in, uint8_t *to, uint32_t n)
{
    const uint32_t whole = ((uintptr_t)in & 3u) == 0u ? n & ~15u : 0u;
    const mg_u32 *const from = (const mg_u32 *)(const void *)in;
    mg_u32 *const words = (mg_u32 *)(void *)to;
    for (uint32_t k = 0u; k < whole / 4u; k += 4u) {
        words[k] = from[k] ^ 0x80808080u;
        words[k + 1u] = from[k + 1u] ^ 0x80808080u;
        words[k + 2u] = from[k + 2u] ^ 0x80808080u;
        words[k + 3u] = from[k + 3u] ^ 0x80808080u;
    }
    for (uint32_t k = whole; k < n; k += 1u) {
        to[k] = (uint8_t)(in[k] + 128);
    }
}

/* floor((acc * mult + rounding) / 2^shift), less 1 before the last rounding where acc is negative and the kind linear:
 * part by part, as the multiplier has three of 11, 10 and 10 bits, or four of 7, 8, 8 and 8. */
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

/* The outputs of a block, from its sums. Returns the stream after the block; w: after its groups. */
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

void mg_fully_connected_s8__swar(const mg_swar_vector_s8_params *p, const int8_t *in, int8_t *out, void *scratch,
                                 uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const uint32_t *w = p->stream;
        mg_swar_biased(in + i * p->taps, scratch, p->taps);
        for (uint32_t b = 0u; b < p->blocks; b += 1u) {
            uint32_t sums[MG_SWAR_OUTPUTS];
            w = mg_swar_outputs(p, mg_swar_eight(w + 1, scratch, sums, w[0]), sums, out + i * p->outputs);
        }
    }
}
