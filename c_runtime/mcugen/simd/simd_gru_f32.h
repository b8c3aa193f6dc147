/* SPDX-License-Identifier: Apache-2.0
 *
 * GRU layer over float sequences on x86-64: the formula and fields of gru_f32.h.
 *
 *   data    W x for up to `block` steps at once, with the biases that do not depend on `after`: the gates z and r,
 *           filled up to whole blocks of 16, and behind them n, filled up too: data.out_c sums
 *   gates   R h of z and r, added to these sums; it has no bias
 *   state   R of n: added to the sums and without a bias, or, with `after`, with the bias that r multiplies
 * Equals Gru.reference within rounding.
 */
#ifndef MCUGEN_SIMD_GRU_F32_H
#define MCUGEN_SIMD_GRU_F32_H

#include "mcugen/recurrent_f32.h"
#include "mcugen/simd_floats.h"

typedef struct {
    uint32_t steps, batches, inputs, hidden;
    uint32_t kinds[2];
    uint32_t after;
    float clip;
    mg_simd_floats data, gates, state;
    uint32_t block;
} mg_simd_gru_f32_params;

/* x [steps, batches, inputs]; h0 [batches, hidden] -> y [steps, batches, hidden]; h: the last state; scratch: block *
 * batches * data.out_c + state.out_c floats. */
void mg_gru_f32__fma(const mg_simd_gru_f32_params *p, const mg_f32 *x, const mg_f32 *h0, mg_f32 *y, mg_f32 *h,
                     void *scratch);

#endif /* MCUGEN_SIMD_GRU_F32_H */
