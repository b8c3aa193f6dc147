/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix times vectors of bytes that are widened where they are read, see dsp_vector.h.
 */
#ifndef MCUGEN_DSP_DIRECT_H
#define MCUGEN_DSP_DIRECT_H

#include "mcugen/dsp_vector.h"

/* Arguments of the blocks of a vector: x up to x_end, the end of whole groups of four; `left` outputs remain. */
typedef struct {
    const int8_t *x, *x_end;
    int8_t *out;
    uintptr_t left;
    const int32_t *stream;
} mg_dsp_direct_job;

#endif /* MCUGEN_DSP_DIRECT_H */
