/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/biquad_f32.h"

static void filtered(const float *w, const mg_f32 *in, mg_f32 *out, uint32_t length, uint32_t step)
{
    float first = 0.0f, second = 0.0f;
    for (uint32_t k = 0u; k < length; k += 1u) {
        const float x = in[k * step], y = w[0] * x + first;
        first = (w[1] * x - w[3] * y) + second;
        second = w[2] * x - w[4] * y;
        out[k * step] = y;
    }
}

void mg_biquad_f32(const mg_biquad_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->inner; i += 1u) {
            const size_t at = (size_t)o * p->length * p->inner + i;
            filtered(p->sections, in + at, out + at, p->length, p->inner);
            for (uint32_t s = 1u; s < p->count; s += 1u) {
                filtered(p->sections + 5u * s, out + at, out + at, p->length, p->inner);
            }
        }
    }
}
