/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters with a memory on float data; see svdf_s8.h.
 *
 *   y[u] = clamp(bias[u] + sum over the unit's filters and steps of weights[f][j] * next[f][j], out_min, out_max)
 */
#ifndef MCUGEN_SVDF_F32_H
#define MCUGEN_SVDF_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const mg_f32 *weights, *bias;
    uint32_t batches, units, rank, steps;
    float out_min, out_max;
} mg_svdf_f32_params;

void mg_svdf_f32(const mg_svdf_f32_params *p, const mg_f32 *memory, const mg_f32 *newest, mg_f32 *next, mg_f32 *out);

#endif /* MCUGEN_SVDF_F32_H */
