/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/l2_normalization_s8.h"

#include "mcugen/inverse_root.h"

void mg_l2_normalization_s8(const mg_l2_normalization_s8_params *p, const int8_t *x, int8_t *y)
{
    for (uint32_t r = 0u; r < p->rows; r += 1u) {
        const int8_t *const row = x + r * p->length;
        int32_t total = 0;
        for (uint32_t i = 0u; i < p->length; i += 1u) {
            const int32_t v = row[i] - p->zero;
            total += v * v;
        }
        const mg_inverse_root by = mg_inverse_root_of(total);
        for (uint32_t i = 0u; i < p->length; i += 1u) {
            const int32_t v = (row[i] - p->zero) * (128 >> p->up);
            y[r * p->length + i] = (int8_t)mg_clamp(mg_requantize(v, by.mult, p->up - by.down), -128, 127);
        }
    }
}
