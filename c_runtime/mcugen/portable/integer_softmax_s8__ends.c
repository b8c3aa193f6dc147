/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/integer_softmax_s8.h"
#include "mcugen/integer_softmax_row.h"

void mg_integer_softmax_s8__ends(const mg_integer_softmax_s8_params *p, const int8_t *in, int8_t *out)
{
    uint32_t row = 0u;
    for (uint32_t i = 0u; i < p->rows; i += 1u) {
        const uint32_t end = p->mask[row];
        int8_t *const y = out + i * p->classes;
        if (end > 0u) {
            mg_softmax_keys(p, in + i * p->classes, y, end);
        }
        for (uint32_t k = end; k < p->classes; k += 1u) {
            y[k] = INT8_MIN;
        }
        row = row + 1u < p->mask_rows ? row + 1u : 0u;
    }
}
