/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on float data with weights of a few bits, which have a scale for each block of inputs.
 *
 *   part[j] = sum over the inputs k of block j of (w[o][k] - zero[o][j]) * x[k]
 *   y[o] = clamp(bias[o] + sum over j of scale[o][j] * part[j])
 *
 * x       float [n][in_len]
 * weights unsigned, MG_BITS each, the first of a byte in its lowest bits; each row of row_len bytes begins a new byte
 * block   inputs of a block, the last of a row may have fewer; whole bytes of weights
 * zeros   one for each block, or a single one if zero_stride is 0
 * Follows BlockedFullyConnected.reference_q; sums run over inputs in order.
 */
#ifndef MCUGEN_BLOCKED_FULLY_CONNECTED_F32_H
#define MCUGEN_BLOCKED_FULLY_CONNECTED_F32_H

#include "mcugen/variant.h"

typedef struct {
    const uint8_t *weights;
    const float *scales;
    const uint8_t *zeros;
    const float *bias;
    float out_min, out_max;
    uint32_t in_len, out_len, block, row_len;
    uint8_t zero_stride;
} mg_blocked_fully_connected_f32_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
#define MG_DECLARE_blocked_fully_connected_f32(kernel)                                                                 \
    MG_LINKAGE void kernel(const mg_blocked_fully_connected_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)

#endif /* MCUGEN_BLOCKED_FULLY_CONNECTED_F32_H */
