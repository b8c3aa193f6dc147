/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/mul_f32_run.h"

void mg_mul_f32__broadcast(const mg_mul_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out)
{
    mg_elementwise_place at = {{0u}, 0u, 0u};
    for (uint32_t i = 0u; i < p->layout.runs; i += 1u) {
        mg_mul_f32_run(p, a + at.a, p->layout.a_step, b + at.b, p->layout.b_step, out + i * p->layout.run, p->layout.run);
        mg_elementwise_next(&p->layout, &at);
    }
}
