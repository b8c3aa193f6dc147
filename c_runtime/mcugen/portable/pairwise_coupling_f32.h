/* SPDX-License-Identifier: Apache-2.0
 *
 * Probabilities of classes, computed from the probabilities of pairs of classes by iteration.
 *
 * classes  probabilities for each vector
 * pairs    classes * (classes - 1) / 2: the first class' probability in each pair, (0, 1), (0, 2), ...
 * scratch  [classes][classes + 1]
 * Equals onnxruntime's multiclass_probability.
 */
#ifndef MCUGEN_PAIRWISE_COUPLING_F32_H
#define MCUGEN_PAIRWISE_COUPLING_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t classes, pairs;
} mg_pairwise_coupling_f32_params;

/* Computes n vectors: in [n][pairs], out [n][classes]. */
void mg_pairwise_coupling_f32(const mg_pairwise_coupling_f32_params *p, const mg_f32 *in, mg_f32 *out, mg_f32 *scratch, uint32_t n);

#endif /* MCUGEN_PAIRWISE_COUPLING_F32_H */
