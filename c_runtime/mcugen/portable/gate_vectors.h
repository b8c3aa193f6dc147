/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of weights and vectors of int8 for the templates of recurrent layers, in portable C.
 */
#include "mcugen/gate_bytes.h"

static inline mg_gate_rows rows_after(mg_gate_rows rows, uint32_t count)
{
    return mg_gate_rows_after(rows, count);
}

static inline void sums(const mg_gate_rows *rows, const int8_t *x, uint32_t count, mg_s16 *out)
{
    mg_gate_sums(rows, x, count, out);
}
