/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts stored integers to real numbers.
 *
 *   y = scale * (x - zero_point)
 *
 * Equals the reference runtime's Dequantize: one rounding, exact for 8 and 16 bit data. n elements.
 */
#ifndef MCUGEN_DEQUANTIZE_H
#define MCUGEN_DEQUANTIZE_H

#include "mcugen/runtime.h"

typedef struct {
    float scale;
    int32_t zero_point;
} mg_dequantize_params;

void mg_dequantize__s8(const mg_dequantize_params *p, const int8_t *in, mg_f32 *out, uint32_t n);
void mg_dequantize__u8(const mg_dequantize_params *p, const uint8_t *in, mg_f32 *out, uint32_t n);
void mg_dequantize__s16(const mg_dequantize_params *p, const mg_s16 *in, mg_f32 *out, uint32_t n);
void mg_dequantize__s32(const mg_dequantize_params *p, const mg_s32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_DEQUANTIZE_H */
