/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense products of int8 vectors with int8 weights for cores with Helium: 1x1 convolutions and fully connected layers.
 *
 *   sum = sum over k of w[o][k] * x[k]
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x        int8, in_c elements to a pixel: stored values; their zero point is folded into the bias
 * stream   blocks of 4 outputs: int8 weights [steps][4][16], zero behind in_c; int32 bias[4], mult[4], shift[4] (0 or
 *          less: to the right). Order of the steps: 0, then first - 1 down to 1, then first up to the last
 *          If out_c is not a multiple of 4, the last block ends with the last output and repeats some of the block
 *          before; fewer than 4 outputs are padded to 4
 * sums     cannot leave 32 bits: proved when the code is generated
 *
 *   __mve         clamps to all of int8; the zero point is -128, so that no negative result is rounded
 *   __mve_linear  clamps to all of int8; all shifts are below 0
 *   __mve_clamp   clamps to out_min, out_max; all shifts are below 0
 *   __mve_once, __mve_once_clamp  like __mve_linear and __mve_clamp, but rounded once: the high word is rounded down
 *   __mve_float   clamps to out_min, out_max; mult is a float32 that scales the sums, shift is not read
 *   ..._long      for vectors of more than 240 elements
 *
 * A vector is read in steps of 16 elements, that is, beyond its end. The last vectors are copied to scratch, so that
 * nothing behind the tensor is read. Equals the reference runtime's Conv2D and FullyConnected (TFLM's rounding) for
 * int8 data.
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

/* Computes n pixels. in: n * in_c, out: n * out_c. last: number of pixels at the end that are copied to scratch,
 * because their last step may read beyond the tensor. scratch: (last + 1) * in_c + 16 bytes. */
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

/* Kernel for at least 4 pixels of at most 16 elements, with the weights in registers. MG_INPUTS: elements of a pixel;
 * MG_OUTPUTS: outputs, 4 to 63. MG_FINISH: 0, 1, 2: like __mve, __mve_linear, __mve_clamp; 3, 4, 5: like __mve_once,
 * __mve_once_clamp, __mve_float. scratch: max(last, 4) + 3 pixels and 16 bytes if last is not 0. */
#define MG_DECLARE_dense_s8__mve_narrow(f) \
    MG_LINKAGE void f(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)

/* Kernel for at least 2 pixels of 17 to 128 elements, two at a time. Their first 32 elements stay in registers while
 * all outputs are computed. MG_INPUTS: elements of a pixel; MG_OUTPUTS: outputs, an even number, at least 8; MG_FINISH:
 * as for __mve_narrow.
 * stream: for each 8 outputs, a block of the even outputs and one of the odd outputs, as above but with the steps in
 * order. If MG_OUTPUTS is not a multiple of 8, the last pair of blocks repeats outputs. out: at an even address.
 * scratch: 3 pixels and 16 bytes if MG_INPUTS is not a multiple of 16. */
#define MG_DECLARE_dense_s8__mve_eights(f) \
    MG_LINKAGE void f(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)

#endif /* MCUGEN_DENSE_S8__MVE_H */
