/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s8w16
 */
#include "mcugen/x86_dense_s8_avx2.h"

#define MG_WEIGHT s8
#include "mcugen/x86_dense_sets.h"
#undef MG_WEIGHT

MG_LINKAGE void mg_x86_dense_s8_avx2(const mg_x86_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out)
{
#if MG_HAS_X86
    if (mg_x86_set() >= MG_X86_AVX2) {
        mg_avx2_dense_s8(p, rows, pixels, out);
        return;
    }
#endif
    mg_plain_dense_s8(p, rows, pixels, out);
}
