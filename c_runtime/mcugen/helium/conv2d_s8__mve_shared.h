/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images for cores with Helium: the taps of each pixel are gathered into a patch. One copy of the
 * code serves layers of all sizes. Sums, stream and row: see conv2d_s8__mve.h, with blocks of 4 outputs.
 *
 * MG_FINISH   2, 4 or 5, see conv2d_s8__mve.h; 2 also serves layers of 0 and 1
 * steps       a patch has `steps` steps of 16 bytes: kernel_h rows of `runs` runs of run_length bytes
 * run_stride  bytes from the start of a run to the next
 * stride      bytes from a pixel to the next in a row
 * row_used    bytes of the image's columns in a row, behind left_bytes of padding
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_SHARED_H
#define MCUGEN_CONV2D_S8__MVE_SHARED_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    uint32_t out_w, out_c;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
    uint16_t steps, kernel_h, runs, run_length, run_stride, stride, left_bytes, row_used;
    uint32_t row_bytes;
} mg_conv2d_s8__mve_shared_params;

/* scratch: a patch of 16 * steps bytes for each pixel, at least two. */
#define MG_DECLARE_conv2d_s8__mve_shared(f) \
    MG_LINKAGE void MG_PART(f, row)(const mg_conv2d_s8__mve_shared_params *p, const int8_t *in, int8_t *row); \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_shared_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_SHARED_H */
