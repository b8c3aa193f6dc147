/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalizes n rows, each element with a gain and an offset of its own: see norm.h.
 *
 * lines  [norm.n][2]: gain and offset of each element
 * x, y   [n][norm.n]; y may be x
 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s16_s8, const int8_t -> const mg_s16
 * s8 -> s16, int8_t -> mg_s16
 */
#ifndef MCUGEN_NORM_S8_H
#define MCUGEN_NORM_S8_H

#include "mcugen/norm.h"

typedef struct {
    const int32_t *lines;
    mg_norm norm;
} mg_norm_s8_params;

void mg_norm_s8(const mg_norm_s8_params *p, const int8_t *x, int8_t *y, uint32_t n);

/* This normalization on cores with the DSP instructions. */
void mg_norm_s8__dsp(const mg_norm_s8_params *p, const int8_t *x, int8_t *y, uint32_t n);

#endif /* MCUGEN_NORM_S8_H */
