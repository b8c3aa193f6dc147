/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(depthwise)_<MG_DATA>, a row of the convolution of simd_depthwise.h with the set MG_SET, up to
 * MG_MOST pixels at a time, 1 or 5. MG_DATA: s16 or s8, of the elements of rows and of the weights.
 */
#define MG_TOGETHER 5u
#define MG_FINISHED 4u
#define MG_ELEMENT MG_PART(mg_simd_element, MG_DATA)
#define MG_SCALAR MG_PART(mg_simd_tap, MG_DATA)
#define MG_PAIRS MG_PART(MG_SIMD_OF(pairs), MG_DATA)
#define MG_PAIRS_OF(pixels) MG_PART(MG_PAIRS, pixels)
#define MG_DEPTHWISE MG_PART(MG_SIMD_OF(depthwise), MG_DATA)

#define MG_PIXELS 1
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#if MG_MOST >= 5
#define MG_PIXELS 2
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#define MG_PIXELS 3
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#define MG_PIXELS 4
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#define MG_PIXELS 5
#include "mcugen/simd_depthwise_tile_template.h"
#undef MG_PIXELS
#endif

/* The sums of n pixels, at most MG_TOGETHER. */
static inline MG_TARGET void MG_PAIRS(const mg_simd_depthwise_params *p, const MG_ELEMENT *const *taps, size_t at,
                                      const MG_SCALAR *weights, int32_t *sums, uint32_t n)
{
#if MG_MOST >= 5
    switch (n) {
    case 5u:
        MG_PAIRS_OF(5)(p, taps, at, weights, sums);
        break;
    case 4u:
        MG_PAIRS_OF(4)(p, taps, at, weights, sums);
        break;
    case 3u:
        MG_PAIRS_OF(3)(p, taps, at, weights, sums);
        break;
    case 2u:
        MG_PAIRS_OF(2)(p, taps, at, weights, sums);
        break;
    default:
        MG_PAIRS_OF(1)(p, taps, at, weights, sums);
        break;
    }
#else
    for (uint32_t j = 0u; j < n; j += 1u) {
        MG_PAIRS_OF(1)(p, taps, at + (size_t)j * p->step, weights, sums + j * MG_SIMD_LANES);
    }
#endif
}

/* Blocks of pixels are as equal as possible; MG_FINISHED of them are finished together. */
static MG_TARGET void MG_DEPTHWISE(const mg_simd_depthwise_params *p, const MG_ELEMENT *const *rows, int8_t *out)
{
    const uint32_t blocks = (p->pixels + MG_TOGETHER - 1u) / MG_TOGETHER;
    const uint32_t size = blocks != 0u ? (p->pixels + blocks - 1u) / blocks : 1u, most = size * MG_FINISHED;
    const MG_SCALAR *const all = p->weights;
    const MG_ELEMENT *taps[2u * MG_SIMD_MOST_PAIRS];
    int32_t sums[MG_FINISHED * MG_TOGETHER * MG_SIMD_LANES];
    for (uint32_t k = 0u; k < 2u * p->pairs; k += 1u) {
        taps[k] = rows[p->taps[k] & 0xFFu] + (p->taps[k] >> 8);
    }
    for (uint32_t t = 0u; t < p->tiles; t += 1u) {
        const MG_SCALAR *const weights = all + (size_t)t * p->pairs * 2u * MG_SIMD_LANES;
        const uint32_t o = t * MG_SIMD_LANES;
        const uint32_t left = p->channels - o, channels = left < MG_SIMD_LANES ? left : MG_SIMD_LANES;
        for (uint32_t i = 0u; i < p->pixels; i += most) {
            const uint32_t n = p->pixels - i < most ? p->pixels - i : most;
            for (uint32_t j = 0u; j < n; j += size) {
                const uint32_t some = n - j < size ? n - j : size;
                MG_PAIRS(p, taps, (size_t)(i + j) * p->step + o, weights, sums + j * MG_SIMD_LANES, some);
            }
            MG_SIMD_OF(finish)(&p->scale, o, sums, n, out + (size_t)i * p->channels + o, p->channels, channels);
        }
    }
}

#undef MG_TOGETHER
#undef MG_FINISHED
#undef MG_ELEMENT
#undef MG_SCALAR
#undef MG_PAIRS
#undef MG_PAIRS_OF
#undef MG_DEPTHWISE
