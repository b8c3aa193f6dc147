/* SPDX-License-Identifier: Apache-2.0
 *
 * The roots of the energies in overlapping bands of a spectrum, to the nearest integer, shifted right by `bits`.
 *
 * Fields: see filter_bank_pairs.h.
 * Equals FilterBankRoots.reference_q.
 */
#ifndef MCUGEN_FILTER_BANK_ROOTS_H
#define MCUGEN_FILTER_BANK_ROOTS_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t channels, first;
    const uint16_t *widths;
    const uint16_t *weights;
} mg_filter_bank_roots_params;

void mg_filter_bank_roots(const mg_filter_bank_roots_params *p, const mg_u32 *x, const mg_s32 *bits, mg_u32 *y);

#endif /* MCUGEN_FILTER_BANK_ROOTS_H */
