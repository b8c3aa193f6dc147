/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fft_auto_scale.h"

void mg_fft_auto_scale__least(const mg_fft_auto_scale_params *p, const mg_s16 *x, mg_s16 *y, mg_s32 *bits)
{
    int32_t largest = 0, shift = 15;
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        const int32_t size = x[i] < 0 ? -x[i] : x[i];
        largest = size > largest && size < 32768 ? size : largest;
    }
    for (int32_t k = 0; k < 15; k += 1) {
        shift -= (int32_t)(largest >> k > 0 || largest == 0);
    }
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        y[i] = (mg_s16)(x[i] == INT16_MIN && largest < 16384 ? 0 : x[i] * (1 << shift));
    }
    *bits = shift;
}
