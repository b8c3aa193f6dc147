/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations on 16 floats in plain C: the meaning of those of the other sets.
 */
#ifndef MCUGEN_SIMD_SCALAR_H
#define MCUGEN_SIMD_SCALAR_H

#include "mcugen/simd_floats.h"

#define MG_TARGET_scalar

/* 16 floats. */
typedef struct {
    float at[MG_SIMD_LANES];
} mg_scalar_sums;

/* A float that all lanes share. */
typedef float mg_scalar_one;

static inline mg_scalar_sums mg_scalar_load(const mg_f32 *from)
{
    mg_scalar_sums s;
    (void)memcpy(s.at, from, sizeof(s.at));
    return s;
}

static inline mg_scalar_one mg_scalar_share(const mg_f32 *x)
{
    return *x;
}

/* s + x * w */
static inline mg_scalar_sums mg_scalar_add(mg_scalar_sums s, mg_scalar_one x, mg_scalar_sums w)
{
    for (uint32_t c = 0u; c < MG_SIMD_LANES; c += 1u) {
        s.at[c] += x * w.at[c];
    }
    return s;
}

/* s + x * w, lane by lane */
static inline mg_scalar_sums mg_scalar_add_each(mg_scalar_sums s, mg_scalar_sums x, mg_scalar_sums w)
{
    for (uint32_t c = 0u; c < MG_SIMD_LANES; c += 1u) {
        s.at[c] += x.at[c] * w.at[c];
    }
    return s;
}

/* x where it is larger than y, else y, lane by lane */
static inline mg_scalar_sums mg_scalar_larger(mg_scalar_sums x, mg_scalar_sums y)
{
    for (uint32_t c = 0u; c < MG_SIMD_LANES; c += 1u) {
        y.at[c] = x.at[c] > y.at[c] ? x.at[c] : y.at[c];
    }
    return y;
}

/* The first n lanes, clamped. */
static inline void mg_scalar_store(mg_f32 *to, mg_scalar_sums s, uint32_t n, float low, float high)
{
    for (uint32_t c = 0u; c < n; c += 1u) {
        to[c] = mg_clamp_float(s.at[c], low, high);
    }
}

#endif /* MCUGEN_SIMD_SCALAR_H */
