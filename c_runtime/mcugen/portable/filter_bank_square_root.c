/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter_bank_square_root.h"
#include "mcugen/nearest_root.h"

void mg_filter_bank_square_root(const mg_filter_bank_square_root_params *p, const mg_u64 *x, const mg_s32 *bits, mg_u32 *y)
{
    const uint32_t shift = (uint32_t)mg_clamp(*bits, 0, 31);
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        const uint64_t energy = x[i];
        y[i] = (energy >> 48 == 0u ? mg_nearest_root(energy) : mg_root_64(energy)) >> shift;
    }
}
