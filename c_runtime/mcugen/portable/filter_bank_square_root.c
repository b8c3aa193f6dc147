/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter_bank_square_root.h"

/* Computes the root bit by bit from the highest; the remainder decides the rounding. */
static uint32_t narrow_root(uint32_t x)
{
    uint32_t left = x, root = 0u;
    for (uint32_t k = 0u; k < 16u; k += 1u) {
        const uint32_t bit = (uint32_t)1 << (30u - 2u * k);
        const uint32_t next = root >> 1;
        if (left >= root + bit) {
            left -= root + bit;
            root = next + bit;
        } else {
            root = next;
        }
    }
    return left > root && root != 0xFFFFu ? root + 1u : root;
}

static uint32_t wide_root(uint64_t x)
{
    uint64_t left = x, root = 0u;
    for (uint32_t k = 0u; k < 32u; k += 1u) {
        const uint64_t bit = (uint64_t)1 << (62u - 2u * k);
        const uint64_t next = root >> 1;
        if (left >= root + bit) {
            left -= root + bit;
            root = next + bit;
        } else {
            root = next;
        }
    }
    return (uint32_t)(left > root && root != 0xFFFFFFFFu ? root + 1u : root);
}

void mg_filter_bank_square_root(const mg_filter_bank_square_root_params *p, const mg_u64 *x, const mg_s32 *bits, mg_u32 *y)
{
    const uint32_t shift = (uint32_t)mg_clamp(*bits, 0, 31);
    for (uint32_t i = 0u; i < p->size; i += 1u) {
        y[i] = (x[i] >> 32 == 0u ? narrow_root((uint32_t)x[i]) : wide_root(x[i])) >> shift;
    }
}
