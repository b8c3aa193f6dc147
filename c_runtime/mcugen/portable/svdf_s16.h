/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters with a memory of int16 values and weights; see svdf_s8.h. The memory has the zero point 0, results are int8.
 */
#ifndef MCUGEN_SVDF_S16_H
#define MCUGEN_SVDF_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const int16_t *weights;
    const int32_t *bias;
    int32_t mult;
    uint32_t batches, units, rank, steps;
    int16_t zero_point, out_zero_point, out_min, out_max;
    int8_t shift;
} mg_svdf_s16_params;

void mg_svdf_s16(const mg_svdf_s16_params *p, const mg_s16 *memory, const mg_s16 *newest, mg_s16 *next, int8_t *out);

#endif /* MCUGEN_SVDF_S16_H */
