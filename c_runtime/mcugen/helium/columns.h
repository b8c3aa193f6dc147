/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the columns of a window that are inside the image.
 */
#ifndef MCUGEN_COLUMNS_H
#define MCUGEN_COLUMNS_H

#include "mcugen/runtime.h"

/* Kernel columns [first, end). */
typedef struct {
    uint32_t first, end;
} mg_columns;

/* Columns inside a row of `width`, for a window of `size` columns `apart` from each other that starts at `column`. */
static inline mg_columns mg_columns_inside(int32_t column, int32_t size, int32_t apart, int32_t width)
{
    const int32_t before = column < 0 ? (apart - 1 - column) / apart : 0;
    const int32_t within = column < width ? (width - column + apart - 1) / apart : 0;
    const int32_t end = within < size ? within : size;
    const mg_columns found = {(uint32_t)(before < end ? before : end), (uint32_t)end};
    return found;
}

#endif /* MCUGEN_COLUMNS_H */
