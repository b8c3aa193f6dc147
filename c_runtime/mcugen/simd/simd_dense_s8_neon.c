/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_dense_s8_neon.h"

#include "mcugen/simd_dense_arm_sets.h"

#undef MG_DATA
#undef MG_WEIGHT
#undef MG_BLOCKS

MG_LINKAGE void mg_simd_dense_s8_neon(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out)
{
#if MG_HAS_ARM
    if (mg_simd_set() >= MG_SIMD_NEON) {
        mg_neon_dense_s8(p, rows, pixels, out);
        return;
    }
#endif
    mg_plain_dense_s8(p, rows, pixels, out);
}
