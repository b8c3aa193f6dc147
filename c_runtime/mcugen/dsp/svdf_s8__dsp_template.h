/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an SVDF layer for one element of the batch.
 *
 *   MG_STEPS  steps that a filter remembers
 *   MG_RANK   filters of a unit
 *   MG_LARGE  1: sums may need 32 bits, or are shifted to the left when they are scaled
 */
#include "mcugen/dsp_pairs.h"
#include "mcugen/dsp_svdf_s8.h"

MG_DECLARE_svdf_s8__dsp(MG_KERNEL);

/* MG_GROUPS: number of groups of four steps, each followed by at least one more step. MG_LEFT: number of steps (one to
 * four) behind the groups. */
#define MG_GROUPS ((MG_STEPS - 1u) / 4u)
#define MG_LEFT (MG_STEPS - 4u * MG_GROUPS)

static inline int32_t MG_VARIANT(products)(uint32_t w, uint32_t x, int32_t sum)
{
    return mg_dsp_add_products(mg_dsp_odd(w), mg_dsp_odd(x), mg_dsp_add_products(mg_dsp_even(w), mg_dsp_even(x), sum));
}

/* Moves four steps from memory + 1 to next. Returns sum plus their products with w. */
static inline int32_t MG_VARIANT(moved)(const int8_t *w, const int8_t *memory, int8_t *next, int32_t sum)
{
    const uint32_t x = mg_dsp_word(memory + 1);
    memcpy(next, &x, sizeof(x));
    return MG_VARIANT(products)(mg_dsp_word(w), x, sum);
}

/* Moves one filter's memory by a step and appends `newest`. Returns sum plus the products with w. */
static inline int32_t MG_VARIANT(filter)(const int8_t *w, const int8_t *memory, int8_t *next, int8_t newest, int32_t sum)
{
    int32_t total = sum;
#if MG_GROUPS >= 2u
    for (uint32_t j = 0u; j < MG_GROUPS / 2u; j += 1u) {
        total = MG_VARIANT(moved)(w, memory, next, total);
        total = MG_VARIANT(moved)(w + 4, memory + 4, next + 4, total);
        w += 8;
        memory += 8;
        next += 8;
    }
#endif
#if MG_GROUPS % 2u != 0u
    total = MG_VARIANT(moved)(w, memory, next, total);
    w += 4;
    memory += 4;
    next += 4;
#endif
#if MG_LEFT == 4u
    const uint32_t x = mg_dsp_word(memory) >> 8 | (uint32_t)(uint8_t)newest << 24;
    memcpy(next, &x, sizeof(x));
    return MG_VARIANT(products)(mg_dsp_word(w), x, total);
#else
    uint32_t last = (uint32_t)total + (uint32_t)(w[MG_LEFT - 1u] * newest);
#if MG_LEFT > 1u
    for (uint32_t j = 1u; j < MG_LEFT; j += 1u) {
        const int8_t x = memory[j];
        next[j - 1u] = x;
        last += (uint32_t)(w[j - 1u] * x);
    }
#else
    (void)memory;
#endif
    next[MG_LEFT - 1u] = newest;
    return (int32_t)last;
#endif
}

MG_LINKAGE void MG_KERNEL(const mg_dsp_svdf_s8_params *p, const int8_t *memory, const int8_t *newest, int8_t *next,
                          int8_t *out)
{
    const int8_t *w = p->weights;
    const int32_t *bias = p->bias;
    const int32_t mult = p->mult, zero_point = p->zero_point, out_zero_point = p->out_zero_point, shift = p->shift;
    const uint32_t units = p->units;
    for (uint32_t u = 0u; u < units; u += 1u) {
        int32_t sum = bias[u];
        for (uint32_t k = 0u; k < MG_RANK; k += 1u) {
            sum = MG_VARIANT(filter)(w, memory, next, (int8_t)(*newest + zero_point), sum);
            w += MG_STEPS;
            memory += MG_STEPS;
            next += MG_STEPS;
            newest += 1;
        }
#if MG_LARGE
        const int32_t y = mg_requantize(sum, mult, shift);
#else
        const int32_t y = mg_dsp_high_sum(2 * sum, mult, p->addend + mg_sign(sum)) >> (uint32_t)-shift;
#endif
        out[u] = (int8_t)mg_clamp(y + out_zero_point, INT8_MIN, INT8_MAX);
    }
}

#undef MG_GROUPS
#undef MG_LEFT
