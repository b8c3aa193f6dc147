/* SPDX-License-Identifier: Apache-2.0
 *
 * SVDF layer with a memory of int8 values on cores with SMLAD: four steps at a time are multiplied and moved.
 *
 * Fields: see svdf_s8.h. addend: 2^(-shift - 1), for layers whose sums the build has proved to be below 2^30, so that
 * one SMMLAR scales them (dsp_requantize.h). Equals TensorFlow Lite Micro's EvalIntegerSvdfReference.
 */
#ifndef MCUGEN_DSP_SVDF_S8_H
#define MCUGEN_DSP_SVDF_S8_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    int32_t mult, addend;
    uint32_t units;
    int16_t zero_point, out_zero_point;
    int8_t shift;
} mg_dsp_svdf_s8_params;

/* memory, next: int8 [units * rank][steps], may be the same memory. newest: int8 [units * rank]. */
#define MG_DECLARE_svdf_s8__dsp(f)                                                                               \
    MG_LINKAGE void f(const mg_dsp_svdf_s8_params *p, const int8_t *memory, const int8_t *newest, int8_t *next,  \
                      int8_t *out)

#endif /* MCUGEN_DSP_SVDF_S8_H */
