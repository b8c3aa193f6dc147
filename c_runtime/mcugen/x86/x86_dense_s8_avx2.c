/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s8w16
 */
#include "mcugen/x86_dense_s8_avx2.h"
#include "mcugen/x86_plain.h"

#define MG_WEIGHT s8

#define MG_SET plain
#define MG_MOST 1u
#include "mcugen/x86_dense_template.h"
#undef MG_SET
#undef MG_MOST

#if MG_HAS_X86
#include "mcugen/x86_avx2.h"
#define MG_SET avx2
#define MG_MOST 4u
#include "mcugen/x86_dense_template.h"
#undef MG_SET
#undef MG_MOST
#endif

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

MG_LINKAGE void mg_x86_flip_s8_avx2(const int8_t *in, uint8_t *out, uint32_t n)
{
#if MG_HAS_X86
    if (mg_x86_set() >= MG_X86_AVX2) {
        mg_avx2_flip(in, out, n);
        return;
    }
#endif
    mg_plain_flip(in, out, n);
}
