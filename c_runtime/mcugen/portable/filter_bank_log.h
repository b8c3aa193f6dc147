/* SPDX-License-Identifier: Apache-2.0
 *
 * The natural logarithm of each channel, times a scale.
 *
 * bits: x is shifted left by so many;   bends: how far the logarithm to base 2 lies above a line, at 129 places
 * Equals FilterBankLog.reference_q.
 */
#ifndef MCUGEN_FILTER_BANK_LOG_H
#define MCUGEN_FILTER_BANK_LOG_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size, bits, scale;
    const uint16_t *bends;
} mg_filter_bank_log_params;

void mg_filter_bank_log(const mg_filter_bank_log_params *p, const mg_u32 *x, mg_s16 *y);

#endif /* MCUGEN_FILTER_BANK_LOG_H */
