/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * avx2 -> neon, x86 -> arm
 */
#include "mcugen/simd_depthwise.h"
#include "mcugen/simd_plain.h"

#define MG_DATA s16

#define MG_SET plain
#define MG_MOST 1u
#include "mcugen/simd_depthwise_template.h"
#undef MG_SET
#undef MG_MOST

#if MG_HAS_X86
#include "mcugen/simd_avx2.h"
#define MG_SET avx2
#define MG_MOST MG_PIXELS_avx2
#include "mcugen/simd_depthwise_template.h"
#undef MG_SET
#undef MG_MOST
#endif

#undef MG_DATA

static void mg_simd_widened(const mg_simd_depthwise_params *p, const int8_t *in, mg_s16 *out)
{
#if MG_HAS_X86
    if (mg_simd_set() >= MG_SIMD_AVX2) {
        mg_avx2_widen(in, out, p->zero_point, p->in_len);
        return;
    }
#endif
    mg_plain_widen(in, out, p->zero_point, p->in_len);
}

void mg_depthwise_conv2d_s8__avx2_row(const mg_simd_depthwise_params *p, const int8_t *in, mg_s16 *row)
{
    if (in == NULL) {
        (void)memset(row, 0, p->row_len * sizeof(*row));
        return;
    }
    const uint32_t end = p->before + p->in_len;
    (void)memset(row, 0, p->before * sizeof(*row));
    mg_simd_widened(p, in, row + p->before);
    (void)memset(row + end, 0, (p->row_len - end) * sizeof(*row));
}

void mg_depthwise_conv2d_s8__avx2(const mg_simd_depthwise_params *p, const mg_s16 *const *rows, int8_t *out)
{
#if MG_HAS_X86
    if (mg_simd_set() >= MG_SIMD_AVX2) {
        mg_avx2_depthwise_s16(p, rows, out);
        return;
    }
#endif
    mg_plain_depthwise_s16(p, rows, out);
}
