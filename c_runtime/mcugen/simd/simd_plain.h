/* SPDX-License-Identifier: Apache-2.0
 *
 * The vector operations of these kernels in plain C: the meaning of those of the other sets.
 */
#ifndef MCUGEN_SIMD_PLAIN_H
#define MCUGEN_SIMD_PLAIN_H

#include "mcugen/filter.h"
#include "mcugen/simd.h"

/* Sums of 16 channels. */
typedef struct {
    int32_t at[MG_SIMD_LANES];
} mg_plain_sums;

/* Weights of 16 channels and four taps: [16][4]. */
typedef struct {
    int16_t at[MG_SIMD_LANES * MG_SIMD_TAPS];
} mg_plain_weights;

/* Four taps of a pixel. */
typedef struct {
    int16_t at[MG_SIMD_TAPS];
} mg_plain_taps;

/* Bytes in memory, for operands of instructions that load them. */
typedef struct {
    uint8_t at[4];
} MCUGEN_MAY_ALIAS mg_4_bytes;

#define MG_TARGET_plain

static inline mg_plain_sums mg_plain_zero(void)
{
    mg_plain_sums s;
    for (uint32_t c = 0u; c < MG_SIMD_LANES; c += 1u) {
        s.at[c] = 0;
    }
    return s;
}

static inline mg_plain_weights mg_plain_load_s8(const int8_t *w)
{
    mg_plain_weights found;
    for (uint32_t k = 0u; k < MG_SIMD_LANES * MG_SIMD_TAPS; k += 1u) {
        found.at[k] = w[k];
    }
    return found;
}

static inline mg_plain_weights mg_plain_load_s8w16(const int16_t *w)
{
    mg_plain_weights found;
    (void)memcpy(found.at, w, sizeof(found.at));
    return found;
}

/* Four taps: unsigned bytes, with the top bit of stored values flipped. */
static inline mg_plain_taps mg_plain_taps_u8(const uint8_t *x)
{
    const mg_plain_taps found = {{x[0], x[1], x[2], x[3]}};
    return found;
}

/* Four taps: stored values. */
static inline mg_plain_taps mg_plain_taps_s8(const uint8_t *x)
{
    const mg_plain_taps found = {{(int8_t)x[0], (int8_t)x[1], (int8_t)x[2], (int8_t)x[3]}};
    return found;
}

/* sums + the products of four taps with the weights of each channel */
static inline mg_plain_sums mg_plain_dot(mg_plain_sums s, mg_plain_taps x, mg_plain_weights w)
{
    for (uint32_t c = 0u; c < MG_SIMD_LANES; c += 1u) {
        int32_t sum = 0;
        for (uint32_t k = 0u; k < MG_SIMD_TAPS; k += 1u) {
            sum += x.at[k] * w.at[MG_SIMD_TAPS * c + k];
        }
        s.at[c] = (int32_t)((uint32_t)s.at[c] + (uint32_t)sum);
    }
    return s;
}

/* sums + a * the first weight + b * the second weight of each channel. a, b: 16 channels; w: the weights of channels
 * 0 to 3 and 8 to 11, then those of the other channels, both weights of a channel side by side. */
static inline mg_plain_sums mg_plain_dot_s16(mg_plain_sums s, const mg_s16 *a, const mg_s16 *b, const int16_t *w)
{
    for (uint32_t c = 0u; c < MG_SIMD_LANES; c += 1u) {
        const uint32_t at = (c >> 2 & 1u) * 16u + (c >> 3) * 8u + (c & 3u) * 2u;
        s.at[c] = (int32_t)((uint32_t)s.at[c] + (uint32_t)(a[c] * w[at]) + (uint32_t)(b[c] * w[at + 1u]));
    }
    return s;
}

/* sums + a * the first weight + b * the second weight of each channel, on bytes. w: the first weights of 16 channels,
 * then the second ones. */
static inline mg_plain_sums mg_plain_dot_s8(mg_plain_sums s, const int8_t *a, const int8_t *b, const int8_t *w)
{
    for (uint32_t c = 0u; c < MG_SIMD_LANES; c += 1u) {
        s.at[c] = (int32_t)((uint32_t)s.at[c] + (uint32_t)(a[c] * w[c] + b[c] * w[MG_SIMD_LANES + c]));
    }
    return s;
}

static inline void mg_plain_store_dots(int32_t *to, mg_plain_sums s)
{
    (void)memcpy(to, s.at, sizeof(s.at));
}

/* The 16 sums that mg_plain_dot_s16 added up; mg_plain_store_dots stores those of mg_plain_dot. */
static inline void mg_plain_store_pairs(int32_t *to, mg_plain_sums s)
{
    (void)memcpy(to, s.at, sizeof(s.at));
}

/* out = in with the top bit of each byte flipped, for n bytes. */
static inline void mg_plain_flip(const int8_t *in, uint8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (uint8_t)((uint8_t)in[i] ^ 0x80u);
    }
}

/* out = in - zero, for n bytes. */
static inline void mg_plain_widen(const int8_t *in, mg_s16 *out, int32_t zero, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)(in[i] - zero);
    }
}

/* The outputs of channels o to o + n - 1, at most 16, for the sums [pixels][16]. pitch: from one pixel's outputs to the
 * next's. */
static inline void mg_plain_finish(const mg_simd_scale *p, uint32_t o, const int32_t *sums, uint32_t pixels,
                                   int8_t *out, uint32_t pitch, uint32_t n)
{
    for (uint32_t i = 0u; i < pixels; i += 1u) {
        for (uint32_t c = 0u; c < n; c += 1u) {
            const int32_t sum = (int32_t)((uint32_t)sums[i * MG_SIMD_LANES + c] + (uint32_t)p->bias[o + c]);
            const int32_t shift = -(int32_t)p->right[o + c], mult = p->mult[o + c];
            const int32_t y = p->once != 0u ? mg_requantize_away(sum, mult, shift)
                                            : mg_requantize_right(sum, mult, shift);
            out[i * pitch + c] = (int8_t)mg_clamp(y + p->zero_point, p->low, p->high);
        }
    }
}

/* out = clamp((p->a * a + p->b * b + p->addend) / 2^21), rounded down, for n elements; out may be a or b. */
static inline void mg_plain_add(const mg_simd_sum *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int8_t)mg_clamp((p->addend + a[i] * p->a + b[i] * p->b) >> 21, p->low, p->high);
    }
}

#endif /* MCUGEN_SIMD_PLAIN_H */
