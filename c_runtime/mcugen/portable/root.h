/* SPDX-License-Identifier: Apache-2.0
 *
 * Square roots of stored int16. Computed in float32, truncated to steps of y; 0 for negative numbers.
 */
#ifndef MCUGEN_ROOT_H
#define MCUGEN_ROOT_H

#include "mcugen/runtime.h"

#include <math.h>

typedef struct {
    float scale[2]; /* of x, y; an array, so that no OpenCL kernel is generated: its sqrt and / may round differently */
} mg_root;

static inline int32_t mg_root_of(const mg_root *p, int32_t a)
{
    const float root = a > 0 ? sqrtf(p->scale[0] * (float)a) / p->scale[1] : 0.0f;
    return root < (float)INT16_MAX ? (int32_t)root : INT16_MAX;
}

#endif /* MCUGEN_ROOT_H */
