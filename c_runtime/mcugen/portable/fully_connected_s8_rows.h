/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on one image of int8 data, which adds the products of each row as the row comes. So no more than
 * a row of the image must be in memory. Same results as mg_fully_connected_s8, and the same weights: see there.
 *
 * row_len  elements of a row of the image
 * acc      int32 [out_len], the sums
 */
#ifndef MCUGEN_FULLY_CONNECTED_S8_ROWS_H
#define MCUGEN_FULLY_CONNECTED_S8_ROWS_H

#include "mcugen/filter.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    MG_INTEGER_FIELDS
    uint32_t in_len, out_len, row_len;
    uint8_t scale_stride, rounds_once;
} mg_fully_connected_s8_rows_params;

/* Sets the sums to the bias. */
void mg_fully_connected_s8_rows_begin(const mg_fully_connected_s8_rows_params *p, void *acc);
/* Adds the products of n rows, from row y on. */
void mg_fully_connected_s8_rows_rows(const mg_fully_connected_s8_rows_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                     void *acc);
/* The outputs, after all rows. */
void mg_fully_connected_s8_rows_end(const mg_fully_connected_s8_rows_params *p, const void *acc, int8_t *out);

#endif /* MCUGEN_FULLY_CONNECTED_S8_ROWS_H */
