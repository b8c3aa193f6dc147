/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of images at places between their pixels.
 *
 *   scale   places are 0: in pixels; 1, 2: from -1 to 1, the last axis first, and these are the middles of the outer
 *           pixels (1) or their edges (2)
 *   taps    pixels of each axis that make a value: 1: the nearest, 2: linear, 4: cubic
 *   beyond  outside the image is 0: zero; 1: the pixel at the edge; 2: the image, mirrored; 3: the pixel at the edge,
 *           but zero where the place is more than a pixel away
 *   largest  not 0: the value is the largest of the pixels times their weights, not the sum of these
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
