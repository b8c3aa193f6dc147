/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(dense)_<MG_WEIGHT>, the products of simd_dense.h with the set MG_SET and weights of the type
 * MG_WEIGHT on data of the type MG_DATA, up to MG_MOST pixels at a time, at most 8. MG_BLOCKS blocks of pixels are
 * finished together. MG_DEEP: see simd_tile_template.h. MG_USUAL, where it is defined: most pixels of a block, unless
 * there are MG_MOST pixels in all.
 */
#define MG_SCALAR MG_PART(mg_simd_weight, MG_WEIGHT)
#define MG_TILES MG_PART(MG_SIMD_OF(tile), MG_WEIGHT)
#define MG_TILE(pixels) MG_PART(MG_TILES, pixels)
#define MG_DENSE MG_PART(MG_SIMD_OF(dense), MG_WEIGHT)
#ifndef MG_USUAL
#define MG_USUAL MG_MOST
#endif

#define MG_PIXELS 1
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#if MG_MOST >= 2
#define MG_PIXELS 2
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 3
#define MG_PIXELS 3
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 4
#define MG_PIXELS 4
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 5
#define MG_PIXELS 5
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 6
#define MG_PIXELS 6
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 7
#define MG_PIXELS 7
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 8
#define MG_PIXELS 8
#include "mcugen/simd_tile_template.h"
#undef MG_PIXELS
#endif

/* The sums of n pixels, at most MG_MOST. */
static inline MG_TARGET void MG_TILES(const mg_simd_dense *p, const uint8_t *const *rows, size_t at,
                                      const MG_SCALAR *weights, int32_t *sums, uint32_t n)
{
    switch (n) {
#if MG_MOST >= 8
    case 8u:
        MG_TILE(8)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 7
    case 7u:
        MG_TILE(7)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 6
    case 6u:
        MG_TILE(6)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 5
    case 5u:
        MG_TILE(5)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 4
    case 4u:
        MG_TILE(4)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 3
    case 3u:
        MG_TILE(3)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 2
    case 2u:
        MG_TILE(2)(p, rows, at, weights, sums);
        break;
#endif
    default:
        MG_TILE(1)(p, rows, at, weights, sums);
        break;
    }
}

/* Blocks of pixels are as equal as possible. */
static MG_TARGET void MG_DENSE(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out)
{
    const uint32_t blocks = (pixels + MG_USUAL - 1u) / MG_USUAL;
    const uint32_t equal = blocks != 0u ? (pixels + blocks - 1u) / blocks : 1u;
    const uint32_t size = pixels == MG_MOST ? pixels : equal;
    const size_t scalars = (size_t)p->kernel_h * p->segments * p->groups * MG_SIMD_LANES * MG_SIMD_TAPS;
    const MG_SCALAR *const weights = p->weights;
    const uint32_t most = size * MG_BLOCKS;
    int32_t sums[MG_MOST * MG_BLOCKS * MG_SIMD_LANES];
    for (uint32_t t = 0u; t < p->tiles; t += 1u) {
        const uint32_t o = t * MG_SIMD_LANES;
        const uint32_t left = p->out_c - o, channels = left < MG_SIMD_LANES ? left : MG_SIMD_LANES;
        for (uint32_t i = 0u; i < pixels; i += most) {
            const uint32_t n = pixels - i < most ? pixels - i : most;
            for (uint32_t j = 0u; j < n; j += size) {
                const uint32_t some = n - j < size ? n - j : size;
                MG_TILES(p, rows, (size_t)(i + j) * p->step, weights + t * scalars, sums + j * MG_SIMD_LANES, some);
            }
            MG_SIMD_OF(finish)(&p->scale, o, sums, n, out + (size_t)i * p->out_c + o, p->out_c, channels);
        }
    }
}

#undef MG_SCALAR
#undef MG_TILES
#undef MG_TILE
#undef MG_DENSE
#undef MG_USUAL
