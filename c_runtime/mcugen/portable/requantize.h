/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts stored integers to another type, scale or zero point.
 *
 *   y = clamp(requantize(x - in_zero_point, mult, shift) + out_zero_point)
 *
 * Equals the reference runtime's Quantize (reference_ops::Requantize) between integers. n elements; `out` may be equal
 * to `in` if the types are the same.
 */
#ifndef MCUGEN_REQUANTIZE_H
#define MCUGEN_REQUANTIZE_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t mult;
    int32_t in_zero_point, out_zero_point;
    int32_t out_min, out_max;
    int8_t shift;
} mg_requantize_params;

void mg_requantize__s8_s16(const mg_requantize_params *p, const int8_t *in, mg_s16 *out, uint32_t n);
void mg_requantize__u8_s16(const mg_requantize_params *p, const uint8_t *in, mg_s16 *out, uint32_t n);
void mg_requantize__s8_s32(const mg_requantize_params *p, const int8_t *in, mg_s32 *out, uint32_t n);
void mg_requantize__s16_s8(const mg_requantize_params *p, const mg_s16 *in, int8_t *out, uint32_t n);
void mg_requantize__s16_s16(const mg_requantize_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);
void mg_requantize__s16_s32(const mg_requantize_params *p, const mg_s16 *in, mg_s32 *out, uint32_t n);
void mg_requantize__s32_s8(const mg_requantize_params *p, const mg_s32 *in, int8_t *out, uint32_t n);
void mg_requantize__s32_s16(const mg_requantize_params *p, const mg_s32 *in, mg_s16 *out, uint32_t n);

static inline int32_t mg_requantized(const mg_requantize_params *p, int32_t x)
{
    const int32_t centred = (int32_t)((uint32_t)x - (uint32_t)p->in_zero_point);
    const uint32_t y = (uint32_t)mg_requantize(centred, p->mult, p->shift) + (uint32_t)p->out_zero_point;
    return mg_clamp((int32_t)y, p->out_min, p->out_max);
}

#endif /* MCUGEN_REQUANTIZE_H */
