/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scan_f32.h"

static void scan(const mg_scan_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t start)
{
    float found = p->first;
    for (uint32_t k = 0u; k < p->size; k += 1u) {
        const uint32_t at = start + (p->reverse != 0u ? p->size - 1u - k : k) * p->inner;
        const uint32_t to = at;
        if (p->exclusive != 0u) {
            out[to] = found;
        }
        found = mg_fold_floats(p->how, found, in[at]);
        if (p->exclusive == 0u) {
            out[to] = found;
        }
    }
}

void mg_scan_f32(const mg_scan_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->inner; i += 1u) {
            scan(p, in, out, o * p->size * p->inner + i);
        }
    }
}
