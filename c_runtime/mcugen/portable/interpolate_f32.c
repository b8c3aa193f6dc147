/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/interpolate_f32.h"

void mg_interpolate_f32(const mg_interpolate_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    mg_f32 *to = out;
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        const mg_f32 *const from = in + o * p->size_in * p->inner;
        for (uint32_t j = 0u; j < p->size_out; j += 1u) {
            const int32_t *const index = p->index + j * p->taps;
            const float *const weight = p->weight + j * p->taps;
            for (uint32_t i = 0u; i < p->inner; i += 1u) {
                float sum = 0.0f;
                for (uint32_t t = 0u; t < p->taps; t += 1u) {
                    sum += weight[t] * from[(uint32_t)index[t] * p->inner + i];
                }
                to[i] = sum;
            }
            to += p->inner;
        }
    }
}
