/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int8 data with weights of 4 bits that have a factor for each block, rounded once.
 *
 *   sum = sum over blocks j of factor[o][j] * (sum over the inputs k of block j of w[o][k] * x[k])
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * x       int8 [n][taps]; stored values, the zero point is folded into the bias
 * weights, factors: see block_rows.h
 * sums    cannot leave 32 bits: proved when the code is generated
 */
#ifndef MCUGEN_FULLY_CONNECTED_S8B4_LINE_H
#define MCUGEN_FULLY_CONNECTED_S8B4_LINE_H

#include "mcugen/block_rows.h"

typedef struct {
    MG_BLOCK_FIELDS
    uint32_t out_len;
} mg_fully_connected_s8b4_line_params;

/* Computes n vectors. in: n * taps, out: n * out_len. */
void mg_fully_connected_s8b4_line(const mg_fully_connected_s8b4_line_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S8B4_LINE_H */
