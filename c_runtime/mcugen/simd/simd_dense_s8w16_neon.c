/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_dense_s8w16_neon.h"

#include "mcugen/simd_plain.h"

#define MG_DATA s8
#define MG_WEIGHT s8w16
#define MG_MOST 1u
#define MG_DEEP 0
#define MG_BLOCKS 8u

#define MG_SET plain
#include "mcugen/simd_dense_template.h"
#undef MG_SET

#if MG_HAS_ARM
#include "mcugen/simd_neon16.h"

#define MG_SET neon16
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#endif

#undef MG_DATA
#undef MG_WEIGHT
#undef MG_MOST
#undef MG_DEEP
#undef MG_BLOCKS

MG_LINKAGE void mg_simd_dense_s8w16_neon(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels,
                                         int8_t *out)
{
#if MG_HAS_ARM
    if (mg_simd_set() >= MG_SIMD_NEON) {
        mg_neon16_dense_s8w16(p, rows, pixels, out);
        return;
    }
#endif
    mg_plain_dense_s8w16(p, rows, pixels, out);
}
