/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a fully connected layer, four outputs at a time, on top of dot_1x4_template.h.
 * Instead of MG_NAME(store) it needs MG_NAME(finish)(p, o, acc), the output o.
 */
#include "mcugen/nine_template.h"

static inline void MG_NAME(vector)(const MG_NAME(params) *p, const MG_NAME(x) *x, MG_NAME(x) *out)
{
    const uint32_t fours = p->out_len & ~3u;
    const MG_NAME(acc) lack = MG_NAME(lack)(p, x, p->in_len);
    for (uint32_t o = 0u; o < fours; o += 4u) {
        MG_NAME(acc) acc[4] = {MG_NAME(start)(p, o, lack), MG_NAME(start)(p, o + 1u, lack),
                               MG_NAME(start)(p, o + 2u, lack), MG_NAME(start)(p, o + 3u, lack)};
        MG_NAME(dot_1x4)(acc, x, 0, MG_NAME(from)(p->weights, o * p->in_len), p->in_len);
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            out[o + i] = MG_NAME(finish)(p, o + i, acc[i]);
        }
    }
    for (uint32_t o = fours; o < p->out_len; o += 1u) {
        MG_NAME(acc) acc = MG_NAME(start)(p, o, lack);
        MG_NAME(dot_1x1)(&acc, x, 0, p->weights, o * p->in_len, p->in_len);
        out[o] = MG_NAME(finish)(p, o, acc);
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *in, MG_NAME(x) *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        MG_NAME(vector)(p, in + i * p->in_len, out + i * p->out_len);
    }
}
