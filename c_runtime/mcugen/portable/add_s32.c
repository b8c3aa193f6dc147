/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/add_s32_run.h"

void mg_add_s32(const mg_add_s32_params *p, const mg_s32 *a, const mg_s32 *b, mg_s32 *out, uint32_t n)
{
    mg_add_s32_run(p, a, 1u, b, 1u, out, n);
}
