/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> s16
 */
#include "mcugen/window_statistics_f32.h"

#include <math.h>

#define BLOCK 64u /* numbers in a block; block sums are added to the total */

enum { MEAN, RMS, ABSOLUTE, LEAST, LARGEST, RANGE, ZERO_CROSSINGS, VARIANCE, STD, MAD, MEAN_CROSSINGS, SKEWNESS, KURTOSIS };

typedef struct {
    int32_t sign;   /* sign of the last number that was not 0 */
    uint32_t count; /* number of changes of the sign */
} crossings;

static void crossed(crossings *c, float x)
{
    const int32_t sign = x > 0.0f ? 1 : x < 0.0f ? -1 : 0;
    if (sign != 0) {
        c->count += sign == -c->sign ? 1u : 0u;
        c->sign = sign;
    }
}

static uint32_t end_of_block(uint32_t start, uint32_t n)
{
    return n - start < BLOCK ? n : start + BLOCK;
}

/* The mean is middle + rest; a single float would round it. */
typedef struct {
    float middle, rest;
} mean_parts;

static mean_parts measure(const mg_f32 *in, uint32_t n, uint32_t step, float *y)
{
    const float count = (float)n;
    float sum = 0.0f, squares = 0.0f, absolute = 0.0f, low = (float)in[0], high = (float)in[0];
    crossings zero = {0, 0u};
    for (uint32_t start = 0u; start < n; start += BLOCK) {
        const uint32_t end = end_of_block(start, n);
        float a = 0.0f, b = 0.0f, c = 0.0f;
        for (uint32_t i = start; i < end; i += 1u) {
            const float x = (float)in[i * step];
            a += x;
            b += x * x;
            c += fabsf(x);
            low = x < low ? x : low;
            high = x > high ? x : high;
            crossed(&zero, x);
        }
        sum += a;
        squares += b;
        absolute += c;
    }
    mean_parts mean = {sum / count, 0.0f};
    float rest = 0.0f;
    for (uint32_t start = 0u; start < n; start += BLOCK) {
        const uint32_t end = end_of_block(start, n);
        float a = 0.0f;
        for (uint32_t i = start; i < end; i += 1u) {
            a += (float)in[i * step] - mean.middle;
        }
        rest += a;
    }
    mean.rest = rest / count;
    y[MEAN] = mean.middle + mean.rest;
    y[RMS] = sqrtf(squares / count);
    y[ABSOLUTE] = absolute / count;
    y[LEAST] = low;
    y[LARGEST] = high;
    y[RANGE] = high - low;
    y[ZERO_CROSSINGS] = (float)zero.count;
    return mean;
}

static void measure_about(mean_parts mean, const mg_f32 *in, uint32_t n, uint32_t step, float *y)
{
    const float count = (float)n;
    float squares = 0.0f, absolute = 0.0f;
    crossings level = {0, 0u};
    for (uint32_t start = 0u; start < n; start += BLOCK) {
        const uint32_t end = end_of_block(start, n);
        float a = 0.0f, b = 0.0f;
        for (uint32_t i = start; i < end; i += 1u) {
            const float d = ((float)in[i * step] - mean.middle) - mean.rest;
            a += d * d;
            b += fabsf(d);
            crossed(&level, d);
        }
        squares += a;
        absolute += b;
    }
    y[VARIANCE] = squares / count;
    y[STD] = sqrtf(y[VARIANCE]);
    y[MAD] = absolute / count;
    y[MEAN_CROSSINGS] = (float)level.count;
}

static void measure_powers(mean_parts mean, const mg_f32 *in, uint32_t n, uint32_t step, float *y)
{
    const float count = (float)n;
    const float inverse = y[STD] > 0.0f ? 1.0f / y[STD] : 0.0f;
    float cubes = 0.0f, fourths = 0.0f;
    for (uint32_t start = 0u; start < n; start += BLOCK) {
        const uint32_t end = end_of_block(start, n);
        float a = 0.0f, b = 0.0f;
        for (uint32_t i = start; i < end; i += 1u) {
            const float d = ((float)in[i * step] - mean.middle) - mean.rest;
            const float z = d * inverse, square = z * z;
            a += square * z;
            b += square * square;
        }
        cubes += a;
        fourths += b;
    }
    y[SKEWNESS] = cubes / count;
    y[KURTOSIS] = y[STD] > 0.0f ? fourths / count - 3.0f : 0.0f;
}

void mg_window_statistics_f32(const mg_window_statistics_f32_params *p, const mg_f32 *in, float *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t c = 0u; c < p->channels; c += 1u) {
            const mg_f32 *const x = in + (size_t)o * p->length * p->channels + c;
            float *const to = out + ((size_t)o * p->channels + c) * p->count;
            float y[KURTOSIS + 1];
            const mean_parts mean = measure(x, p->length, p->channels, y);
            if (p->about_mean != 0u) {
                measure_about(mean, x, p->length, p->channels, y);
            }
            if (p->powers != 0u) {
                measure_powers(mean, x, p->length, p->channels, y);
            }
            for (uint32_t k = 0u; k < p->count; k += 1u) {
                to[k] = y[p->statistics[k]];
            }
        }
    }
}
