/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a fully connected layer on float data, with weights of MG_BITS bits that have a scale for each block.
 */
#include "mcugen/blocked_fully_connected_f32.h"

#define MG_EACH (8u / MG_BITS)
#define MG_MASK ((1u << MG_BITS) - 1u)

MG_DECLARE_blocked_fully_connected_f32(MG_KERNEL);

/* sum over k < n of (w[k] - zero) * x[k] */
static float MG_VARIANT(part)(const uint8_t *w, const mg_f32 *x, uint32_t n, int32_t zero)
{
    const uint32_t whole = n - n % MG_EACH;
    float sum = 0.0f;
    for (uint32_t k = 0u; k < whole; k += MG_EACH) {
        const uint32_t several = w[k / MG_EACH];
        for (uint32_t i = 0u; i < MG_EACH; i += 1u) {
            sum += x[k + i] * (float)((int32_t)((several >> (i * MG_BITS)) & MG_MASK) - zero);
        }
    }
    for (uint32_t k = whole; k < n; k += 1u) {
        const uint32_t several = w[k / MG_EACH];
        sum += x[k] * (float)((int32_t)((several >> (k % MG_EACH * MG_BITS)) & MG_MASK) - zero);
    }
    return sum;
}

MG_LINKAGE void MG_KERNEL(const mg_blocked_fully_connected_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const mg_f32 *const x = in + i * p->in_len;
        uint32_t place = 0u;
        for (uint32_t o = 0u; o < p->out_len; o += 1u) {
            const uint8_t *const row = p->weights + o * p->row_len;
            float sum = p->bias[o];
            for (uint32_t k = 0u; k < p->in_len; k += p->block) {
                const uint32_t rest = p->in_len - k, count = rest < p->block ? rest : p->block;
                const int32_t zero = p->zeros[place * p->zero_stride];
                sum += p->scales[place] * MG_VARIANT(part)(row + k / MG_EACH, x + k, count, zero);
                place += 1u;
            }
            sum = sum < p->out_min ? p->out_min : sum;
            out[i * p->out_len + o] = sum > p->out_max ? p->out_max : sum;
        }
    }
}

#undef MG_EACH
#undef MG_MASK
