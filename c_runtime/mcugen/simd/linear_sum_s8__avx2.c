/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * avx2 -> neon, x86 -> arm
 */
#include "mcugen/linear_sum_s8__avx2.h"

#include "mcugen/simd_plain.h"

#if MG_HAS_X86
#include "mcugen/simd_avx2.h"
#endif

void mg_linear_sum_s8__avx2(const mg_linear_sum_s8__avx2_params *p, const int8_t *a, const int8_t *b, int8_t *out,
                            uint32_t n)
{
#if MG_HAS_X86
    if (mg_simd_set() >= MG_SIMD_AVX2) {
        mg_avx2_add(&p->sum, a, b, out, n);
        return;
    }
#endif
    mg_plain_add(&p->sum, a, b, out, n);
}
