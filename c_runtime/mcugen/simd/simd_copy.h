/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of int8 as the products of simd_dense.h on 64-bit Arm read them: as they are.
 */
#ifndef MCUGEN_SIMD_COPY_H
#define MCUGEN_SIMD_COPY_H

#include "mcugen/simd.h"

static inline void mg_simd_copy(const int8_t *in, uint8_t *out, uint32_t n)
{
    (void)memcpy(out, in, n);
}

#endif /* MCUGEN_SIMD_COPY_H */
