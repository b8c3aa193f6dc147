/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, int16 -> int8, mg_s16 -> int8_t
 */
#include "mcugen/svdf_s16.h"

/* Shifts one filter's memory by one step and appends the newest value. Returns sum plus the products of memory and w.
 */
static inline uint32_t filter(const int16_t *w, const mg_s16 *memory, mg_s16 *next, uint32_t steps, int16_t newest,
                              uint32_t sum)
{
    const uint32_t last = steps - 1u;
    for (uint32_t j = 0u; j < last; j += 1u) {
        const int16_t x = memory[j + 1u];
        next[j] = x;
        sum += (uint32_t)(w[j] * x);
    }
    next[last] = newest;
    return sum + (uint32_t)(w[last] * newest);
}

void mg_svdf_s16(const mg_svdf_s16_params *p, const mg_s16 *memory, const mg_s16 *newest, mg_s16 *next, int8_t *out)
{
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        const int16_t *w = p->weights;
        for (uint32_t u = 0u; u < p->units; u += 1u) {
            uint32_t sum = (uint32_t)p->bias[u];
            for (uint32_t k = 0u; k < p->rank; k += 1u) {
                sum = filter(w, memory, next, p->steps, (int16_t)(*newest + p->zero_point), sum);
                w += p->steps;
                memory += p->steps;
                next += p->steps;
                newest += 1;
            }
            *out = (int8_t)mg_clamp(mg_requantize((int32_t)sum, p->mult, p->shift) + p->out_zero_point, p->out_min,
                                    p->out_max);
            out += 1;
        }
    }
}
