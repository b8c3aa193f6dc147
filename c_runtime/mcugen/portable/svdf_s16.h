/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters with a memory (SVDF): the memory moves by one step, the newest values are appended, and the weighted sum of
 * the memory is the result.
 *
 *   next[f] = memory[f][1], ..., memory[f][steps - 1], newest[f] + zero_point
 *   sum     = bias[u] + sum over the unit's filters and steps of weights[f][j] * next[f][j]
 *   y[u]    = clamp(requantize(sum, mult, shift) + out_zero_point)
 *
 * memory, next  int16 [batches][units * rank][steps]; next may be memory
 * newest        int16 [batches][units * rank]; with the zero point they wrap
 * bias          the zero point of the memory is folded into it; sums wrap to 32 bits
 * Equals TensorFlow Lite Micro's EvalIntegerSvdfReference.
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, mg_s16 -> int8_t, int16 [batches] -> int8 [batches], int16_t *weights -> int8_t *weights
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
