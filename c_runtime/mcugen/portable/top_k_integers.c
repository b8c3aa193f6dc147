/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/top_k_integers.h"
#include "mcugen/any_integer.h"

/* Whether element `first` is sorted before element `second`; both are positions on the axis that begins at `start`. */
static int is_before(const mg_top_k_integers_params *p, const void *in, uint32_t start, uint32_t first, uint32_t second)
{
    uint32_t at = start + first * p->inner;
    const int64_t a = mg_integer_at(p->kind, in, at);
    at = start + second * p->inner;
    const int64_t b = mg_integer_at(p->kind, in, at);
    if (a > b || a < b) {
        return (a < b) == (p->smallest != 0u);
    }
    return first < second;
}

static void store(const mg_top_k_integers_params *p, const void *in, void *out, void *positions, uint32_t to, uint32_t start,
                  uint32_t best)
{
    const uint32_t at = start + best * p->inner;
    const int64_t found = mg_integer_at(p->kind, in, at);
    mg_store_integer(p->kind, out, to, found);
    if (p->wide != 0u) {
        ((mg_s64 *)positions)[to] = (int64_t)best;
    } else {
        ((mg_s32 *)positions)[to] = (int32_t)best;
    }
}

void mg_top_k_integers(const mg_top_k_integers_params *p, const void *in, void *out, void *positions)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->inner; i += 1u) {
            const uint32_t start = o * p->size * p->inner + i;
            uint32_t last = p->size;
            for (uint32_t k = 0u; k < p->k; k += 1u) {
                uint32_t best = p->size;
                for (uint32_t j = 0u; j < p->size; j += 1u) {
                    const int is_left = last == p->size || (j != last && is_before(p, in, start, last, j) != 0);
                    if (is_left != 0 && (best == p->size || is_before(p, in, start, j, best) != 0)) {
                        best = j;
                    }
                }
                last = best < p->size ? best : 0u;
                store(p, in, out, positions, (o * p->k + k) * p->inner + i, start, last);
            }
        }
    }
}
