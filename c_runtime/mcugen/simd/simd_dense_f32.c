/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_floats.h"
#include "mcugen/simd_scalar.h"

#if MG_HAS_X86
#include "mcugen/simd_fma.h"
#include "mcugen/simd_fma512.h"
#elif MG_HAS_ARM
#include "mcugen/simd_fmla.h"
#endif

#define MG_EACH_1(f) f(0)
#define MG_EACH_2(f) MG_EACH_1(f) f(1)
#define MG_EACH_4(f) MG_EACH_2(f) f(2) f(3)
#define MG_EACH_6(f) MG_EACH_4(f) f(4) f(5)
#define MG_EACH_8(f) MG_EACH_6(f) f(6) f(7)
#define MG_EACH_12(f) MG_EACH_8(f) f(8) f(9) f(10) f(11)

/* How many of the largest tiles cover so many units of pixels beside twelves with the least work: the others are tiles
 * of 4 units. */
static const uint8_t mg_simd_sixes[12] = {0u, 0u, 0u, 0u, 0u, 1u, 1u, 0u, 0u, 1u, 1u, 2u};

/* Output channels of block t. */
static inline uint32_t mg_simd_lanes(const mg_simd_floats *p, uint32_t t)
{
    const uint32_t left = p->out_c - t * MG_SIMD_LANES;
    return left < MG_SIMD_LANES ? left : MG_SIMD_LANES;
}

#define MG_DEEP 0
#define MG_SET scalar
#define MG_UNIT 1u
#include "mcugen/simd_float_template.h"
#undef MG_SET
#undef MG_UNIT

#if MG_HAS_X86
#define MG_SET fma
#define MG_UNIT 1u
#include "mcugen/simd_float_template.h"
#undef MG_SET
#undef MG_UNIT

#define MG_SET fma512
#define MG_UNIT 2u
#include "mcugen/simd_float_template.h"
#undef MG_SET
#undef MG_UNIT
#elif MG_HAS_ARM
#undef MG_DEEP
#define MG_DEEP 1
#define MG_SET fmla
#define MG_UNIT 1u
#include "mcugen/simd_float_template.h"
#undef MG_SET
#undef MG_UNIT
#endif
#undef MG_DEEP

MG_LINKAGE void mg_simd_dense_f32(const mg_simd_floats *p, const mg_f32 *const *rows, uint32_t pixels,
                                 const mg_f32 *start, uint32_t apart, mg_f32 *out)
{
#if MG_HAS_X86
    switch (mg_simd_float_set()) {
    case MG_SIMD_FMA512:
        mg_fma512_dense_f32(p, rows, pixels, start, apart, out);
        return;
    case MG_SIMD_FMA:
        mg_fma_dense_f32(p, rows, pixels, start, apart, out);
        return;
    default:
        break;
    }
#elif MG_HAS_ARM
    if (mg_simd_set() >= MG_SIMD_NEON) {
        mg_fmla_dense_f32(p, rows, pixels, start, apart, out);
        return;
    }
#endif
    mg_scalar_dense_f32(p, rows, pixels, start, apart, out);
}
