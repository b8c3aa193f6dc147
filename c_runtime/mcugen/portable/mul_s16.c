/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/mul_s16_run.h"

void mg_mul_s16(const mg_mul_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out, uint32_t n)
{
    mg_mul_s16_run(p, a, 1u, b, 1u, out, n);
}
