/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images for cores with Helium, directly on the input's rows: 16 channels of a pixel at a
 * time, tap by tap.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * stream   blocks of 16 channels: int32 bias[16] (the input's zero point is folded in), int8 weights [taps][16], int32
 *          mult[16], shift[16] (0 or less: to the right). bias, mult and shift are in the order of channels 0 4 8 12,
 *          2 6 10 14, 1 5 9 13, 3 7 11 15
 *          Blocks begin at channels 0, 16, ...; the last one ends with the last channel. Fewer than 16 channels form
 *          one block, in which they are repeated
 * taps     in the order of the kernel's rows. The products of taps 0 and 1, 2 and 3, ... are added in 16 bits,
 *          which they cannot leave
 * outside  int8 [channels, at least 16] of the zero point: taps outside the image
 * sums     cannot leave 32 bits: proved when the code is generated
 *
 * Sizes:
 * MG_FINISH    0: clamps to all of int8, the zero point is -128;  1: clamps to all of int8;  2: clamps to out_min,
 *              out_max;  3, 4: like 1 and 2, rounded once;  5: like 2, mult is a float32 that scales the sums
 * MG_NARROW    1: fewer than 16 channels; else 0
 *
 * mve_near reads the taps directly for windows inside the image, with code of its own for each layer:
 * MG_ROWS      kernel rows (at most 5), of MG_COLUMNS taps, MG_APART (at most 127) bytes from one tap to the next; at
 *              most 27 taps in all
 * MG_STRIDE    pixels, of MG_CHANNELS channels, from a window to the next
 * MG_LASTS     bit k is set if tap k is the last one of a 16-bit sum
 * MG_DOWN      shift of high products to 16 bits, rounding down: proved when the code is generated. The shifts in the
 *              stream are int16, without MG_DOWN: of the even channels of a block, then of the odd ones
 * Equals the reference runtime's DepthwiseConv2D for int8 data.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__MVE_TAPS_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__MVE_TAPS_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream, *outside;
    uint32_t channels;
    int16_t out_zero_point, out_min, out_max;
    uint16_t kernel_h, kernel_w, together;
    uint32_t in_w, out_w, left, stride, dilation;
} mg_depthwise_conv2d_s8__mve_taps_params;

/* together: number of pixels that are computed together: with fewer than 16 channels and a stride of 1, as many as fit
 * 16 lanes; else 1.
 * rows: NULL for rows outside the image. scratch: 4 bytes per tap, at least four taps in the last row, rounded up to
 * 16. */
#define MG_DECLARE_depthwise_conv2d_s8__mve_taps(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_taps_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
#define MG_DECLARE_depthwise_conv2d_s8__mve_near(f) MG_DECLARE_depthwise_conv2d_s8__mve_taps(f)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_TAPS_H */
