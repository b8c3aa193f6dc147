/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest value of a sliding window over int8 images; taps outside the image are ignored.
 *
 *   y[c] = clamp(max over the taps inside of x[c])
 *
 * Equals the reference runtime's MaxPool2D for int8.
 */
#ifndef MCUGEN_MAX_POOL_2D_S8_H
#define MCUGEN_MAX_POOL_2D_S8_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t kernel_h, kernel_w;
    uint32_t stride_h, stride_w;
    uint32_t pad_h, pad_w;
    uint32_t in_h, in_w;
    uint32_t out_w, channels;
    int32_t out_min, out_max;
} mg_max_pool_2d_s8_params;

/* Output row y. rows: kernel_h input rows; those outside the image are not read. out: out_w * channels. */
void mg_max_pool_2d_s8(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);

#endif /* MCUGEN_MAX_POOL_2D_S8_H */
