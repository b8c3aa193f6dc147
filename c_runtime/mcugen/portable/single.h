/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts integer sums to stored integers in float32. Used if the reference computes in float32, or if float32 is
 * proved to give the same results.
 *
 *   y = round(float32(float32(sum) * factor)) + zero_point, halves to even
 */
#ifndef MCUGEN_SINGLE_H
#define MCUGEN_SINGLE_H

#include "mcugen/scale_float.h"

typedef struct {
    const int32_t *factor; /* the bits of a float32 for each channel */
    int32_t zero_point, out_min, out_max;
} mg_single;

static inline int32_t mg_single_at(const mg_single *single, uint32_t o, int32_t sum)
{
    return mg_clamp(mg_scale_float(sum, single->factor[o]) + single->zero_point, single->out_min, single->out_max);
}

#endif /* MCUGEN_SINGLE_H */
