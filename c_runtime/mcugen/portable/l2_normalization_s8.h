/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales int8 vectors to length 1, in steps of 1/128.
 *
 * up: how values are multiplied by 128: 7: the rounding right shift is 7 bits shorter; 0: before the rounding
 * The inverse square root is computed by five steps of Newton's method. Equals L2Normalization.reference_q.
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
