/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/linear_sum_s8_run.h"

void mg_linear_sum_s8__broadcast(const mg_linear_sum_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out)
{
    mg_elementwise_place at = {{0u}, 0u, 0u};
    for (uint32_t i = 0u; i < p->layout.runs; i += 1u) {
        mg_linear_sum_s8_run(&p->form, a + at.a, p->layout.a_step, b + at.b, p->layout.b_step, out + i * p->layout.run, p->layout.run);
        mg_elementwise_next(&p->layout, &at);
    }
}
