/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of int8, read in place, and rows of weights for the templates of recurrent layers, in portable C.
 */
#include "mcugen/gate_rows.h"

#define MG_READ int8_t
#define MG_ROWS mg_gate_rows

static inline uint32_t room(uint32_t n)
{
    return n;
}

static inline const int8_t *widened(const int8_t *x, int8_t *wide, uint32_t n)
{
    (void)wide;
    (void)n;
    return x;
}

static inline mg_gate_rows rows_after(mg_gate_rows rows, uint32_t count)
{
    return mg_gate_rows_after(rows, count);
}

static inline void sums(const mg_gate_rows *rows, const int8_t *x, uint32_t count, mg_s16 *out)
{
    mg_gate_sums(rows, x, count, out);
}
