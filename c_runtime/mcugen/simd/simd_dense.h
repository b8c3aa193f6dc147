/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of weights with int8 data: a window that slides over rows, pixels of a 1x1 convolution, or vectors of a
 * fully connected layer.
 *
 * weights  int8 or int16 [tiles][kernel_h][segments][groups][16][4]: 16 output channels and four taps at a time,
 *          filled up with zeros
 * x        uint8 [kernel_h] rows: on x86-64 the stored values + 128, on Arm the bytes of the stored values; segment j
 *          of pixel i begins at i * step + j * gap and has groups * 4 bytes, of which those behind the taps have zero
 *          weights
 * tiles    blocks of 16 output channels, out_c channels in all
 * scale    the bias includes -(in_zero_point + 128) * sum(w), on Arm -in_zero_point * sum(w)
 * Sums wrap to 32 bits, as those of the reference runtimes do.
 */
#ifndef MCUGEN_SIMD_DENSE_H
#define MCUGEN_SIMD_DENSE_H

#include "mcugen/variant.h"
#include "mcugen/simd.h"

typedef struct {
    const void *weights;
    mg_simd_scale scale;
    uint32_t kernel_h, segments, gap, groups;
    uint32_t step;
    uint32_t tiles, out_c;
} mg_simd_dense;

typedef int8_t mg_simd_weight_s8;
typedef int16_t mg_simd_weight_s8w16;

#endif /* MCUGEN_SIMD_DENSE_H */
