/* SPDX-License-Identifier: Apache-2.0
 *
 * lstm_s8.h with one product after the other.
 */
#define MG_VECTOR int8_t
#include "mcugen/lstm_s8_template.h"

static inline const int8_t *widened(const int8_t *x, int8_t *wide, uint32_t n)
{
    (void)wide;
    (void)n;
    return x;
}

static void matrix(const int8_t *w, const int32_t *bias, const int8_t *x, uint32_t n, uint32_t hidden,
                   const gate_scale *scale, mg_s16 *gate)
{
    for (uint32_t k = 0u; k < hidden; k += 1u) {
        uint32_t sum = (uint32_t)bias[k];
        for (uint32_t j = 0u; j < n; j += 1u) {
            sum += (uint32_t)(w[k * n + j] * x[j]);
        }
        gate[k] = gate_of(scale, (int32_t)sum, gate[k]);
    }
}
