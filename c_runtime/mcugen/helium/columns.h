/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel columns of a window that are inside the image.
 */
#ifndef MCUGEN_COLUMNS_H
#define MCUGEN_COLUMNS_H

#include "mcugen/runtime.h"

/* Kernel columns [first, end). */
typedef struct {
    uint32_t first, end;
} mg_columns;

/* Kernel columns inside a row of `width` pixels. The window begins at pixel `column`; it has `size` columns, `dilation`
 * pixels apart. */
static inline mg_columns mg_columns_inside(int32_t column, int32_t size, int32_t dilation, int32_t width)
{
    const int32_t before = column < 0 ? (dilation - 1 - column) / dilation : 0;
    const int32_t within = column < width ? (width - column + dilation - 1) / dilation : 0;
    const int32_t end = within < size ? within : size;
    const mg_columns inside = {(uint32_t)(before < end ? before : end), (uint32_t)end};
    return inside;
}

#endif /* MCUGEN_COLUMNS_H */
