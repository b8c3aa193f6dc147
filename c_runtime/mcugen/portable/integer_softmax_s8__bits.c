/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/integer_softmax_s8.h"
#include "mcugen/integer_softmax_row.h"

/* All bits set for a key, else none. */
static inline uint32_t keys_at(const uint32_t *mask, uint32_t k)
{
    return 0u - ((mask[k / 32u] >> (k % 32u)) & 1u);
}

static void row_of(const mg_integer_softmax_s8_params *p, const uint32_t *mask, const int8_t *x, int8_t *out)
{
    const uint32_t f = p->f, spare = 23u - f;
    int32_t most = INT8_MIN, r;
    uint32_t sum = 0u, keys = 0u;
    for (uint32_t k = 0u; k < p->classes; k += 1u) {
        const uint32_t is_key = keys_at(mask, k);
        most = mg_softmax_larger((int32_t)(((uint32_t)(x[k] + 128)) & is_key) - 128, most);
        keys |= is_key;
    }
    for (uint32_t k = 0u; k < p->classes; k += 1u) {
        sum += p->exp[(uint32_t)(most - x[k]) & keys_at(mask, k)] >> spare & keys_at(mask, k);
    }
    sum |= ~keys & 0x80000000u; /* a row without keys: any sum will do */
    r = mg_softmax_reciprocal(sum, f);
    for (uint32_t k = 0u; k < p->classes; k += 1u) {
        const uint32_t is_key = keys_at(mask, k), t = p->exp[(uint32_t)(most - x[k]) & is_key];
        out[k] = (int8_t)((int32_t)(mg_softmax_share(t, r) & is_key) - 128);
    }
}

void mg_integer_softmax_s8__bits(const mg_integer_softmax_s8_params *p, const int8_t *in, int8_t *out)
{
    const uint32_t words = (p->classes + 31u) / 32u;
    uint32_t row = 0u;
    for (uint32_t i = 0u; i < p->rows; i += 1u) {
        row_of(p, p->mask + row * words, in + i * p->classes, out + i * p->classes);
        row = row + 1u < p->mask_rows ? row + 1u : 0u;
    }
}
