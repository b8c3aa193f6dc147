/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix-vector product on int8 vectors that are widened as they are read, see dsp_vector.h.
 */
#ifndef MCUGEN_DSP_DIRECT_H
#define MCUGEN_DSP_DIRECT_H

#include "mcugen/dsp_vector.h"

/* Arguments of the code that computes blocks of outputs from one vector.
 * x: the vector; x_end: end of its whole groups of four. outputs: number of outputs. */
typedef struct {
    const int8_t *x, *x_end;
    int8_t *out;
    uintptr_t outputs;
    const int32_t *stream;
} mg_dsp_direct_job;

#endif /* MCUGEN_DSP_DIRECT_H */
