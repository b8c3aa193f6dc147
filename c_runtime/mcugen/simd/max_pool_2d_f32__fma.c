/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_max_pool_f32.h"

#include "mcugen/pool.h"
#include "mcugen/simd_scalar.h"

#define MG_SET scalar
#include "mcugen/simd_max_pool_f32_template.h"
#undef MG_SET

#if MG_HAS_X86
#include "mcugen/simd_fma.h"
#include "mcugen/simd_fma512.h"

#define MG_SET fma
#include "mcugen/simd_max_pool_f32_template.h"
#undef MG_SET

#define MG_SET fma512
#include "mcugen/simd_max_pool_f32_template.h"
#undef MG_SET
#elif MG_HAS_ARM
#include "mcugen/simd_fmla.h"

#define MG_SET fmla
#include "mcugen/simd_max_pool_f32_template.h"
#undef MG_SET
#endif

void mg_max_pool_2d_f32__fma(const mg_simd_max_pool_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out)
{
#if MG_HAS_X86
    switch (mg_simd_float_set()) {
    case MG_SIMD_FMA512:
        mg_fma512_max_pool_f32(p, rows, y, out);
        return;
    case MG_SIMD_FMA:
        mg_fma_max_pool_f32(p, rows, y, out);
        return;
    default:
        break;
    }
#elif MG_HAS_ARM
    if (mg_simd_set() >= MG_SIMD_NEON) {
        mg_fmla_max_pool_f32(p, rows, y, out);
        return;
    }
#endif
    mg_scalar_max_pool_f32(p, rows, y, out);
}
