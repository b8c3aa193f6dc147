/* SPDX-License-Identifier: Apache-2.0
 *
 * Any function of one byte, int8 or uint8, computed by a table.
 *
 *   y = table[x], x taken as unsigned
 *
 * table  256 bytes, filled with the reference runtime's values when the code is generated.  n bytes; out may be in.
 */
#ifndef MCUGEN_TABLE_B1_H
#define MCUGEN_TABLE_B1_H

#include "mcugen/runtime.h"

typedef struct {
    const uint8_t *table;
} mg_table_b1_params;

void mg_table_b1(const mg_table_b1_params *p, const void *in, void *out, uint32_t n);

#endif /* MCUGEN_TABLE_B1_H */
