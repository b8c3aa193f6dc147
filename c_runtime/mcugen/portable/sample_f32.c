/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/sample_f32.h"

#include "mcugen/round_even.h"

enum { ZERO, EDGE, MIRROR, NEAR };

/* For one axis: the pixels that a value is interpolated from, and their weights. A pixel of -1 counts as zero. */
typedef struct {
    int32_t index[4];
    float weight[4];
} taps;

/* Converts a coordinate to pixels, clamped to 2^20 pixels from the first one so that it fits an integer. */
static float in_pixels(const mg_sample_f32_params *p, float place, uint32_t size)
{
    float x = place;
    if (p->scale == 1u) {
        x = (place + 1.0f) / 2.0f * (float)(size - 1u);
    } else if (p->scale == 2u) {
        x = ((place + 1.0f) * (float)size - 1.0f) / 2.0f;
    }
    const float above = x > -1048576.0f ? x : -1048576.0f;
    return above < 1048576.0f ? above : 1048576.0f;
}

static float mirrored(float x, float low, float high)
{
    const float width = high - low;
    const float apart = x < low ? low - x : x - high;
    if (!(width > 0.0f)) {
        return low;
    }
    const int32_t times = (int32_t)(apart / width);
    const float rest = apart - (float)times * width;
    return ((times & 1) == 0) == (x < low) ? low + rest : high - rest;
}

/* Moves a coordinate outside the image to where its value comes from: the edge or the mirrored image. Cubic
 * interpolation moves the pixels instead, in the function below. */
static float moved(const mg_sample_f32_params *p, float x, uint32_t size)
{
    const float half = p->scale == 1u ? 0.0f : 0.5f, last = (float)(size - 1u);
    if (p->beyond == NEAR || (p->beyond == EDGE && p->taps != 4u && (x < -half || x > last + half))) {
        const float above = x > 0.0f ? x : 0.0f;
        return above < last ? above : last;
    }
    return p->beyond == MIRROR && (x < -half || x > last + half) ? mirrored(x, -half, last + half) : x;
}

/* Index of the pixel that gives the value at index i, which may be outside the image; -1: the value is 0. */
static int32_t pixel(const mg_sample_f32_params *p, int32_t i, int32_t size)
{
    if (i >= 0 && i < size) {
        return i;
    }
    if (p->beyond == ZERO) {
        return -1;
    }
    if (p->beyond != MIRROR) {
        return i < 0 ? 0 : size - 1;
    }
    const int32_t period = p->scale == 1u ? 2 * (size - 1) : 2 * size;
    if (period == 0) {
        return 0;
    }
    const int32_t within = (i % period + period) % period;
    return within < size ? within : period - within - (p->scale == 1u ? 0 : 1);
}

/* Weights of the cubic convolution with parameter -3/4. */
static void cubic(float x, float *weight)
{
    const float a = -0.75f, y = 1.0f - x;
    weight[0] = ((a * (x + 1.0f) - 5.0f * a) * (x + 1.0f) + 8.0f * a) * (x + 1.0f) - 4.0f * a;
    weight[1] = ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
    weight[2] = ((a + 2.0f) * y - (a + 3.0f)) * y * y + 1.0f;
    weight[3] = ((a * (y + 1.0f) - 5.0f * a) * (y + 1.0f) + 8.0f * a) * (y + 1.0f) - 4.0f * a;
}

static int32_t floor_of(float x)
{
    const int32_t whole = (int32_t)x;
    return (float)whole > x ? whole - 1 : whole;
}

static void find(const mg_sample_f32_params *p, float place, uint32_t size, taps *found)
{
    const float stated = in_pixels(p, place, size);
    const int outside = p->beyond == NEAR && (stated < -1.0f || stated > (float)size);
    const float at = moved(p, p->taps == 1u ? (float)mg_round_even(stated) : stated, size);
    const int32_t low = p->taps == 1u ? (int32_t)at : floor_of(at);
    const float part = at - (float)low;
    if (p->taps == 4u) {
        cubic(part, found->weight);
    } else {
        found->weight[0] = p->taps == 1u ? 1.0f : 1.0f - part;
        found->weight[1] = part;
    }
    for (uint32_t t = 0u; t < p->taps; t += 1u) {
        const int32_t i = low + (int32_t)t - (p->taps == 4u ? 1 : 0);
        found->index[t] = outside ? -1 : pixel(p, i, (int32_t)size);
    }
}

static void add(const mg_f32 *in, float weight, uint32_t n, mg_f32 *out)
{
    for (uint32_t c = 0u; c < n; c += 1u) {
        out[c] += weight * in[c];
    }
}

/* out[c] = max(out[c], weight * pixel[c]); the first pixel is stored as it is. */
static void enlarge(const mg_f32 *in, float weight, uint32_t n, int is_first, mg_f32 *out)
{
    for (uint32_t c = 0u; c < n; c += 1u) {
        const float term = weight * in[c];
        out[c] = is_first != 0 || term > out[c] ? term : out[c];
    }
}

/* out[c] = sum of weight * pixel[c] over all combinations of one pixel per axis; the maximum if p->largest is set. */
static void combine(const mg_sample_f32_params *p, const mg_f32 *image, const taps *of, mg_f32 *out)
{
    const uint32_t second = p->axes > 1u ? p->taps : 1u, third = p->axes > 2u ? p->taps : 1u;
    for (uint32_t t = 0u; t < p->taps * second * third; t += 1u) {
        uint32_t rest = t;
        int32_t at = 0;
        float weight = 1.0f;
        for (uint32_t axis = 0u; axis < p->axes; axis += 1u) {
            const int32_t index = of[axis].index[rest % p->taps];
            weight *= of[axis].weight[rest % p->taps];
            at = at < 0 || index < 0 ? -1 : at * (int32_t)p->size[axis] + index;
            rest /= p->taps;
        }
        if (at >= 0 && p->largest != 0u) {
            enlarge(image + (uint32_t)at * p->channels, weight, p->channels, t == 0u, out);
        } else if (at >= 0) {
            add(image + (uint32_t)at * p->channels, weight, p->channels, out);
        }
    }
}

void mg_sample_f32(const mg_sample_f32_params *p, const mg_f32 *in, const mg_f32 *places, mg_f32 *out)
{
    const mg_f32 *place = places;
    mg_f32 *to = out;
    for (uint32_t n = 0u; n < p->batches; n += 1u) {
        for (uint32_t i = 0u; i < p->points; i += 1u) {
            taps of[3];
            for (uint32_t axis = 0u; axis < p->axes; axis += 1u) {
                find(p, place[p->scale == 0u ? axis : p->axes - 1u - axis], p->size[axis], &of[axis]);
            }
            (void)memset(to, 0, p->channels * sizeof(*to));
            combine(p, in + n * p->image, of, to);
            place += p->axes;
            to += p->channels;
        }
    }
}
