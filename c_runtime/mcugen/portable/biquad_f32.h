/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursive filters of second order, one after the other, in transposed direct form 2. Each operation rounds.
 */
#ifndef MCUGEN_BIQUAD_F32_H
#define MCUGEN_BIQUAD_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const float *sections; /* [count][5]: b0, b1, b2, a1, a2 */
    uint32_t count;
    uint32_t length, inner, outer; /* elements of a signal, interleaved signals in a group, groups */
} mg_biquad_f32_params;

/* in, out [outer][length][inner]; they may be the same. */
void mg_biquad_f32(const mg_biquad_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_BIQUAD_F32_H */
