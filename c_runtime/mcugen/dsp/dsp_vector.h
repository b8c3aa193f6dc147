/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer, or 1x1 convolution of single pixels, on int8 vectors on cores with SMLAD, four outputs at a
 * time.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over k of w[o][k] * x[k], mult[o], shift[o]) + out_zero_point)
 *
 * x        int8 [n][in_len]
 * scratch  int16 [length]: x in groups of four, in the order 0, 2, 1, 3. If in_len is not a multiple of 4, group in_len
 *          / 4 holds the last four elements, with zero weights for those that are also in the group before; fewer than
 *          4 elements keep their order. Further elements have zero weights
 *          _direct kernels: no scratch; x is widened as it is read, and length is in_len rounded down to a multiple of
 *          four
 * stream   weights, biases and scales in blocks of four outputs, see dsp_vector_block_template.h
 * low, high  the clamp; clamps: 1 if it is narrower than int8
 * The build has proved that no sum leaves 32 bits. Equals the reference runtime's FullyConnected and Conv2D for int8
 * data.
 */
#ifndef MCUGEN_DSP_VECTOR_H
#define MCUGEN_DSP_VECTOR_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *stream;
    uint32_t in_len, length, out_len;
    int16_t low, high;
    uint8_t clamps;
} mg_dsp_vector_params;

#define MG_DECLARE_dsp_direct(f) \
    MG_LINKAGE void f(const mg_dsp_vector_params *p, const int8_t *in, int8_t *out, uint32_t n)

#define MG_DECLARE_dsp_vector(f) \
    MG_LINKAGE void f(const mg_dsp_vector_params *p, const int8_t *in, int8_t *out, mg_s16 *scratch, uint32_t n)

#endif /* MCUGEN_DSP_VECTOR_H */
