/* SPDX-License-Identifier: Apache-2.0
 *
 * Inverse square root of int16 data; the largest value if x is not above 0.
 *
 *   y = requantize(2^20 / sqrt(x), mult, shift - 20)
 *
 * Equals the reference runtime's RsqrtEvalQuantized, which reports an error for x below 0.
 */
#ifndef MCUGEN_RSQRT_S16_H
#define MCUGEN_RSQRT_S16_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t mult, shift;
} mg_rsqrt_s16_params;

/* Computes n elements; `out` may be equal to `in`. */
void mg_rsqrt_s16(const mg_rsqrt_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_RSQRT_S16_H */
