/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of each channel of int8 images by itself, for cores with Helium, straight from the input's rows: 16
 * channels of a pixel at a time, tap by tap.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * stream   blocks of 16 channels: int32 bias[16] (the zero point folded in), int8 weights [taps][16], int32 mult[16],
 *          shift[16] (0 or less: to the right). bias, mult and shift are those of channels 0 4 8 12, 2 6 10 14, 1 5 9 13,
 *          3 7 11 15. Blocks begin at channels 0, 16, ..., the last one so that it ends with the last channel; fewer
 *          channels are one block, in which they are repeated.
 * taps     those of the kernel's rows, one after the other: the products of two of them, the first one's and the second
 *          one's and so on, are added in 16 bits, which they cannot leave
 * outside  int8 [channels, at least 16] zero points: taps outside the image
 * sums     cannot leave 32 bits: proved when the code is generated
 *
 * A copy for MG_FINISH: 0 clamps to all of int8 and has -128 as its zero point, 1 clamps to all of int8, 2 to out_min,
 * out_max, 3 and 4 as 1 and 2, rounded once, 5 as 2, mult being a float32 that scales the sums; and MG_NARROW: 1 for
 * fewer than 16 channels, else 0.
 *
 * mve_near reads the taps where they are, as far as windows are in the image, for which each layer has a copy of its own:
 * MG_ROWS (at most 5) rows of MG_COLUMNS taps, MG_APART (at most 127) bytes from one to the next, 27 taps at most; windows
 * move by MG_STRIDE pixels of MG_CHANNELS channels; bit k of MG_LASTS is set if tap k is the last one of a 16-bit sum.
 * Its shifts are int16, those of the even channels of a block and then those of the odd ones, less MG_DOWN, by which high
 * products are shifted first, rounded down, to 16 bits: proved when the code is generated.
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

/* together: pixels that are computed together: of fewer than 16 channels and with a stride of 1, as many as fill 16; else 1.
 * rows: NULL outside the image. scratch: 4 bytes for each tap, for at least four in the last row, a multiple of 16. */
#define MG_DECLARE_depthwise_conv2d_s8__mve_taps(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_taps_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
#define MG_DECLARE_depthwise_conv2d_s8__mve_near(f) MG_DECLARE_depthwise_conv2d_s8__mve_taps(f)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_TAPS_H */
