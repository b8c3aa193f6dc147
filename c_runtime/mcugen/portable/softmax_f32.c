/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/softmax_f32.h"
#include "mcugen/curves.h"

static float largest(const mg_f32 *x, uint32_t n)
{
    float most = x[0];
    for (uint32_t i = 1u; i < n; i += 1u) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static void row(const mg_softmax_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    const float most = largest(in, p->classes);
    float sum = 0.0f;
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        const float e = mg_exp((in[i] - most) * p->beta);
        out[i] = e;
        sum += e;
    }
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        out[i] = out[i] / sum;
    }
}

void mg_softmax_f32(const mg_softmax_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    const uint32_t elements = n * p->classes;
    for (uint32_t i = 0u; i < elements; i += p->classes) {
        row(p, in + i, out + i);
    }
}
