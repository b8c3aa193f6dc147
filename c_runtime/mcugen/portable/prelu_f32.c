/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/prelu_f32_run.h"

void mg_prelu_f32(const mg_prelu_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n)
{
    mg_prelu_f32_run(p, a, 1u, b, 1u, out, n);
}
