/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images if the weights of a few output channels exceed int8, see dense_s8__mve_outliers.h.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_OUTLIERS_H
#define MCUGEN_CONV2D_S8__MVE_OUTLIERS_H

#include "mcugen/dense_s8__mve_outliers.h"

#define MG_DECLARE_conv2d_s8__mve_patches_outliers(f) \
    MG_LINKAGE void MG_PART(f, row)(const mg_conv2d_s8__mve_outliers_params *p, const int8_t *in, int8_t *row); \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_outliers_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_OUTLIERS_H */
