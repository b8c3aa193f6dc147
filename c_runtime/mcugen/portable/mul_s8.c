/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/mul_s8_run.h"

void mg_mul_s8(const mg_mul_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)
{
    mg_mul_s8_run(p, a, 1u, b, 1u, out, n);
}
