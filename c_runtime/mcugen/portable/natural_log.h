/* SPDX-License-Identifier: Apache-2.0
 *
 * The natural logarithm of a float, by additions and multiplications alone, so that every compiler and C library gives
 * the same bits. The relative error is at most 8e-8.
 */
#ifndef MCUGEN_NATURAL_LOG_H
#define MCUGEN_NATURAL_LOG_H

#include "mcugen/runtime.h"

/* a = 2^e * (1 + f), with 1 + f from sqrt(1/2) to sqrt(2). Numbers below 2^-126, and NaN, count as 2^-126. */
static inline float mg_natural_log(float a)
{
    union {
        float real;
        uint32_t bits;
    } x = {1.17549435e-38f};
    uint32_t above;
    float e, f, square, sum;
    if (a > x.real) {
        x.real = a;
    }
    above = x.bits - 0x3f3504f3u;
    x.bits -= above & 0xff800000u;
    e = (float)((int32_t)above >> 23);
    f = x.real - 1.0f;
    square = f * f;
    sum = 0.06746601f;
    sum = sum * f + -0.11675641f;
    sum = sum * f + 0.11888175f;
    sum = sum * f + -0.124055915f;
    sum = sum * f + 0.14219551f;
    sum = sum * f + -0.16667996f;
    sum = sum * f + 0.20002119f;
    sum = sum * f + -0.2500001f;
    sum = sum * f + 0.33333313f;
    sum = square * f * sum + e * -2.1219444e-4f;
    sum = f + (sum - 0.5f * square);
    return sum + e * 0.693359375f;
}

#endif /* MCUGEN_NATURAL_LOG_H */
