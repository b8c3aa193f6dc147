/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of int8 vectors with weights of which a few channels leave int8, for cores with Helium: legacy uint8 weights
 * less their zero point have nine bits, and mostly only the largest of a layer needs the ninth.
 *
 * The kernel of int8 weights computes all channels; those that leave int8, the outliers, are computed anew, their weights
 * being 2 * half + rest, both int8.
 *
 * stream    for each outlier: its channel, bias, mult, shift; then for each 16 elements of a vector 16 halves and 16
 *           rests, zero beyond `length`
 * count     outliers
 *
 *   dense_s8__mve_outliers          as dense_s8__mve: MG_FINISH as in its narrow kernel, MG_LONG as in dense_s8_template
 *   conv2d_s8__mve_patches_outliers  as conv2d_s8__mve_patches
 */
#ifndef MCUGEN_DENSE_S8__MVE_OUTLIERS_H
#define MCUGEN_DENSE_S8__MVE_OUTLIERS_H

#include "mcugen/conv2d_s8__mve.h"
#include "mcugen/dense_s8__mve.h"

typedef struct {
    const int32_t *stream;
    uint32_t count, length;
} mg_mve_outliers;

typedef struct {
    mg_dense_s8__mve_params base;
    mg_mve_outliers outliers;
} mg_dense_s8__mve_outliers_params;

typedef struct {
    mg_conv2d_s8__mve_params base;
    mg_mve_outliers outliers;
} mg_conv2d_s8__mve_outliers_params;

#define MG_DECLARE_dense_s8__mve_outliers(f) \
    MG_LINKAGE void f(const mg_dense_s8__mve_outliers_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)

#endif /* MCUGEN_DENSE_S8__MVE_OUTLIERS_H */
