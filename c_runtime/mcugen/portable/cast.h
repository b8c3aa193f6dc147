/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts numbers from one element type to another: floats are truncated and saturated, integers keep their low bits,
 * bool is x != 0.
 *
 * from, to  0 int8, 1 uint8, 2 int16, 3 int32, 4 float, 5 bool (a byte, 0 or 1)
 * Equals the reference runtime's Cast.
 */
#ifndef MCUGEN_CAST_H
#define MCUGEN_CAST_H

#include "mcugen/runtime.h"

typedef struct {
    uint8_t from, to;
} mg_cast_params;

/* Converts n elements; `in` and `out` do not overlap. */
void mg_cast(const mg_cast_params *p, const void *in, void *out, uint32_t n);

#endif /* MCUGEN_CAST_H */
