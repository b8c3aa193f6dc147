/* SPDX-License-Identifier: Apache-2.0
 *
 * Resizes images, one output row at a time: every pixel is a copy of one input pixel.
 *
 * from    the input column of each run of equal output pixels;  times: pixels of each run;  runs: number of runs
 * pixel   bytes of a pixel
 * Equals the reference runtime's ResizeNearestNeighbor.
 */
#ifndef MCUGEN_RESIZE_NEAREST_NEIGHBOR_H
#define MCUGEN_RESIZE_NEAREST_NEIGHBOR_H

#include "mcugen/runtime.h"

typedef struct {
    const uint16_t *from, *times;
    uint32_t runs;
    uint32_t pixel;
} mg_resize_nearest_neighbor_params;

/* Computes output row y. rows: the one input row that is copied. */
void mg_resize_nearest_neighbor__s8(const mg_resize_nearest_neighbor_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);
void mg_resize_nearest_neighbor__s16(const mg_resize_nearest_neighbor_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);
void mg_resize_nearest_neighbor__f32(const mg_resize_nearest_neighbor_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);
void mg_resize_nearest_neighbor__s32(const mg_resize_nearest_neighbor_params *p, const mg_s32 *const *rows, uint32_t y, mg_s32 *out);
void mg_resize_nearest_neighbor__u32(const mg_resize_nearest_neighbor_params *p, const mg_u32 *const *rows, uint32_t y, mg_u32 *out);
void mg_resize_nearest_neighbor__bool(const mg_resize_nearest_neighbor_params *p, const uint8_t *const *rows, uint32_t y, uint8_t *out);

#endif /* MCUGEN_RESIZE_NEAREST_NEIGHBOR_H */
