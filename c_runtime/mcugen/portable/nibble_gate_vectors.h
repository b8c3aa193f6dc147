/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of weights of 4 bits and vectors of int8 for the templates of recurrent layers, in portable C.
 * Two weights lie in a byte, the first in the lower half; each row begins a new byte.
 */
#include "mcugen/gate_bytes.h"

static inline mg_gate_rows rows_after(mg_gate_rows rows, uint32_t count)
{
    mg_gate_rows rest = mg_gate_rows_after(rows, count);
    rest.w = rows.w + count * ((rows.n + 1u) / 2u);
    return rest;
}

static inline void sums(const mg_gate_rows *rows, const int8_t *x, uint32_t count, mg_s16 *out)
{
    const int8_t *w = rows->w;
    for (uint32_t k = 0u; k < count; k += 1u) {
        const uint32_t pairs = rows->n / 2u;
        int32_t sum = rows->bias[k];
        for (uint32_t i = 0u; i < pairs; i += 1u) {
            const int32_t both = w[i];
            sum += (((both & 15) ^ 8) - 8) * x[2u * i] + (both >> 4) * x[2u * i + 1u];
        }
        w += pairs;
        if ((rows->n & 1u) != 0u) {
            sum += (((*w & 15) ^ 8) - 8) * x[rows->n - 1u];
            w += 1;
        }
        out[k] = (int16_t)mg_gate_sum(sum, rows->left, rows->mult[k], rows->shift[k]);
    }
}
