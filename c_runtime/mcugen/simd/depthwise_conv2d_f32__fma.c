/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_depthwise_f32.h"
#include "mcugen/simd_float_rows.h"
#include "mcugen/simd_scalar.h"

#define MG_SET scalar
#include "mcugen/simd_depthwise_f32_template.h"
#undef MG_SET

#if MG_HAS_X86
#include "mcugen/simd_fma.h"
#include "mcugen/simd_fma512.h"

#define MG_SET fma
#include "mcugen/simd_depthwise_f32_template.h"
#undef MG_SET

#define MG_SET fma512
#include "mcugen/simd_depthwise_f32_template.h"
#undef MG_SET
#elif MG_HAS_ARM
#include "mcugen/simd_fmla.h"

#define MG_SET fmla
#include "mcugen/simd_depthwise_f32_template.h"
#undef MG_SET
#endif

void mg_depthwise_conv2d_f32__fma_row(const mg_simd_depthwise_f32_params *p, const mg_f32 *in, mg_f32 *row)
{
    mg_simd_float_row(in, row, p->before, p->in_len, p->row_len);
}

void mg_depthwise_conv2d_f32__fma(const mg_simd_depthwise_f32_params *p, const mg_f32 *const *rows, mg_f32 *out)
{
#if MG_HAS_X86
    switch (mg_simd_float_set()) {
    case MG_SIMD_FMA512:
        mg_fma512_depthwise_f32(p, rows, out);
        return;
    case MG_SIMD_FMA:
        mg_fma_depthwise_f32(p, rows, out);
        return;
    default:
        break;
    }
#elif MG_HAS_ARM
    if (mg_simd_set() >= MG_SIMD_NEON) {
        mg_fmla_depthwise_f32(p, rows, out);
        return;
    }
#endif
    mg_scalar_depthwise_f32(p, rows, out);
}
