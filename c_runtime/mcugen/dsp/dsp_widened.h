/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix-vector product on vectors that are widened first, see dsp_vector.h.
 */
#ifndef MCUGEN_DSP_WIDENED_H
#define MCUGEN_DSP_WIDENED_H

#include "mcugen/dsp_vector.h"

/* Arguments of the code that computes blocks of outputs from one vector.
 * x, x_end: start and end of the vector. outputs: number of outputs. */
typedef struct {
    const mg_s16 *x, *x_end;
    int8_t *out;
    uintptr_t outputs;
    const int32_t *stream;
} mg_dsp_vector_job;

#endif /* MCUGEN_DSP_WIDENED_H */
