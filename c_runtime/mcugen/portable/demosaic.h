/* SPDX-License-Identifier: Apache-2.0
 *
 * Red, green and blue of every pixel of a sensor with a Bayer pattern, one row at a time. A pixel has one colour; each
 * of the other two is the mean of the two or four nearest pixels with that colour, rounded half up. Beyond a border,
 * the image is mirrored at the outermost pixels.
 */
#ifndef MCUGEN_DEMOSAIC_H
#define MCUGEN_DEMOSAIC_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t width;               /* even */
    uint32_t red_row, red_column; /* position of red among the upper left 2x2 pixels */
} mg_demosaic_params;

/* rows: rows y - 1, y and y + 1, NULL beyond the image.  out: red, green and blue of each pixel of row y. */
void mg_demosaic(const mg_demosaic_params *p, const uint8_t *const *rows, uint32_t y, uint8_t *out);

#endif /* MCUGEN_DEMOSAIC_H */
