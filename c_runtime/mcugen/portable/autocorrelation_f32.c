/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/autocorrelation_f32.h"

#define BLOCK 64u /* numbers in a block; block sums are added to the total */

/* Sum over i < n of a[i * step] * b[i * step], block by block. */
static float products(const mg_f32 *a, const mg_f32 *b, uint32_t n, uint32_t step)
{
    float sum = 0.0f;
    for (uint32_t start = 0u; start < n; start += BLOCK) {
        const uint32_t end = n - start < BLOCK ? n : start + BLOCK;
        float part = 0.0f;
        for (uint32_t i = start; i < end; i += 1u) {
            part += a[i * step] * b[i * step];
        }
        sum += part;
    }
    return sum;
}

void mg_autocorrelation_f32(const mg_autocorrelation_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t c = 0u; c < p->channels; c += 1u) {
            const mg_f32 *const x = in + (size_t)o * p->length * p->channels + c;
            mg_f32 *const to = out + ((size_t)o * p->channels + c) * p->count;
            const float energy = products(x, x, p->length, p->channels);
            for (uint32_t k = 0u; k < p->count; k += 1u) {
                const uint32_t lag = p->lags[k];
                const float sum = products(x, x + lag * p->channels, p->length - lag, p->channels);
                to[k] = energy > 0.0f ? sum / energy : 0.0f;
            }
        }
    }
}
