/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of int8 as the products of x86_dense.h read them.
 */
#ifndef MCUGEN_X86_FLIP_H
#define MCUGEN_X86_FLIP_H

#include "mcugen/x86_plain.h"

#if MG_HAS_X86
#include "mcugen/x86_avx2.h"
#endif

/* out = in with the top bit of each byte flipped, for n bytes. */
static inline void mg_x86_flip(const int8_t *in, uint8_t *out, uint32_t n)
{
#if MG_HAS_X86
    if (mg_x86_set() >= MG_X86_AVX2) {
        mg_avx2_flip(in, out, n);
        return;
    }
#endif
    mg_plain_flip(in, out, n);
}

#endif /* MCUGEN_X86_FLIP_H */
