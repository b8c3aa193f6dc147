/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_OF(dense), the products of x86_dense.h with the set MG_SET, up to MG_MOST pixels at a time, at most 8.
 */
#if MG_MOST >= 1
#define MG_PIXELS 1
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 2
#define MG_PIXELS 2
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 3
#define MG_PIXELS 3
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 4
#define MG_PIXELS 4
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 5
#define MG_PIXELS 5
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 6
#define MG_PIXELS 6
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 7
#define MG_PIXELS 7
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif
#if MG_MOST >= 8
#define MG_PIXELS 8
#include "mcugen/x86_tile_template.h"
#undef MG_PIXELS
#endif

/* The sums of n pixels, at most MG_MOST. */
static inline MG_TARGET void MG_OF(tile)(const mg_x86_dense *p, const uint8_t *const *rows, size_t at,
                                         const int8_t *weights, int32_t *sums, uint32_t n)
{
    switch (n) {
#if MG_MOST >= 8
    case 8u:
        MG_OF(tile_8)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 7
    case 7u:
        MG_OF(tile_7)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 6
    case 6u:
        MG_OF(tile_6)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 5
    case 5u:
        MG_OF(tile_5)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 4
    case 4u:
        MG_OF(tile_4)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 3
    case 3u:
        MG_OF(tile_3)(p, rows, at, weights, sums);
        break;
#endif
#if MG_MOST >= 2
    case 2u:
        MG_OF(tile_2)(p, rows, at, weights, sums);
        break;
#endif
    default:
        MG_OF(tile_1)(p, rows, at, weights, sums);
        break;
    }
}

/* Blocks of pixels are as equal as possible. */
static MG_TARGET void MG_OF(dense)(const mg_x86_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out)
{
    const uint32_t blocks = (pixels + MG_MOST - 1u) / MG_MOST;
    const uint32_t size = blocks != 0u ? (pixels + blocks - 1u) / blocks : 1u;
    const size_t bytes = (size_t)p->kernel_h * p->segments * p->groups * MG_X86_LANES * MG_X86_TAPS;
    int32_t sums[MG_MOST * MG_X86_LANES];
    for (uint32_t t = 0u; t < p->tiles; t += 1u) {
        const uint32_t o = t * MG_X86_LANES;
        const uint32_t left = p->out_c - o, channels = left < MG_X86_LANES ? left : MG_X86_LANES;
        for (uint32_t i = 0u; i < pixels; i += size) {
            const uint32_t n = pixels - i < size ? pixels - i : size;
            MG_OF(tile)(p, rows, (size_t)i * p->step, p->weights + t * bytes, sums, n);
            MG_OF(finish)(&p->scale, o, sums, n, out + (size_t)i * p->out_c + o, p->out_c, channels);
        }
    }
}
