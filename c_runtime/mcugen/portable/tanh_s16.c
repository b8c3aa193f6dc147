/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * tanh -> logistic
 */
#include "mcugen/tanh_s16.h"

#include "mcugen/sigmoid_s16.h"

void mg_tanh_s16(const mg_tanh_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    const int32_t half = (int32_t)(((uint32_t)1 << p->shift) >> 1);
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)mg_tanh_s16_of(p->table, (in[i] * p->mult + half) >> p->shift);
    }
}
