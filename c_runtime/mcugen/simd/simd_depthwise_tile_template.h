/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_PAIRS_OF(MG_PIXELS), the sums of MG_PIXELS pixels and 16 channels for simd_depthwise_template.h.
 * taps: for each tap the elements of the row that it reads, of which the first pixel's begin at `at`. sums:
 * [MG_PIXELS][16].
 */
#include "mcugen/simd_each.h"

#define MG_START(r) MG_SIMD_OF(sums) s##r = MG_SIMD_OF(zero)();
#define MG_ADD(r) s##r = MG_PART(MG_SIMD_OF(dot), MG_DATA)(s##r, a + r * step, b + r * step, weights);
#define MG_END(r) MG_SIMD_OF(store_pairs)(sums + r * MG_SIMD_LANES, s##r);

static inline MG_TARGET void MG_PAIRS_OF(MG_PIXELS)(const mg_simd_depthwise_params *p, const MG_ELEMENT *const *taps,
                                                    size_t at, const MG_SCALAR *weights, int32_t *sums)
{
    const size_t step = p->step;
    MG_EACH(MG_START)
    (void)step;
    for (uint32_t k = 0u; k < p->pairs; k += 1u) {
        const MG_ELEMENT *const a = taps[2u * k] + at, *const b = taps[2u * k + 1u] + at;
        MG_EACH(MG_ADD)
        weights += 2u * MG_SIMD_LANES;
    }
    MG_EACH(MG_END)
}

#undef MG_START
#undef MG_ADD
#undef MG_END
