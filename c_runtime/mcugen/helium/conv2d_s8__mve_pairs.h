/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images for cores with Helium with little scratch: the taps of two pixels at a time are gathered
 * from the input's rows into patches. One copy of the code serves layers of all sizes. Sums and stream: see
 * conv2d_s8__mve_shared.h.
 *
 * MG_FINISH  2, 4 or 5, see conv2d_s8__mve.h; 2 also serves layers of 0 and 1
 * steps      a patch has `steps` steps of 16 bytes: kernel_h rows of kernel_w pixels of in_c bytes
 * dilation   pixels from a kernel column to the next
 * left       pixels of padding on the left; stride: pixels from a window to the next
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_PAIRS_H
#define MCUGEN_CONV2D_S8__MVE_PAIRS_H

#include "mcugen/conv2d_s8__mve_shared.h"

typedef struct {
    const int8_t *stream;
    uint32_t out_w, out_c;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
    uint16_t steps, kernel_h, kernel_w, in_c, in_w, stride, dilation, left;
} mg_conv2d_s8__mve_pairs_params;

/* rows: NULL for rows outside the image. scratch: two patches of 16 * steps bytes. */
#define MG_DECLARE_conv2d_s8__mve_pairs(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_pairs_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_PAIRS_H */
