/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/softmax_s16.h"

#include "mcugen/interpolate_s16.h"
#include "mcugen/reciprocal.h"

static int32_t largest(const mg_s16 *x, uint32_t n)
{
    int32_t most = x[0];
    for (uint32_t i = 1u; i < n; i += 1u) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static int32_t exponential(const mg_softmax_s16_params *p, int32_t difference)
{
    const int32_t scaled = mg_clamp(mg_requantize(difference, p->mult, p->shift), -65535, 0);
    return mg_interpolate_s16(p->exp, mg_clamp(scaled + 32767, INT16_MIN, INT16_MAX));
}

static void row(const mg_softmax_s16_params *p, const mg_s16 *in, mg_s16 *out)
{
    const int32_t most = largest(in, p->classes);
    int32_t sum = 0;
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        const int32_t e = exponential(p, in[i] - most);
        sum += e;
    }
    const uint32_t shift = 31u - mg_leading_zeros((uint32_t)sum);
    const int32_t normal = (int32_t)((((uint32_t)sum << (30u - shift)) + (1u << 13)) >> 14);
    const int32_t scale = mg_interpolate_s16(p->inverse, mg_clamp(normal - (1 << 15) - (1 << 16), INT16_MIN, INT16_MAX));
    const int32_t half = (int32_t)(1u << (shift - 1u));
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        const int32_t y = (exponential(p, in[i] - most) * scale + half) >> shift;
        out[i] = (int16_t)mg_clamp(y, 0, INT16_MAX);
    }
}

void mg_softmax_s16(const mg_softmax_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    const uint32_t elements = n * p->classes;
    for (uint32_t i = 0u; i < elements; i += p->classes) {
        row(p, in + i, out + i);
    }
}
