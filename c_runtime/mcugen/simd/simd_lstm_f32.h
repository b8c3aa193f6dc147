/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer over float sequences on x86-64: the formula, order of gates and fields of lstm_f32.h.
 *
 *   data    W x + b for up to `block` steps at once, all gates behind each other: data.out_c sums, filled up to whole
 *           blocks of 16
 *   state   R h, added to these sums; it has no bias
 * Equals Lstm.reference within rounding.
 */
#ifndef MCUGEN_SIMD_LSTM_F32_H
#define MCUGEN_SIMD_LSTM_F32_H

#include "mcugen/recurrent_f32.h"
#include "mcugen/simd_floats.h"

typedef struct {
    MG_LSTM_FIELDS
    mg_simd_floats data, state;
    uint32_t block;
} mg_simd_lstm_f32_params;

/* x [steps, batches, inputs]; h0, c0 [batches, hidden] -> y [steps, batches, hidden]; h, c: the last state and cell;
 * scratch: block * batches * data.out_c floats. */
void mg_lstm_f32__fma(const mg_simd_lstm_f32_params *p, const mg_f32 *x, const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y,
                      mg_f32 *h, mg_f32 *c, void *scratch);

#endif /* MCUGEN_SIMD_LSTM_F32_H */
