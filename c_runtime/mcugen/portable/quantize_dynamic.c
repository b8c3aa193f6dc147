/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/quantize_dynamic.h"

typedef struct {
    float low, high;
} range;

/* The least and the greatest element, and 0. */
static range range_of(const mg_f32 *x, uint32_t n)
{
    range found = {0.0f, 0.0f};
    for (uint32_t i = 0u; i < n; i += 1u) {
        found.low = x[i] < found.low ? x[i] : found.low;
        found.high = x[i] > found.high ? x[i] : found.high;
    }
    return found;
}

/* The nearest whole number, halves away from zero. The bounds make the conversion to an integer safe. */
static int32_t nearest(double x)
{
    const double bounded = x > 1024.0 ? 1024.0 : (x > -1024.0 ? x : -1024.0);
    const int32_t whole = (int32_t)bounded;
    const double rest = bounded - (double)whole;
    return whole + (rest >= 0.5 ? 1 : (rest <= -0.5 ? -1 : 0));
}

/* The same in float, which is exact too. */
static int32_t nearest_float(float x)
{
    const float bounded = x > 1024.0f ? 1024.0f : (x > -1024.0f ? x : -1024.0f);
    const int32_t whole = (int32_t)bounded;
    const float rest = bounded - (float)whole;
    return whole + (rest >= 0.5f ? 1 : (rest <= -0.5f ? -1 : 0));
}

/* The zero point from the end of the range whose error is smaller. */
static int32_t zero_point(double low, double high)
{
    const double low_error = 128.0 + (low < 0.0 ? -low : low), high_error = 127.0 + (high < 0.0 ? -high : high);
    return mg_clamp(nearest(low_error < high_error ? -128.0 - low : 127.0 - high), INT8_MIN, INT8_MAX);
}

static void quantize(const mg_f32 *x, uint32_t n, float inverse, int32_t zero, int32_t least, int8_t *q)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float steps = x[i] * inverse;
        q[i] = (int8_t)mg_clamp(nearest_float(steps) + zero, least, 127);
    }
}

static void group(const mg_quantize_dynamic_params *p, const mg_f32 *x, int8_t *q, mg_f32 *scale, int8_t *zero)
{
    const range found = range_of(x, p->length);
    const float most = -found.low > found.high ? -found.low : found.high;
    scale[0] = 1.0f;
    zero[0] = 0;
    if (!(most > 0.0f)) {
        (void)memset(q, 0, p->length);
    } else if (p->symmetric != 0u) {
        scale[0] = most / 127.0f;
        quantize(x, p->length, 127.0f / most, 0, -127, q);
    } else {
        const float width = found.high - found.low;
        const double step = (double)width / 255.0;
        scale[0] = (float)step;
        zero[0] = (int8_t)zero_point((double)found.low / step, (double)found.high / step);
        quantize(x, p->length, 1.0f / scale[0], zero[0], -128, q);
    }
}

void mg_quantize_dynamic(const mg_quantize_dynamic_params *p, const mg_f32 *x, int8_t *q, mg_f32 *scale, int8_t *zero)
{
    for (uint32_t g = 0u; g < p->groups; g += 1u) {
        group(p, x + g * p->length, q + g * p->length, scale + g, zero + g);
    }
}
