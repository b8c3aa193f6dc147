/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantizes groups of float data to int8, each with a scale and a zero point computed from the group.
 *
 *   symmetric:  s = max|x| / 127, q = round(x * (127 / max|x|))
 *   else:       s = (max - min) / 255, q = round(x * (1 / s)) + z; min <= 0 <= max
 *
 * Equals QuantizeDynamic.reference_q and LiteRT in every bit. Needs -ffp-contract=off.
 */
#ifndef MCUGEN_QUANTIZE_DYNAMIC_H
#define MCUGEN_QUANTIZE_DYNAMIC_H

#include "mcugen/dynamic_range.h"

typedef struct {
    uint32_t groups, length;
    uint32_t symmetric;
} mg_quantize_dynamic_params;

/* x, q: groups * length elements. scale, zero: one per group. */
void mg_quantize_dynamic(const mg_quantize_dynamic_params *p, const mg_f32 *x, int8_t *q, mg_f32 *scale, int8_t *zero);

#endif /* MCUGEN_QUANTIZE_DYNAMIC_H */
