/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts real numbers to stored integers.
 *
 *   y = clamp(round(x / scale) + zero_point), halves away from zero; _even kernels: halves to even
 *
 * Equals the reference runtime's Quantize (reference_ops::AffineQuantize) on float; _even: QuantizeLinear. n elements.
 */
#ifndef MCUGEN_QUANTIZE_F32_H
#define MCUGEN_QUANTIZE_F32_H

#include "mcugen/round_even.h"

typedef struct {
    float scale;
    int32_t zero_point;
    int32_t out_min, out_max;
} mg_quantize_f32_params;

void mg_quantize_f32__s8(const mg_quantize_f32_params *p, const mg_f32 *in, int8_t *out, uint32_t n);
void mg_quantize_f32__u8(const mg_quantize_f32_params *p, const mg_f32 *in, uint8_t *out, uint32_t n);
void mg_quantize_f32__s16(const mg_quantize_f32_params *p, const mg_f32 *in, mg_s16 *out, uint32_t n);

void mg_quantize_f32__s8_even(const mg_quantize_f32_params *p, const mg_f32 *in, int8_t *out, uint32_t n);
void mg_quantize_f32__u8_even(const mg_quantize_f32_params *p, const mg_f32 *in, uint8_t *out, uint32_t n);
void mg_quantize_f32__s16_even(const mg_quantize_f32_params *p, const mg_f32 *in, mg_s16 *out, uint32_t n);

/* Steps beyond 2^20 are out of range with every zero point: the bound makes the conversion to an integer safe. */
static inline int32_t mg_quantized(const mg_quantize_f32_params *p, float x)
{
    const float steps = x / p->scale;
    const float floored = steps > -1048576.0f ? steps : -1048576.0f;
    const float bounded = floored < 1048576.0f ? floored : 1048576.0f;
    const int32_t whole = (int32_t)bounded;
    const float rest = bounded - (float)whole;
    const int32_t away = rest >= 0.5f ? 1 : (rest <= -0.5f ? -1 : 0);
    return mg_clamp(whole + away + p->zero_point, p->out_min, p->out_max);
}

static inline int32_t mg_quantized_even(const mg_quantize_f32_params *p, float x)
{
    return mg_clamp(mg_round_even(x / p->scale) + p->zero_point, p->out_min, p->out_max);
}

#endif /* MCUGEN_QUANTIZE_F32_H */
