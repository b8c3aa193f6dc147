/* SPDX-License-Identifier: Apache-2.0
 *
 * Interpolated values of images at places (coordinates) between the pixels.
 *
 *   scale   0: places are in pixels; 1, 2: places are from -1 to 1, the last axis first. -1 and 1 are the centres of
 *           the outermost pixels (1) or their outer edges (2)
 *   taps    pixels per axis that a value depends on: 1: the nearest; 2: linear interpolation; 4: cubic interpolation
 *   beyond  values outside the image: 0: zero; 1: the pixel at the edge; 2: the mirrored image; 3: the pixel at the
 *           edge, but zero if the place is more than a pixel away
 *   largest  1: the value is the largest product of a pixel and its weight; 0: the sum of these products
 * Equals Sample.reference within rounding.
 */
#ifndef MCUGEN_SAMPLE_F32_H
#define MCUGEN_SAMPLE_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t batches, image, points, channels; /* image: elements from one image to the next, 0 for a single one */
    uint32_t axes, size[3];
    uint32_t scale, taps, beyond, largest;
} mg_sample_f32_params;

/* in: images [size..., channels]; places [batches, points, axes] -> out [batches, points, channels]. */
void mg_sample_f32(const mg_sample_f32_params *p, const mg_f32 *in, const mg_f32 *places, mg_f32 *out);

#endif /* MCUGEN_SAMPLE_F32_H */
