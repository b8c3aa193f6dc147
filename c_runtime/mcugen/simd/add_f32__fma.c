/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_sum_f32.h"

#include "mcugen/simd_scalar.h"

#define MG_SET scalar
#include "mcugen/simd_sum_f32_template.h"
#undef MG_SET

#if MG_HAS_X86
#include "mcugen/simd_fma.h"
#include "mcugen/simd_fma512.h"

#define MG_SET fma
#include "mcugen/simd_sum_f32_template.h"
#undef MG_SET

#define MG_SET fma512
#include "mcugen/simd_sum_f32_template.h"
#undef MG_SET
#elif MG_HAS_ARM
#include "mcugen/simd_fmla.h"

#define MG_SET fmla
#include "mcugen/simd_sum_f32_template.h"
#undef MG_SET
#endif

void mg_add_f32__fma(const mg_simd_sum_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n)
{
#if MG_HAS_X86
    switch (mg_simd_float_set()) {
    case MG_SIMD_FMA512:
        mg_fma512_sum_f32(p, a, b, out, n);
        return;
    case MG_SIMD_FMA:
        mg_fma_sum_f32(p, a, b, out, n);
        return;
    default:
        break;
    }
#elif MG_HAS_ARM
    if (mg_simd_set() >= MG_SIMD_NEON) {
        mg_fmla_sum_f32(p, a, b, out, n);
        return;
    }
#endif
    mg_scalar_sum_f32(p, a, b, out, n);
}
