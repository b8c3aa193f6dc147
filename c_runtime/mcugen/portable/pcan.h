/* SPDX-License-Identifier: Apache-2.0
 *
 * A gain for each channel that follows its noise: x * gain(noise), with large values made smaller.
 *
 * gains: those of 0, 1 and 2; then, four entries for each number of bits, a parabola: value, slope and bend
 * Equals Pcan.reference_q.
 */
#ifndef MCUGEN_PCAN_H
#define MCUGEN_PCAN_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size, shift;
    const int16_t *gains;
} mg_pcan_params;

void mg_pcan(const mg_pcan_params *p, const mg_u32 *x, const mg_u32 *noise, mg_u32 *y);

#endif /* MCUGEN_PCAN_H */
