/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense products of int8 vectors with int8 weights for cores with Helium: 1x1 convolutions and fully connected layers.
 *
 *   sum = sum over k of w[o][k] * x[k]
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x       int8, in_c elements to a pixel; stored values, the zero point is folded into the bias
 * stream  blocks of 4 outputs: [steps][4][16] int8 weights, zero beyond in_c, then int32 bias[4], mult[4], shift[4] (0
 *         or less: to the right). Steps are in the order 0, first - 1 down to 1, first and on. If out_c is no
 *         multiple of 4, the last block repeats outputs so that it ends with the last one; with fewer than 4 outputs
 *         it is padded.
 * sums    cannot leave 32 bits: proved when the code is generated
 *
 *   __mve         clamps to all of int8, and the zero point is the lowest value: no negative result is rounded
 *   __mve_linear  clamps to all of int8; all shifts below 0
 *   __mve_clamp   clamps to out_min, out_max; all shifts below 0
 *   __mve_once, __mve_once_clamp  as the two above, but rounded once: the high word is rounded down
 *   __mve_float   clamps to out_min, out_max; mult is a float32 that scales the sums, shift is not read
 *   ..._long      vectors of more than 240 elements
 *
 * A vector is read in steps of 16 elements and thus beyond its end; the last vectors are therefore copied to scratch.
 * Equals the reference runtime's Conv2D and FullyConnected (TFLM's rounding) for int8 data.
 */
#ifndef MCUGEN_DENSE_S8__MVE_H
#define MCUGEN_DENSE_S8__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    uint32_t in_c, out_c, steps;
    int16_t out_zero_point, out_min, out_max;
    uint16_t first, last;
} mg_dense_s8__mve_params;

/* n pixels. in: n * in_c, out: n * out_c. last: pixels whose last step may leave the tensor. scratch: (last + 1) *
 * in_c + 16. */
void mg_dense_s8__mve(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_linear(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_clamp(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_once(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_once_clamp(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_float(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_float_long(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_long(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_linear_long(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_clamp_long(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_once_long(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);
void mg_dense_s8__mve_once_clamp_long(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n);

/* At least 4 pixels of at most 16 elements: weights stay in registers. A copy for MG_INPUTS, MG_OUTPUTS (4 to 63) and
 * MG_FINISH: 0, 1 and 2 as __mve, __mve_linear and __mve_clamp, 3, 4 and 5 as __mve_once, __mve_once_clamp and
 * __mve_float. scratch: max(last, 4) + 3 pixels and 16 bytes, if last is not 0. */
#define MG_DECLARE_dense_s8__mve_narrow(f) \
    MG_LINKAGE void f(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)

/* At least 2 pixels of 17 to 128 elements, two at a time, whose first 32 elements stay in registers while all outputs are
 * computed. A copy for MG_INPUTS, MG_OUTPUTS (even, at least 8) and MG_FINISH as above. stream: pairs of blocks as above, of
 * the even and of the odd ones of 8 outputs; if MG_OUTPUTS is no multiple of 8, the last pair repeats outputs. Steps in
 * order. out: at an even address. scratch: 3 pixels and 16 bytes, if MG_INPUTS is no multiple of 16. */
#define MG_DECLARE_dense_s8__mve_eights(f) \
    MG_LINKAGE void f(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)

#endif /* MCUGEN_DENSE_S8__MVE_H */
