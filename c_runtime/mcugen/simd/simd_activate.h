/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations of recurrent layers, with vectors where the processor has them: within 4 units of the last place.
 */
#ifndef MCUGEN_SIMD_ACTIVATE_H
#define MCUGEN_SIMD_ACTIVATE_H

#include "mcugen/recurrent_f32.h"
#include "mcugen/simd_floats.h"

#if MG_HAS_X86
#include "mcugen/simd_fma.h"

MG_FMA mg_f32x8 mg_fma_activated(uint32_t kind, float clip, mg_f32x8 x)
{
    const mg_f32x8 bounded = clip > 0.0f ? mg_fma_clamp(x, -clip, clip) : x;
    if (kind == MG_SIGMOID) {
        return mg_fma_sigmoid(bounded);
    }
    return kind == MG_TANH ? mg_fma_tanh(bounded) : mg_fma_clamp(bounded, 0.0f, mg_of_bits(MG_CURVES_INFINITY));
}

static inline MG_TARGET_fma void mg_fma_activate(uint32_t kind, float clip, mg_f32 *x, uint32_t n)
{
    const uint32_t whole = n & ~7u, rest = n & 7u;
    for (uint32_t k = 0u; k < whole; k += 8u) {
        const mg_f32x8 y = mg_fma_activated(kind, clip, mg_fma_eight(x + k));
        (void)memcpy(x + k, &y, sizeof(y));
    }
    if (rest != 0u) {
        mg_f32x8 last = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        (void)memcpy(&last, x + whole, rest * sizeof(*x));
        last = mg_fma_activated(kind, clip, last);
        (void)memcpy(x + whole, &last, rest * sizeof(*x));
    }
}
#endif

/* mg_activate of n numbers. */
static inline void mg_simd_activate(uint32_t kind, float clip, mg_f32 *x, uint32_t n)
{
#if MG_HAS_X86
    if (mg_simd_float_set() >= MG_SIMD_FMA) {
        mg_fma_activate(kind, clip, x, n);
        return;
    }
#endif
    mg_activate(kind, clip, x, n);
}

#endif /* MCUGEN_SIMD_ACTIVATE_H */
