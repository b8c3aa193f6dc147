/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer of int8 vectors with int8 weights for cores without SIMD: a multiplication serves two outputs.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over taps of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * x       int8 [taps]: stored values; their zero point is folded into the bias
 * stream  weights in words of two outputs, four words per tap, in groups whose sums fit 16 bits, and all other
 *         constants, in the order in which they are read
 * sums    are below 2^23, shifts are to the right: proved when the code is generated
 * Equals the reference runtime's FullyConnected for int8 data, with double or single rounding.
 */
#ifndef MCUGEN_SWAR_VECTOR_S8_H
#define MCUGEN_SWAR_VECTOR_S8_H

#include "mcugen/runtime.h"

/* blocks: number of blocks of eight outputs; the last block may have fewer. */
typedef struct {
    const uint32_t *stream;
    uint32_t blocks;
    int32_t out_min;
    uint32_t out_span, taps, outputs;
} mg_swar_vector_s8_params;

/* Computes n vectors. in: n * taps, out: n * outputs. scratch: taps bytes, aligned to 16. */
void mg_fully_connected_s8__swar(const mg_swar_vector_s8_params *p, const int8_t *in, int8_t *out, void *scratch,
                                 uint32_t n);

/* mg_fully_connected_s8__swar without scratch: sums are of x itself, not of x + 128. */
void mg_fully_connected_s8__swar_direct(const mg_swar_vector_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_SWAR_VECTOR_S8_H */
