/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalizes groups of channels of images, or of other data whose gains repeat: see norm.h.
 *
 * x, y      [rows][positions][groups][channels], of which [positions][channels] is one row of norm.h; y may be x
 * gain, offset  [count]: part k of group g has the entry (g * lines + k) % count; g counts the groups of all rows
 * lines     parts of a group: part k begins at element k * first, and has `length` elements that lie `stride` apart
 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s16_s8, const int8_t -> const mg_s16
 * s8 -> s16, int8_t -> mg_s16
 */
#ifndef MCUGEN_NORM_GROUPS_S8_H
#define MCUGEN_NORM_GROUPS_S8_H

#include "mcugen/norm.h"

typedef struct {
    const int32_t *gain;
    const int32_t *offset;
    mg_norm norm;
    uint32_t rows, positions, groups, channels, count, lines, first, length, stride;
} mg_norm_groups_s8_params;

void mg_norm_groups_s8(const mg_norm_groups_s8_params *p, const int8_t *x, int8_t *y);

/* This normalization on cores with the DSP instructions. */
void mg_norm_groups_s8__dsp(const mg_norm_groups_s8_params *p, const int8_t *x, int8_t *y);

#endif /* MCUGEN_NORM_GROUPS_S8_H */
