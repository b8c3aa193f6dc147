/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts words of two bytes, which hold red, green and blue in 5, 6 and 5 bits, to three bytes per pixel.
 *
 *   r = r5 << 3 | r5 >> 2, g = g6 << 2 | g6 >> 4, b = b5 << 3 | b5 >> 2 for words r5 << 11 | g6 << 5 | b5
 *
 * upper  index of the upper byte in a word, 0 or 1.  n: number of pixels
 */
#ifndef MCUGEN_RGB565_H
#define MCUGEN_RGB565_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t upper;
} mg_rgb565_params;

void mg_rgb565(const mg_rgb565_params *p, const uint8_t *in, uint8_t *out, uint32_t n);

#endif /* MCUGEN_RGB565_H */
