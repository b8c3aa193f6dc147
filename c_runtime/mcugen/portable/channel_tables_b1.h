/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of one byte, int8 or uint8, for each channel, computed by tables.
 *
 *   y = tables[c][x], x taken as unsigned
 *
 * n: number of pixels, of `channels` bytes each; `out` may be equal to `in`.
 */
#ifndef MCUGEN_CHANNEL_TABLES_B1_H
#define MCUGEN_CHANNEL_TABLES_B1_H

#include "mcugen/runtime.h"

typedef struct {
    const uint8_t *tables; /* [channels][256] */
    uint32_t channels;
} mg_channel_tables_b1_params;

void mg_channel_tables_b1(const mg_channel_tables_b1_params *p, const void *in, void *out, uint32_t n);

#endif /* MCUGEN_CHANNEL_TABLES_B1_H */
