/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_dense_s8_dotprod.h"

#include "mcugen/simd_dense_arm_sets.h"

#if MG_HAS_ARM && MG_ARM_KNOWS_DOTPROD
#include "mcugen/simd_dotprod.h"

#define MG_SET dotprod
#define MG_MOST 5u
#define MG_USUAL 4u
#define MG_DEEP 4
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#undef MG_MOST
#undef MG_DEEP
#endif

#undef MG_DATA
#undef MG_WEIGHT
#undef MG_BLOCKS

MG_LINKAGE void mg_simd_dense_s8_dotprod(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels,
                                         int8_t *out)
{
#if MG_HAS_ARM
    const uint32_t set = mg_simd_set();
#if MG_ARM_KNOWS_DOTPROD
    if (set >= MG_SIMD_DOTPROD) {
        mg_dotprod_dense_s8(p, rows, pixels, out);
        return;
    }
#endif
    if (set >= MG_SIMD_NEON) {
        mg_neon_dense_s8(p, rows, pixels, out);
        return;
    }
#endif
    mg_plain_dense_s8(p, rows, pixels, out);
}
