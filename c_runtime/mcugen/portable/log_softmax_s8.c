/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/log_softmax_s8.h"

#include "mcugen/logarithm.h"

static int32_t largest(const int8_t *x, uint32_t n)
{
    int32_t most = x[0];
    for (uint32_t i = 1u; i < n; i += 1u) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static void row(const mg_log_softmax_s8_params *p, const int8_t *in, int8_t *out)
{
    const int32_t most = largest(in, p->classes), exp_length = (int32_t)p->exp_length;
    int32_t sum = 0, within;
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        sum += most - in[i] < exp_length ? p->exp[most - in[i]] : 0;
    }
    const int32_t total = mg_log_q12(sum);
    within = -mg_requantize(INT32_MIN + total, p->mult, p->shift);
    within = within < exp_length ? within : exp_length;
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        const int32_t below = most - in[i];
        const int32_t y = below < within ? mg_divide_by_pot(p->scaled[below] - total, 22u) + INT8_MAX : INT8_MIN;
        out[i] = (int8_t)mg_clamp(y, INT8_MIN, INT8_MAX);
    }
}

void mg_log_softmax_s8(const mg_log_softmax_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const uint32_t elements = n * p->classes;
    for (uint32_t i = 0u; i < elements; i += p->classes) {
        row(p, in + i, out + i);
    }
}
