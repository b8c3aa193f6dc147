/* SPDX-License-Identifier: Apache-2.0
 *
 * The energy in overlapping bands of a spectrum, whose bins are read once each.
 *
 * first    the first bin with a weight
 * widths   [channels + 1] number of bins of each channel; the next channel begins behind these bins
 * weights  two for each bin of channel c: for result c - 1, and for result c. A result's weights add up to at most
 *          65,536
 * Equals FilterBank.reference_q.
 */
#ifndef MCUGEN_FILTER_BANK_PAIRS_H
#define MCUGEN_FILTER_BANK_PAIRS_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t channels, first;
    const uint16_t *widths;
    const uint16_t *weights;
} mg_filter_bank_pairs_params;

void mg_filter_bank_pairs(const mg_filter_bank_pairs_params *p, const mg_u32 *x, mg_u64 *y);

#endif /* MCUGEN_FILTER_BANK_PAIRS_H */
