/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/spectral_subtraction.h"

void mg_spectral_subtraction(const mg_spectral_subtraction_params *p, const mg_u32 *x, const mg_u32 *noise, mg_u32 *y,
                             mg_u32 *new_noise)
{
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        const uint32_t up = x[i] << p->up;
        const uint64_t sum = (uint64_t)up * p->smoothing[i & 1u] + (uint64_t)noise[i] * p->rest[i & 1u];
        const uint32_t found = (uint32_t)(sum >> p->bits);
        const uint32_t taken = found > up ? up : found;
        const uint32_t least = (uint32_t)(((uint64_t)x[i] * p->remaining) >> p->bits);
        const uint32_t left = (up - taken) >> p->up;
        y[i] = left > least ? left : least;
        new_noise[i] = p->clamps != 0u ? taken : found;
    }
}
