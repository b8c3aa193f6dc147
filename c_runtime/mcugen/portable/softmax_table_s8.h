/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of int8 data by a table of float32 exponentials.
 *
 *   y[i] = clamp(round(exp[max - x[i]] / sum over k of exp[max - x[k]] / scale) + zero_point), halves to even
 *
 * exp      the exponential of each difference from the maximum, times any constant. All operations round to float32, and
 *          sums go from the first element to the last.
 * factor   not 0: the quotient is multiplied by this factor, below 2^29, instead of divided by the scale, and rounded
 *          once, as in QLinearSoftmax of ONNX Runtime
 */
#ifndef MCUGEN_SOFTMAX_TABLE_S8_H
#define MCUGEN_SOFTMAX_TABLE_S8_H

#include "mcugen/round_even.h"

typedef struct {
    const mg_f32 *exp;
    float scale;
    uint32_t factor;
    int32_t zero_point;
    uint32_t classes;
} mg_softmax_table_s8_params;

/* Computes n rows of `classes` elements; `out` may be equal to `in`. */
void mg_softmax_table_s8(const mg_softmax_table_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_SOFTMAX_TABLE_S8_H */
