/* SPDX-License-Identifier: Apache-2.0
 *
 * The clamp to int8, in one instruction on cores that have it. Compilers do not find it where one bound is never reached.
 */
#ifndef MCUGEN_SATURATE_H
#define MCUGEN_SATURATE_H

#include "mcugen/runtime.h"

static inline int32_t mg_saturated_s8(int32_t x)
{
#if defined(__ARM_FEATURE_SAT) && !defined(MCUGEN_CHECK_TEXT)
    int32_t y;
    __asm__("ssat %0, #8, %1" : "=r"(y) : "r"(x));
    return y;
#else
    return mg_clamp(x, -128, 127);
#endif
}

#endif /* MCUGEN_SATURATE_H */
