/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of float images with zeros around them.
 */
#ifndef MCUGEN_SIMD_FLOAT_ROWS_H
#define MCUGEN_SIMD_FLOAT_ROWS_H

#include "mcugen/runtime.h"

/* row [row_len] = `before` zeros, in_len elements of a row of the image, zeros; all zeros if `in` is NULL. */
static inline void mg_simd_float_row(const mg_f32 *in, mg_f32 *row, uint32_t before, uint32_t in_len, uint32_t row_len)
{
    const uint32_t first = in == NULL ? row_len : before, end = in == NULL ? row_len : before + in_len;
    (void)memset(row, 0, first * sizeof(*row));
    if (in != NULL) {
        (void)memcpy(row + first, in, in_len * sizeof(*row));
    }
    (void)memset(row + end, 0, (row_len - end) * sizeof(*row));
}

#endif /* MCUGEN_SIMD_FLOAT_ROWS_H */
