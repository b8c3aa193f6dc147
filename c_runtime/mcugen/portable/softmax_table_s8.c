/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/softmax_table_s8.h"

static void softmax_of_row(const mg_softmax_table_s8_params *p, const int8_t *x, int8_t *out)
{
    int32_t most = INT8_MIN;
    float sum = 0.0f;
    for (uint32_t k = 0u; k < p->classes; k += 1u) {
        most = x[k] > most ? x[k] : most;
    }
    for (uint32_t k = 0u; k < p->classes; k += 1u) {
        sum += p->exp[(uint32_t)(most - x[k])];
    }
    for (uint32_t k = 0u; k < p->classes; k += 1u) {
        const float steps = p->exp[(uint32_t)(most - x[k])] * p->factor / sum / p->scale;
        out[k] = (int8_t)mg_clamp(mg_round_even(steps) + p->zero_point, -128, 127);
    }
}

void mg_softmax_table_s8(const mg_softmax_table_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        softmax_of_row(p, in + i * p->classes, out + i * p->classes);
    }
}
