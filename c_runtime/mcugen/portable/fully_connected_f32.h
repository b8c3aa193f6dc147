/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on float data with float weights.
 *
 *   sum = sum over k of w[o][k] * x[k]
 *   y[o] = clamp(bias[o] + sum)
 *
 * x       float [n][in_len]
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * halves  kernels with this word in their name read weights of float16, stored as their bits
 * Follows FullyConnected.reference; sums run over inputs in order.
 */
#ifndef MCUGEN_FULLY_CONNECTED_F32_H
#define MCUGEN_FULLY_CONNECTED_F32_H

#include "mcugen/filter.h"

typedef struct {
    const void *weights;
    const float *bias;
    float out_min, out_max;
    uint32_t in_len, out_len;
} mg_fully_connected_f32_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_f32(const mg_fully_connected_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

/* The kernel above with float16 weights. */
void mg_fully_connected_f32__halves(const mg_fully_connected_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_F32_H */
