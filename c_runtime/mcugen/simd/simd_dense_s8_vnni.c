/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_dense_s8_vnni.h"

#define MG_WEIGHT s8
#include "mcugen/simd_dense_sets.h"

#if MG_HAS_X86
#include "mcugen/simd_vnni.h"
#include "mcugen/simd_vnni512.h"

#define MG_SET vnni
#define MG_MOST 6u
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#undef MG_MOST

#define MG_SET vnni512
#define MG_MOST 8u
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#undef MG_MOST
#endif

#undef MG_WEIGHT
#undef MG_DATA
#undef MG_DEEP
#undef MG_BLOCKS

MG_LINKAGE void mg_simd_dense_s8_vnni(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out)
{
#if MG_HAS_X86
    switch (mg_simd_set()) {
    case MG_SIMD_VNNI512:
        mg_vnni512_dense_s8(p, rows, pixels, out);
        return;
    case MG_SIMD_VNNI:
        mg_vnni_dense_s8(p, rows, pixels, out);
        return;
    case MG_SIMD_AVX2:
        mg_avx2_dense_s8(p, rows, pixels, out);
        return;
    default:
        break;
    }
#endif
    mg_plain_dense_s8(p, rows, pixels, out);
}
