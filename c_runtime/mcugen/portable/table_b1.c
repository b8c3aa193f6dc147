/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/table_b1.h"

void mg_table_b1(const mg_table_b1_params *p, const void *in, void *out, uint32_t n)
{
    const uint8_t *const table = p->table;
    const uint8_t *const from = in;
    uint8_t *const to = out;
    for (uint32_t i = 0u; i < n; i += 1u) {
        to[i] = table[from[i]];
    }
}
