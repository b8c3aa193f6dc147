/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s8w16
 */
#include "mcugen/simd_dense_s8_avx2.h"

#define MG_WEIGHT s8
#include "mcugen/simd_dense_sets.h"
#undef MG_WEIGHT
#undef MG_DATA
#undef MG_DEEP
#undef MG_BLOCKS

MG_LINKAGE void mg_simd_dense_s8_avx2(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out)
{
#if MG_HAS_X86
    if (mg_simd_set() >= MG_SIMD_AVX2) {
        mg_avx2_dense_s8(p, rows, pixels, out);
        return;
    }
#endif
    mg_plain_dense_s8(p, rows, pixels, out);
}
