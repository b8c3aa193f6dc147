/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/x86_dense_s8_vnni.h"

#define MG_WEIGHT s8
#include "mcugen/x86_dense_sets.h"

#if MG_HAS_X86
#include "mcugen/x86_vnni.h"
#include "mcugen/x86_vnni512.h"

#define MG_SET vnni
#define MG_MOST 6u
#include "mcugen/x86_dense_template.h"
#undef MG_SET
#undef MG_MOST

#define MG_SET vnni512
#define MG_MOST 8u
#include "mcugen/x86_dense_template.h"
#undef MG_SET
#undef MG_MOST
#endif

#undef MG_WEIGHT

MG_LINKAGE void mg_x86_dense_s8_vnni(const mg_x86_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out)
{
#if MG_HAS_X86
    switch (mg_x86_set()) {
    case MG_X86_VNNI512:
        mg_vnni512_dense_s8(p, rows, pixels, out);
        return;
    case MG_X86_VNNI:
        mg_vnni_dense_s8(p, rows, pixels, out);
        return;
    case MG_X86_AVX2:
        mg_avx2_dense_s8(p, rows, pixels, out);
        return;
    default:
        break;
    }
#endif
    mg_plain_dense_s8(p, rows, pixels, out);
}
