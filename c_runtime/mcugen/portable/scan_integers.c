/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scan_integers.h"
#include "mcugen/any_integer.h"

static void scan(const mg_scan_integers_params *p, const void *in, void *out, uint32_t start)
{
    int64_t found = p->first;
    for (uint32_t k = 0u; k < p->size; k += 1u) {
        const uint32_t at = start + (p->reverse != 0u ? p->size - 1u - k : k) * p->inner;
        const uint32_t to = at;
        if (p->exclusive != 0u) {
            mg_store_integer(p->kind, out, to, found);
        }
        found = mg_fold_integers(p->how, found, mg_integer_at(p->kind, in, at));
        if (p->exclusive == 0u) {
            mg_store_integer(p->kind, out, to, found);
        }
    }
}

void mg_scan_integers(const mg_scan_integers_params *p, const void *in, void *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->inner; i += 1u) {
            scan(p, in, out, o * p->size * p->inner + i);
        }
    }
}
