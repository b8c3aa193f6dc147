/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales sums by a float32 as fused kernels of ONNX Runtime do: to the nearest integer, halves to even.
 */
#ifndef MCUGEN_SCALE_FLOAT_H
#define MCUGEN_SCALE_FLOAT_H

#include "mcugen/runtime.h"

/* factor: the bits of a float32. Adding and subtracting 1.5 * 2^23 rounds to an integer, since no bit below 1 is left.
 * The result is clamped to -2^20 .. 2^20. */
static inline int32_t mg_scale_float(int32_t sum, int32_t factor)
{
    float y;
    (void)memcpy(&y, &factor, sizeof(y));
    y = (float)sum * y;
    y = y > -1048576.0f ? y : -1048576.0f;
    y = y < 1048576.0f ? y : 1048576.0f;
    return (int32_t)((y + 12582912.0f) - 12582912.0f);
}

#endif /* MCUGEN_SCALE_FLOAT_H */
