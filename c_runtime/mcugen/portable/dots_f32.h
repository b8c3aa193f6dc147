/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of a matrix and a vector of floats, added to totals, for recurrent layers.
 */
#ifndef MCUGEN_DOTS_F32_H
#define MCUGEN_DOTS_F32_H

#include "mcugen/runtime.h"

/* Adds the sum over k of w[g * n + k] * x[k] to totals[g], in the order of k, for each of `rows` rows. Computes four
 * rows together, so that x is read once for them. */
static void mg_dots_f32(const mg_f32 *w, const mg_f32 *x, uint32_t n, uint32_t rows, mg_f32 *totals)
{
    const uint32_t fours = rows & ~3u;
    for (uint32_t g = 0u; g < fours; g += 4u) {
        const mg_f32 *const w0 = w + g * n, *const w1 = w0 + n, *const w2 = w1 + n, *const w3 = w2 + n;
        float s0 = totals[g], s1 = totals[g + 1u], s2 = totals[g + 2u], s3 = totals[g + 3u];
        for (uint32_t k = 0u; k < n; k += 1u) {
            const float value = x[k];
            s0 += w0[k] * value;
            s1 += w1[k] * value;
            s2 += w2[k] * value;
            s3 += w3[k] * value;
        }
        totals[g] = s0;
        totals[g + 1u] = s1;
        totals[g + 2u] = s2;
        totals[g + 3u] = s3;
    }
    for (uint32_t g = fours; g < rows; g += 1u) {
        float sum = totals[g];
        for (uint32_t k = 0u; k < n; k += 1u) {
            sum += w[g * n + k] * x[k];
        }
        totals[g] = sum;
    }
}

#endif /* MCUGEN_DOTS_F32_H */
