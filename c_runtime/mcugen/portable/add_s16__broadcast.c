/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/add_s16_run.h"

void mg_add_s16__broadcast(const mg_add_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out)
{
    mg_elementwise_place at = {{0u}, 0u, 0u};
    for (uint32_t i = 0u; i < p->layout.runs; i += 1u) {
        mg_add_s16_run(p, a + at.a, p->layout.a_step, b + at.b, p->layout.b_step, out + i * p->layout.run, p->layout.run);
        mg_elementwise_next(&p->layout, &at);
    }
}
