/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of int8 of length one, in 128ths.
 *
 * up: 7, or 0 where values are multiplied by 128 before anything is rounded
 * The inverse of the root is found by five steps of Newton's method. Equals L2Normalization.reference_q.
 */
#ifndef MCUGEN_L2_NORMALIZATION_S8_H
#define MCUGEN_L2_NORMALIZATION_S8_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t rows, length;
    int32_t zero, up;
} mg_l2_normalization_s8_params;

void mg_l2_normalization_s8(const mg_l2_normalization_s8_params *p, const int8_t *x, int8_t *y);

#endif /* MCUGEN_L2_NORMALIZATION_S8_H */
