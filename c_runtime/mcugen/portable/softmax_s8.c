/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/softmax_s8.h"

#include "mcugen/reciprocal.h"

static int32_t largest(const int8_t *x, uint32_t n)
{
    int32_t most = x[0];
    for (uint32_t i = 1u; i < n; i += 1u) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static int32_t exponential(const mg_softmax_s8_params *p, int32_t below)
{
    return below < (int32_t)p->exp_length ? p->exp[below] : 0;
}

static void row(const mg_softmax_s8_params *p, const int8_t *in, int8_t *out)
{
    const int32_t most = largest(in, p->classes);
    int32_t sum = 0;
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        sum += mg_divide_by_pot(exponential(p, most - in[i]), 12u);
    }
    const uint32_t zeros = mg_leading_zeros((uint32_t)sum);
    /* If the sum is 2^28 or more, every result is below half a step, that is, 0. */
    const int32_t scale = zeros < 4u ? 0 : mg_one_over_one_plus((int32_t)(((uint32_t)sum << zeros) - 0x80000000u));
    const uint32_t shift = 35u - zeros;
    for (uint32_t i = 0u; i < p->classes; i += 1u) {
        const int32_t y = mg_divide_by_pot(mg_high_mul(exponential(p, most - in[i]), scale), shift & 31u);
        out[i] = (int8_t)mg_clamp(y + INT8_MIN, INT8_MIN, INT8_MAX);
    }
}

void mg_softmax_s8(const mg_softmax_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const uint32_t elements = n * p->classes;
    for (uint32_t i = 0u; i < elements; i += p->classes) {
        row(p, in + i, out + i);
    }
}
