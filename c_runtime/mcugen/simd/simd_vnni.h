/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of simd_plain.h that products of bytes need, with AVX-VNNI: VPDPBUSD adds the products of four taps to
 * the sum of each channel.
 */
#ifndef MCUGEN_SIMD_VNNI_H
#define MCUGEN_SIMD_VNNI_H

#include "mcugen/simd_avx2.h"

#define MG_TARGET_vnni MG_TARGET_avx2

/* Sums of channels 0 to 7, and of 8 to 15. */
typedef struct {
    mg_u32x8 a, b;
} mg_vnni_sums;

typedef struct {
    mg_i32x8 a, b;
} mg_vnni_weights;

typedef mg_i32x8 mg_vnni_taps;

MG_AVX2 mg_vnni_sums mg_vnni_zero(void)
{
    const mg_u32x8 zero = {0, 0, 0, 0, 0, 0, 0, 0};
    const mg_vnni_sums s = {zero, zero};
    return s;
}

MG_AVX2 mg_vnni_weights mg_vnni_load_s8(const int8_t *w)
{
    mg_vnni_weights found;
    (void)memcpy(&found.a, w, sizeof(found.a));
    (void)memcpy(&found.b, w + 32, sizeof(found.b));
    return found;
}

MG_AVX2 mg_vnni_taps mg_vnni_taps_u8(const void *x)
{
    mg_vnni_taps all;
    __asm__("vpbroadcastd %1, %0" : "=x"(all) : "m"(*(const mg_4_bytes *)x));
    return all;
}

MG_AVX2 mg_vnni_sums mg_vnni_dot(mg_vnni_sums s, mg_vnni_taps x, mg_vnni_weights w)
{
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(s.a) : "x"(x), "x"(w.a));
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(s.b) : "x"(x), "x"(w.b));
    return s;
}

MG_AVX2 void mg_vnni_store_dots(int32_t *to, mg_vnni_sums s)
{
    (void)memcpy(to, &s.a, sizeof(s.a));
    (void)memcpy(to + 8, &s.b, sizeof(s.b));
}

#define mg_vnni_finish mg_avx2_finish

#endif /* MCUGEN_SIMD_VNNI_H */
