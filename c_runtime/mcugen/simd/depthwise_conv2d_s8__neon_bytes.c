/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_copy.h"
#include "mcugen/simd_depthwise.h"
#include "mcugen/simd_plain.h"

#define MG_DATA s8

#define MG_SET plain
#define MG_MOST 1u
#include "mcugen/simd_depthwise_template.h"
#undef MG_SET
#undef MG_MOST

#if MG_HAS_ARM
#include "mcugen/simd_neon.h"

#define MG_SET neon
#define MG_MOST MG_PIXELS_neon
#include "mcugen/simd_depthwise_template.h"
#undef MG_SET
#undef MG_MOST
#endif

#undef MG_DATA

void mg_depthwise_conv2d_s8__neon_bytes_row(const mg_simd_depthwise_params *p, const int8_t *in, int8_t *row)
{
    if (in == NULL) {
        (void)memset(row, p->zero_point, p->row_len);
        return;
    }
    const uint32_t end = p->before + p->in_len;
    (void)memset(row, p->zero_point, p->before);
    (void)memcpy(row + p->before, in, p->in_len);
    (void)memset(row + end, p->zero_point, p->row_len - end);
}

void mg_depthwise_conv2d_s8__neon_bytes(const mg_simd_depthwise_params *p, const int8_t *const *rows, int8_t *out)
{
#if MG_HAS_ARM
    if (mg_simd_set() >= MG_SIMD_NEON) {
        mg_neon_depthwise_s8(p, rows, out);
        return;
    }
#endif
    mg_plain_depthwise_s8(p, rows, out);
}
