/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/softmax_table_s8.h"

/* share * factor, rounded once, halves to even. share: a positive float up to 1. */
static int32_t steps_of_share(float share, uint32_t factor)
{
    union {
        float number;
        uint32_t bits;
    } parts;
    parts.number = share;
    const uint32_t shift = 150u - (parts.bits >> 23);
    const uint64_t product = (uint64_t)((parts.bits & 0x7FFFFFu) | 0x800000u) * factor;
    if (shift > 60u) {
        return 0; /* the product is below 2^53 */
    }
    const uint64_t whole = product >> shift, rest = product - (whole << shift), half = (uint64_t)1u << (shift - 1u);
    const uint32_t up = rest > half || (rest == half && (whole & 1u) != 0u) ? 1u : 0u;
    return whole > 1024u ? 1024 : (int32_t)((uint32_t)whole + up);
}

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
        const float share = p->exp[(uint32_t)(most - x[k])] / sum;
        const int32_t steps = p->factor != 0u ? steps_of_share(share, p->factor) : mg_round_even(share / p->scale);
        out[k] = (int8_t)mg_clamp(steps + p->zero_point, -128, 127);
    }
}

void mg_softmax_table_s8(const mg_softmax_table_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        softmax_of_row(p, in + i * p->classes, out + i * p->classes);
    }
}
