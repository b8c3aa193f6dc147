/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: distances of float vectors from constant rows.
 *
 *   MG_KIND  0: sum of squared differences; 1: sum of magnitudes of differences; 2: largest of these magnitudes
 */
#include "mcugen/distances_f32.h"

#if MG_KIND != 0
#include <math.h>
#endif

MG_DECLARE_distances_f32(MG_KERNEL);

static float MG_VARIANT(row)(const mg_f32 *x, const float *row, uint32_t length)
{
    float found = 0.0f;
    for (uint32_t k = 0u; k < length; k += 1u) {
        const float apart = x[k] - row[k];
#if MG_KIND == 0
        found += apart * apart;
#elif MG_KIND == 1
        found += fabsf(apart);
#else
        const float magnitude = fabsf(apart);
        found = magnitude > found ? magnitude : found;
#endif
    }
    return found;
}

MG_LINKAGE void MG_KERNEL(const mg_distances_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        for (uint32_t s = 0u; s < p->count; s += 1u) {
            out[i * p->count + s] = MG_VARIANT(row)(in + i * p->length, p->rows + s * p->length, p->length);
        }
    }
}
