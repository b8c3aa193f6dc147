/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash of the bits of exp, tanh and erf of every STEP-th float that is not NaN. Returns 0 if it is WANTED; prints it
 * where nothing is wanted.
 */
#ifndef WANTED
#include <stdio.h>
#endif
#include "mcugen/curves.h"

int main(void)
{
    uint32_t hash = 2166136261u;
    for (uint64_t at = 0u; at <= UINT32_MAX; at += STEP) {
        const uint32_t bits = (uint32_t)at;
        const float x = mg_of_bits(bits);
        if ((bits & 0x7FFFFFFFu) <= 0x7F800000u) {
            hash = (hash ^ mg_bits_of(mg_exp(x))) * 16777619u;
            hash = (hash ^ mg_bits_of(mg_tanh(x))) * 16777619u;
            hash = (hash ^ mg_bits_of(mg_erf(x))) * 16777619u;
        }
    }
#ifdef WANTED
    return hash == WANTED ? 0 : 1;
#else
    printf("0x%08xu", (unsigned)hash);
    return 0;
#endif
}
