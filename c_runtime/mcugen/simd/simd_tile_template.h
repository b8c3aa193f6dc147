/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_TILE(MG_PIXELS), the sums of MG_PIXELS pixels and 16 channels for the products of simd_dense.h. The
 * first pixel begins `at` bytes from the start of each row. weights: of these channels. sums: [MG_PIXELS][16]. For a
 * single pixel, reading the weights takes the time, so they are fetched ahead.
 *
 * MG_DEEP is 0, or the groups of taps of a set's deep step, 2 or 4: a deep step loads the taps of each pixel once, and
 * then in as many parts weights that it multiplies with them. An empty assembly keeps the compiler from loading those
 * of further parts ahead, for which there are no registers.
 */
#include "mcugen/simd_each.h"

#define MG_START(r) MG_SIMD_OF(sums) s##r = MG_SIMD_OF(zero)();
#define MG_ADD(r) s##r = MG_SIMD_OF(dot)(s##r, MG_PART(MG_SIMD_OF(taps), MG_DATA)(x + r * step), w);
#define MG_END(r) MG_SIMD_OF(store_dots)(sums + r * MG_SIMD_LANES, s##r);
#define MG_TAKE(r) const MG_SIMD_OF(deep_taps) x##r = MG_PART(MG_SIMD_OF(deep_taps), MG_DATA)(x + r * step);
#define MG_LOAD(part)   \
    __asm__ volatile(""); \
    w = MG_PART(MG_SIMD_OF(deep_load), MG_WEIGHT)(weights, part);
#define MG_ADD_0(r) s##r = MG_SIMD_OF(deep_dot_0)(s##r, x##r, w);
#define MG_ADD_1(r) s##r = MG_SIMD_OF(deep_dot_1)(s##r, x##r, w);
#define MG_ADD_2(r) s##r = MG_SIMD_OF(deep_dot_2)(s##r, x##r, w);
#define MG_ADD_3(r) s##r = MG_SIMD_OF(deep_dot_3)(s##r, x##r, w);

static MG_TARGET void MG_TILE(MG_PIXELS)(const mg_simd_dense *p, const uint8_t *const *rows, size_t at,
                                         const MG_SCALAR *weights, int32_t *sums)
{
    const size_t step = p->step, gap = p->gap;
#if MG_DEEP
    const uint32_t deep = p->groups / MG_DEEP, groups = p->groups % MG_DEEP;
#else
    const uint32_t groups = p->groups;
#endif
    MG_EACH(MG_START)
    (void)step;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->segments; j += 1u) {
            const uint8_t *x = rows[i] + at + j * gap;
#if MG_DEEP
            for (uint32_t k = 0u; k < deep; k += 1u) {
                MG_SIMD_OF(deep_weights) w;
                MG_EACH(MG_TAKE)
                MG_LOAD(0)
                MG_EACH(MG_ADD_0)
                MG_LOAD(1)
                MG_EACH(MG_ADD_1)
#if MG_DEEP == 4
                MG_LOAD(2)
                MG_EACH(MG_ADD_2)
                MG_LOAD(3)
                MG_EACH(MG_ADD_3)
#endif
                x += MG_DEEP * MG_SIMD_TAPS;
                weights += MG_DEEP * MG_SIMD_LANES * MG_SIMD_TAPS;
            }
#endif
            for (uint32_t k = 0u; k < groups; k += 1u) {
                const MG_SIMD_OF(weights) w = MG_PART(MG_SIMD_OF(load), MG_WEIGHT)(weights);
#if MG_PIXELS == 1
                mg_simd_fetch(weights);
#endif
                MG_EACH(MG_ADD)
                x += MG_SIMD_TAPS;
                weights += MG_SIMD_LANES * MG_SIMD_TAPS;
            }
        }
    }
    MG_EACH(MG_END)
}

#undef MG_START
#undef MG_ADD
#undef MG_END
#undef MG_TAKE
#undef MG_LOAD
#undef MG_ADD_0
#undef MG_ADD_1
#undef MG_ADD_2
#undef MG_ADD_3
