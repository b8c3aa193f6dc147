/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/maximum_s16_run.h"

void mg_maximum_s16__constant(const mg_maximum_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    const mg_s16 *const constant = p->constant;
    const uint32_t run = p->layout.run;
    const uint32_t step = p->layout.constant_step;
    const uint32_t elements = n * run;
    for (uint32_t i = 0u; i < elements; i += run) {
        if (p->layout.constant_first != 0u) {
            mg_maximum_s16_run(p, constant, step, in + i, 1u, out + i, run);
        } else {
            mg_maximum_s16_run(p, in + i, 1u, constant, step, out + i, run);
        }
    }
}
