/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/minimum_f32_run.h"

void mg_minimum_f32__constant(const mg_minimum_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    const mg_f32 *const constant = p->constant;
    const uint32_t run = p->layout.run;
    const uint32_t step = p->layout.constant_step;
    const uint32_t elements = n * run;
    for (uint32_t i = 0u; i < elements; i += run) {
        if (p->layout.constant_first != 0u) {
            mg_minimum_f32_run(p, constant, step, in + i, 1u, out + i, run);
        } else {
            mg_minimum_f32_run(p, in + i, 1u, constant, step, out + i, run);
        }
    }
}
