/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of int8 as the products of simd_dense.h on x86-64 read them.
 */
#ifndef MCUGEN_SIMD_FLIP_H
#define MCUGEN_SIMD_FLIP_H

#include "mcugen/simd_plain.h"

#if MG_HAS_X86
#include "mcugen/simd_avx2.h"
#endif

/* out = in with the top bit of each byte flipped, for n bytes. */
static inline void mg_simd_flip(const int8_t *in, uint8_t *out, uint32_t n)
{
#if MG_HAS_X86
    if (mg_simd_set() >= MG_SIMD_AVX2) {
        mg_avx2_flip(in, out, n);
        return;
    }
#endif
    mg_plain_flip(in, out, n);
}

#endif /* MCUGEN_SIMD_FLIP_H */
