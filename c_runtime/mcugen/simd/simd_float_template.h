/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(dense_f32), the products of simd_floats.h with the set MG_SET, in tiles of 6, 4 and 2 times
 * MG_UNIT pixels; with MG_DEEP 1, see simd_float_tile_template.h, of 4 and 2 alone.
 */
#define MG_TILE(pixels) MG_PART(MG_SIMD_OF(tile), pixels)
#define MG_VECTOR(blocks) MG_PART(MG_SIMD_OF(vector), blocks)

#define MG_PIXELS 1
#define MG_BLOCKS 1
#include "mcugen/simd_float_tile_template.h"
#undef MG_BLOCKS
#define MG_BLOCKS 2
#include "mcugen/simd_float_tile_template.h"
#undef MG_BLOCKS
#define MG_BLOCKS 4
#include "mcugen/simd_float_tile_template.h"
#undef MG_BLOCKS
#undef MG_PIXELS
#if MG_UNIT == 2
#define MG_PIXELS 12
#include "mcugen/simd_float_tile_template.h"
#undef MG_PIXELS
#define MG_PIXELS 8
#include "mcugen/simd_float_tile_template.h"
#undef MG_PIXELS
#else
#define MG_PIXELS 6
#include "mcugen/simd_float_tile_template.h"
#undef MG_PIXELS
#define MG_PIXELS 2
#include "mcugen/simd_float_tile_template.h"
#undef MG_PIXELS
#endif
#define MG_PIXELS 4
#include "mcugen/simd_float_tile_template.h"
#undef MG_PIXELS

#if MG_UNIT == 2
#define MG_LARGE MG_TILE(12)
#define MG_MIDDLE MG_TILE(8)
#define MG_SMALL MG_TILE(4)
#else
#define MG_LARGE MG_TILE(6)
#define MG_MIDDLE MG_TILE(4)
#define MG_SMALL MG_TILE(2)
#endif

/* One pixel: four, two or one blocks of channels at a time. */
static MG_TARGET void MG_SIMD_OF(pixel)(const mg_simd_floats *p, const mg_f32 *const *rows, size_t at,
                                       const mg_f32 *start, mg_f32 *out)
{
    const size_t scalars = (size_t)p->kernel_h * p->segments * p->taps * MG_SIMD_LANES;
    const uint32_t fours = p->tiles & ~3u, twos = p->tiles & ~1u;
    for (uint32_t t = 0u; t < fours; t += 4u) {
        const uint32_t o = t * MG_SIMD_LANES;
        MG_VECTOR(4)(p, rows, at, p->weights + t * scalars, start + o, out + o, mg_simd_lanes(p, t + 3u));
    }
    for (uint32_t t = fours; t < twos; t += 2u) {
        const uint32_t o = t * MG_SIMD_LANES;
        MG_VECTOR(2)(p, rows, at, p->weights + t * scalars, start + o, out + o, mg_simd_lanes(p, t + 1u));
    }
    for (uint32_t t = twos; t < p->tiles; t += 1u) {
        const uint32_t o = t * MG_SIMD_LANES;
        MG_VECTOR(1)(p, rows, at, p->weights + t * scalars, start + o, out + o, mg_simd_lanes(p, t));
    }
}

/* n pixels, at least two of the smallest tiles' size, and one block of channels. Tiles may overlap: they write the same
 * results again. */
static MG_TARGET void MG_SIMD_OF(pixels)(const mg_simd_floats *p, const mg_f32 *const *rows, size_t at, uint32_t n,
                                        const mg_f32 *start, size_t apart, mg_f32 *out, uint32_t t)
{
    const uint32_t units = (n + MG_UNIT - 1u) / MG_UNIT, least = n < 4u * MG_UNIT ? 2u * MG_UNIT : 4u * MG_UNIT;
    const uint32_t sixes = MG_DEEP || n < 6u * MG_UNIT ? 0u : 2u * (units / 12u) + mg_simd_sixes[units % 12u];
    const uint32_t first = sixes * 6u * MG_UNIT < n ? sixes * 6u * MG_UNIT : n;
    const mg_f32 *const weights = p->weights + (size_t)t * p->kernel_h * p->segments * p->taps * MG_SIMD_LANES;
    const uint32_t o = t * MG_SIMD_LANES, lanes = mg_simd_lanes(p, t);
    for (uint32_t i = 0u; i < sixes; i += 1u) {
        const uint32_t x = i + 1u < sixes || first < n ? i * 6u * MG_UNIT : n - 6u * MG_UNIT;
        MG_LARGE(p, rows, at + (size_t)x * p->step, weights, start + x * apart + o, apart,
                 out + (size_t)x * p->out_c + o, lanes);
    }
    for (uint32_t i = first; i < n; i += least) {
        const uint32_t x = i + least <= n ? i : n - least;
        if (least == 4u * MG_UNIT) {
            MG_MIDDLE(p, rows, at + (size_t)x * p->step, weights, start + x * apart + o, apart,
                      out + (size_t)x * p->out_c + o, lanes);
        } else {
            MG_SMALL(p, rows, at + (size_t)x * p->step, weights, start + x * apart + o, apart,
                     out + (size_t)x * p->out_c + o, lanes);
        }
    }
}

static MG_TARGET void MG_SIMD_OF(dense_f32)(const mg_simd_floats *p, const mg_f32 *const *rows, uint32_t pixels,
                                           const mg_f32 *start, uint32_t apart, mg_f32 *out)
{
    for (uint32_t i = 0u; i < pixels; i += p->block) {
        const uint32_t n = pixels - i < p->block ? pixels - i : p->block;
        const uint32_t tiles = n < 2u * MG_UNIT ? 0u : p->tiles, alone = n < 2u * MG_UNIT ? n : 0u;
        const mg_f32 *const from = start + (size_t)i * apart;
        mg_f32 *const to = out + (size_t)i * p->out_c;
        for (uint32_t t = 0u; t < tiles; t += 1u) {
            MG_SIMD_OF(pixels)(p, rows, (size_t)i * p->step, n, from, apart, to, t);
        }
        for (uint32_t k = 0u; k < alone; k += 1u) {
            MG_SIMD_OF(pixel)(p, rows, (size_t)(i + k) * p->step, from + (size_t)k * apart, to + (size_t)k * p->out_c);
        }
    }
}

#undef MG_TILE
#undef MG_VECTOR
#undef MG_LARGE
#undef MG_MIDDLE
#undef MG_SMALL
