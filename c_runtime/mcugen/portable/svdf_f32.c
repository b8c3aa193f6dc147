/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/svdf_f32.h"

/* Shifts one filter's memory by one step and appends the newest value. Returns the sum of the products of memory and w.
 */
static inline float filter(const mg_f32 *w, const mg_f32 *memory, mg_f32 *next, uint32_t steps, float newest)
{
    const uint32_t last = steps - 1u;
    float sum = 0.0f;
    for (uint32_t j = 0u; j < last; j += 1u) {
        const float x = memory[j + 1u];
        next[j] = x;
        sum += w[j] * x;
    }
    next[last] = newest;
    return sum + w[last] * newest;
}

void mg_svdf_f32(const mg_svdf_f32_params *p, const mg_f32 *memory, const mg_f32 *newest, mg_f32 *next, mg_f32 *out)
{
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        const mg_f32 *w = p->weights;
        for (uint32_t u = 0u; u < p->units; u += 1u) {
            float sum = p->bias[u];
            for (uint32_t k = 0u; k < p->rank; k += 1u) {
                sum += filter(w, memory, next, p->steps, *newest);
                w += p->steps;
                memory += p->steps;
                next += p->steps;
                newest += 1;
            }
            *out = mg_clamp_float(sum, p->out_min, p->out_max);
            out += 1;
        }
    }
}
