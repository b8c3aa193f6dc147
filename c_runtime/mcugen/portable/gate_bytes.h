/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of int8, read in place, for the templates of recurrent layers, in portable C.
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
