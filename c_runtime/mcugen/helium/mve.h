/* SPDX-License-Identifier: Apache-2.0
 *
 * Copying and filling bytes, 16 at a time on cores with Helium.
 *
 * MG_HAS_MVE        1 if the core has integer vectors
 * MG_HAS_MVE_FLOAT  1 if the core has float vectors. They treat numbers below 2^-126 as 0, whatever FPSCR says
 */
#ifndef MCUGEN_MVE_H
#define MCUGEN_MVE_H

#include "mcugen/runtime.h"

#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__)
#define MG_HAS_MVE 1
#else
#define MG_HAS_MVE 0
#endif

#if MG_HAS_MVE && (__ARM_FEATURE_MVE & 2)
#define MG_HAS_MVE_FLOAT 1
#else
#define MG_HAS_MVE_FLOAT 0
#endif

#if MG_HAS_MVE
static inline void mg_copy_bytes(int8_t *out, const int8_t *in, uint32_t n)
{
    __asm__ volatile("wlstp.8 lr, %2, 2f\n"
                     "1:\n"
                     "vldrb.u8 q0, [%1], #16\n"
                     "vstrb.u8 q0, [%0], #16\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : "+r"(out), "+r"(in)
                     : "r"(n)
                     : "q0", "lr", "cc", "memory");
}

static inline void mg_fill_bytes(int8_t *out, int32_t value, uint32_t n)
{
    __asm__ volatile("vdup.8 q0, %1\n"
                     "wlstp.8 lr, %2, 2f\n"
                     "1:\n"
                     "vstrb.u8 q0, [%0], #16\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : "+r"(out)
                     : "r"(value), "r"(n)
                     : "q0", "lr", "cc", "memory");
}
#else
static inline void mg_copy_bytes(int8_t *out, const int8_t *in, uint32_t n)
{
    (void)memcpy(out, in, n);
}

static inline void mg_fill_bytes(int8_t *out, int32_t value, uint32_t n)
{
    (void)memset(out, value, n);
}
#endif

#endif /* MCUGEN_MVE_H */
