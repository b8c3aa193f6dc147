/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images on cores with SMLAD, pixel by pixel: the taps of a pixel are widened, then all its outputs
 * are computed.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over taps and channels of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * x        int8 [rows of in_w * in_c]; rows outside the image are filled with `outside`
 * scratch  int16 [length]: the taps in order, but each group of four as 0, 2, 1, 3. Runs that are not whole groups of
 *          four, and columns that read outside the image, are first collected as bytes in the upper half
 * runs     runs (contiguous taps) of a kernel row: run_length taps each, run_stride elements from one to the next
 * taps     taps of a pixel; from there to `length` the weights are zeros
 * stream   weights, biases and scales in blocks of four outputs, see dsp_vector_block_template.h
 * low, high  the clamp; clamps: 1 if it is narrower than int8
 * Output columns [inside_first, inside_end) read nothing outside the image.
 * The build has proved that no sum leaves 32 bits. Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_DSP_PATCH_H
#define MCUGEN_DSP_PATCH_H

#include "mcugen/dsp_vector.h"

typedef struct {
    const int32_t *stream;
    uint32_t taps, length, run_length, run_stride;
    uint16_t kernel_h, kernel_w, runs;
    uint16_t in_w, in_c, out_w, out_c;
    uint16_t stride_w, dilation_w, pad_w;
    uint16_t inside_first, inside_end;
    int16_t low, high;
    int8_t outside;
    uint8_t clamps;
} mg_dsp_patch_params;

#define MG_DECLARE_dsp_patch(f)                                                                              \
    MG_LINKAGE void f(const mg_dsp_patch_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, mg_s16 *scratch)

/* Copies n bytes, a word at a time. step: 1, or 0 to repeat the first four bytes. */
static inline void mg_dsp_copy_bytes(int8_t *to, const int8_t *from, uint32_t n, uint32_t step)
{
    uint32_t word;
    if (n < 4u) {
        for (uint32_t k = 0u; k < n; k += 1u) {
            to[k] = from[k * step];
        }
        return;
    }
    for (uint32_t k = 0u; k <= n - 4u; k += 4u) {
        memcpy(&word, from + k * step, sizeof(word));
        memcpy(to + k, &word, sizeof(word));
    }
    memcpy(&word, from + (n - 4u) * step, sizeof(word));
    memcpy(to + n - 4u, &word, sizeof(word));
}

#endif /* MCUGEN_DSP_PATCH_H */
