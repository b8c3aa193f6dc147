/* SPDX-License-Identifier: Apache-2.0
 *
 * The energy in overlapping bands of a spectrum: each bin belongs to two neighbouring channels.
 *
 * first, start, width  [channels + 1] first bin, index of the first weight, and number of bins of each element c
 * weights, unweights   weights of the bins of element c for result c - 1 (unless c is 0), and for result c
 * Equals FilterBank.reference_q.
 */
#ifndef MCUGEN_FILTER_BANK_H
#define MCUGEN_FILTER_BANK_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t channels;
    const int16_t *weights;
    const int16_t *unweights;
    const int16_t *first;
    const int16_t *start;
    const int16_t *width;
} mg_filter_bank_params;

void mg_filter_bank(const mg_filter_bank_params *p, const mg_u32 *x, mg_u64 *y);

#endif /* MCUGEN_FILTER_BANK_H */
