/* SPDX-License-Identifier: Apache-2.0
 *
 * The root of each energy, to the nearest integer, shifted right by the `bits` that the samples were shifted left.
 * Equals FilterBankSquareRoot.reference_q.
 */
#ifndef MCUGEN_FILTER_BANK_SQUARE_ROOT_H
#define MCUGEN_FILTER_BANK_SQUARE_ROOT_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size;
} mg_filter_bank_square_root_params;

void mg_filter_bank_square_root(const mg_filter_bank_square_root_params *p, const mg_u64 *x, const mg_s32 *bits, mg_u32 *y);

#endif /* MCUGEN_FILTER_BANK_SQUARE_ROOT_H */
