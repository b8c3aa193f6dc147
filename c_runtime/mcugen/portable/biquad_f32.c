/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/biquad_f32.h"

static void filtered(const float *w, const mg_f32 *in, mg_f32 *out, uint32_t length)
{
    float first = 0.0f, second = 0.0f;
    for (uint32_t k = 0u; k < length; k += 1u) {
        const float x = in[k], y = w[0] * x + first;
        first = (w[1] * x - w[3] * y) + second;
        second = w[2] * x - w[4] * y;
        out[k] = y;
    }
}

void mg_biquad_f32(const mg_biquad_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        mg_f32 *const to = out + (size_t)o * p->length;
        filtered(p->sections, in + (size_t)o * p->length, to, p->length);
        for (uint32_t s = 1u; s < p->count; s += 1u) {
            filtered(p->sections + 5u * s, to, to, p->length);
        }
    }
}
