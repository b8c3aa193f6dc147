/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(depthwise), a row of the convolution of simd_depthwise.h with the set MG_SET, up to MG_MOST
 * pixels at a time, 1 or 4.
 */
#define MG_TOGETHER 4u

#define MG_PIXELS 1
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#if MG_MOST >= 4
#define MG_PIXELS 2
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#define MG_PIXELS 3
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#define MG_PIXELS 4
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#endif

/* The sums of n pixels, at most MG_TOGETHER. */
static inline MG_TARGET void MG_SIMD_OF(pairs)(const mg_simd_depthwise_params *p, const mg_s16 *const *taps, size_t at,
                                               const int16_t *weights, int32_t *sums, uint32_t n)
{
#if MG_MOST >= 4
    switch (n) {
    case 4u:
        MG_SIMD_OF(pairs_4)(p, taps, at, weights, sums);
        break;
    case 3u:
        MG_SIMD_OF(pairs_3)(p, taps, at, weights, sums);
        break;
    case 2u:
        MG_SIMD_OF(pairs_2)(p, taps, at, weights, sums);
        break;
    default:
        MG_SIMD_OF(pairs_1)(p, taps, at, weights, sums);
        break;
    }
#else
    for (uint32_t j = 0u; j < n; j += 1u) {
        MG_SIMD_OF(pairs_1)(p, taps, at + (size_t)j * p->step, weights, sums + j * MG_SIMD_LANES);
    }
#endif
}

/* Blocks of pixels are as equal as possible. */
static MG_TARGET void MG_SIMD_OF(depthwise)(const mg_simd_depthwise_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const uint32_t blocks = (p->pixels + MG_TOGETHER - 1u) / MG_TOGETHER;
    const uint32_t size = blocks != 0u ? (p->pixels + blocks - 1u) / blocks : 1u;
    const mg_s16 *taps[2u * MG_SIMD_MOST_PAIRS];
    int32_t sums[MG_TOGETHER * MG_SIMD_LANES];
    for (uint32_t k = 0u; k < 2u * p->pairs; k += 1u) {
        taps[k] = rows[p->taps[k] & 0xFFu] + (p->taps[k] >> 8);
    }
    for (uint32_t t = 0u; t < p->tiles; t += 1u) {
        const int16_t *const weights = p->weights + (size_t)t * p->pairs * 2u * MG_SIMD_LANES;
        const uint32_t o = t * MG_SIMD_LANES;
        const uint32_t left = p->channels - o, channels = left < MG_SIMD_LANES ? left : MG_SIMD_LANES;
        for (uint32_t i = 0u; i < p->pixels; i += size) {
            const uint32_t n = p->pixels - i < size ? p->pixels - i : size;
            MG_SIMD_OF(pairs)(p, taps, (size_t)i * p->step + o, weights, sums, n);
            MG_SIMD_OF(finish)(&p->scale, o, sums, n, out + (size_t)i * p->channels + o, p->channels, channels);
        }
    }
}

#undef MG_TOGETHER
