/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/add_s8_run.h"

void mg_add_s8__constant(const mg_add_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const int8_t *const constant = p->constant;
    const uint32_t run = p->layout.run;
    const uint32_t step = p->layout.constant_step;
    const uint32_t elements = n * run;
    for (uint32_t i = 0u; i < elements; i += run) {
        if (p->layout.constant_first != 0u) {
            mg_add_s8_run(p, constant, step, in + i, 1u, out + i, run);
        } else {
            mg_add_s8_run(p, in + i, 1u, constant, step, out + i, run);
        }
    }
}
