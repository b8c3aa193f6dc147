/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of int8 vectors with weights that exceed int8 in a few output channels, for cores with Helium. Legacy uint8
 * weights minus their zero point have nine bits, but in most layers only the largest weights need the ninth bit.
 *
 * The kernel for int8 weights computes all channels. Channels with weights beyond int8, the outliers, are then computed
 * again, with weights 2 * half + rest; both parts are int8.
 *
 * stream   per outlier: int32 channel, bias, mult, shift; then, per 16 elements of a vector, 16 bytes of `half` and 16
 *          of `rest`, zero behind `length`
 * count    number of outliers; length: elements of a vector
 *
 *   dense_s8__mve_outliers           like dense_s8__mve. MG_FINISH: as in its __mve_narrow; MG_LONG: as in
 *   dense_s8_template__mve.h
 *   conv2d_s8__mve_patches_outliers  like conv2d_s8__mve_patches
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
