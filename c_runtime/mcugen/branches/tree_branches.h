/* SPDX-License-Identifier: Apache-2.0
 *
 * Decision trees as branches: shared parts of the functions that are generated for a forest. These functions find the
 * leaf of each tree for a vector of features. The leaves' weights are combined in float, in the order of the trees.
 *
 * entries  only for several targets: an entry per leaf and target. Bit 15: 1 for a leaf's last entry; then the target;
 *          lowest bits: index of the weight
 * weights  one target: a weight per leaf; several: the weights that the entries index, or a weight per entry
 */
#ifndef MCUGEN_TREE_BRANCHES_H
#define MCUGEN_TREE_BRANCHES_H

#include "mcugen/runtime.h"

#define MG_LEAVES_ADDED 0u
#define MG_LEAST_LEAF 1u
#define MG_GREATEST_LEAF 2u

typedef struct {
    const uint16_t *entries;
    const float *weights;
} mg_tree_branches_params;

/* Maps a float to an unsigned integer that sorts in the same order. NaN sorts above all numbers. */
static inline uint32_t mg_tree_key(mg_f32 x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return ((uint32_t)bits ^ ((uint32_t)mg_sign(bits) >> 1)) - 0x807fffffu;
}

static inline float mg_tree_joined(uint32_t kind, float a, float b)
{
    if (kind == MG_LEAVES_ADDED) {
        return a + b;
    }
    const uint32_t second = (uint32_t)(kind == MG_LEAST_LEAF ? b < a : b > a);
    return second != 0u ? b : a;
}

/* Combines a leaf's weights with `out`, the results of the trees before it: sum, least or greatest. first: the leaf's
 * first entry. An entry: bits 0 to `bits` - 1: index of a weight (if `bits` is 0, entries[k] uses weights[k]); then the
 * index of the result; bit 15: 1 in the leaf's last entry. */
static inline void mg_tree_join(const mg_tree_branches_params *p, uint32_t first, uint32_t targets, uint32_t bits,
                                uint32_t kind, mg_f32 *out)
{
    for (uint32_t k = first; k < first + targets; k += 1u) {
        const uint32_t entry = p->entries[k];
        mg_f32 *const to = out + ((entry & 0x7fffu) >> bits);
        *to = mg_tree_joined(kind, *to, p->weights[bits > 0u ? entry & ((1u << bits) - 1u) : k]);
        if (entry >= 0x8000u) {
            break;
        }
    }
}

#endif /* MCUGEN_TREE_BRANCHES_H */
