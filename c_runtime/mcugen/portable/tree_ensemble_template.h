/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: decision trees as tables. Floats are compared as integers that are in the same order, which takes one
 * comparison of words on every core. NaN is above all numbers, whatever its sign.
 *
 *   MG_TYPE            type of the features: 0 float, 1 int8, 2 uint8, 3 int16, 4 int32
 *   MG_TREES           trees
 *   MG_DEPTH           comparisons on the longest path to a leaf
 *   MG_FEATURE_BITS    bits of a feature's index in a node
 *   MG_THRESHOLD_BITS  bits of a threshold's index in a node
 *   MG_OWN             1: a threshold's index is a word of its own
 *   MG_DIFFERS         1: nodes have a flag for the comparison x != threshold
 *   MG_NAN             1: nodes have a flag that treats NaN as x <= threshold
 *   MG_FAR             1: trees begin beyond 65535 words
 *   MG_TARGETS         results for each vector
 *   MG_JOIN            0: leaves are added, 1: the least, 2: the greatest
 *   MG_LEAF_WORDS      words of a leaf
 *   MG_WEIGHT_BITS     bits of a weight's index in an entry; 0: weights have the entry's index
 */
#include "mcugen/tree_ensemble.h"

#if MG_TYPE == 0
#define MG_STORED mg_s32
#define MG_KEY uint32_t
#define MG_THRESHOLD uint32_t
#elif MG_TYPE == 1
#define MG_STORED int8_t
#elif MG_TYPE == 2
#define MG_STORED uint8_t
#elif MG_TYPE == 3
#define MG_STORED mg_s16
#else
#define MG_STORED mg_s32
#define MG_THRESHOLD int32_t
#endif
#ifndef MG_KEY
#define MG_KEY int32_t
#endif
#ifndef MG_THRESHOLD
#define MG_THRESHOLD int16_t
#endif
#if MG_FAR
#define MG_START uint32_t
#else
#define MG_START uint16_t
#endif
#define MG_FLAGS (MG_DIFFERS + MG_NAN)
#define MG_FIELD(node, from, bits) (((node) >> (from)) & ((1u << (bits)) - 1u))

MG_DECLARE_tree_ensemble(MG_KERNEL);

/* Maps a feature to an integer that sorts in the same order. */
static inline MG_KEY MG_VARIANT(key)(MG_STORED x)
{
#if MG_TYPE == 0
    const uint32_t ordered = (uint32_t)x ^ ((uint32_t)mg_sign(x) >> 1);
    return ordered - 0x807fffffu;
#else
    return x;
#endif
}

/* Whether the comparison of a node holds. */
static inline uint32_t MG_VARIANT(holds)(uint32_t node, MG_KEY x, MG_KEY threshold)
{
#if MG_NAN
    if (x > 0xff000001u) {
        return node & 1u;
    }
#endif
#if MG_DIFFERS
    if (((node >> MG_NAN) & 1u) != 0u) {
#if MG_TYPE == 0
        return (uint32_t)(threshold - x > (uint32_t)(threshold == 0x7f800001u)); /* -0 is 0 */
#else
        return (uint32_t)(x != threshold);
#endif
    }
#endif
    (void)node;
    return (uint32_t)(x <= threshold);
}

/* Index of the row of weights of the leaf that x reaches. at: first word of the tree. */
static uint32_t MG_VARIANT(leaf)(const uint16_t *at, const MG_STORED *x, const MG_THRESHOLD *thresholds)
{
    for (uint32_t left = MG_DEPTH; left > 0u; --left) {
        const uint32_t first = at[0];
        uint32_t node, index;
        if (first >= 0x8000u) {
            break;
        }
        node = first << 16 | at[1];
#if MG_OWN
        index = at[2];
#else
        index = MG_FIELD(node, MG_FLAGS + MG_FEATURE_BITS, MG_THRESHOLD_BITS);
#endif
        at += 2 + MG_OWN;
        if (MG_VARIANT(holds)(node, MG_VARIANT(key)(x[MG_FIELD(node, MG_FLAGS, MG_FEATURE_BITS)]), thresholds[index]) == 0u) {
            at += node >> (MG_FLAGS + MG_FEATURE_BITS + MG_THRESHOLD_BITS);
        }
    }
#if MG_LEAF_WORDS == 2
    return (at[0] & 0x7fffu) << 16 | at[1];
#else
    return at[0] & 0x7fffu;
#endif
}

static inline float MG_VARIANT(joined)(float a, float b)
{
#if MG_JOIN == 0
    return a + b;
#elif MG_JOIN == 1
    return b < a ? b : a;
#else
    return b > a ? b : a;
#endif
}

#if MG_TARGETS > 1
/* Combines a leaf's weights with `out`, the results of the trees before it: sum, least or greatest (MG_JOIN). */
static void MG_VARIANT(join)(const mg_tree_ensemble_params *p, uint32_t row, mg_f32 *out)
{
    for (uint32_t k = 0u; k < MG_TARGETS; k += 1u) {
        const uint32_t entry = p->entries[row + k];
#if MG_WEIGHT_BITS > 0
        const float weight = p->weights[MG_FIELD(entry, 0, MG_WEIGHT_BITS)];
#else
        const float weight = p->weights[row + k];
#endif
        mg_f32 *const to = out + ((entry & 0x7fffu) >> MG_WEIGHT_BITS);
        *to = MG_VARIANT(joined)(*to, weight);
        if (entry >= 0x8000u) {
            break;
        }
    }
}
#endif

MG_LINKAGE void MG_KERNEL(const mg_tree_ensemble_params *p, const void *in, mg_f32 *out, uint32_t n)
{
    const MG_STORED *x = in;
    const MG_START *const starts = p->starts;
    mg_f32 *y = out;
    for (uint32_t i = 0u; i < n; i += 1u) {
#if MG_JOIN == 0
        const float begin = 0.0f;
#else
        const float begin = MG_JOIN == 1 ? 3.402823466e38f : -3.402823466e38f;
#endif
#if MG_TARGETS > 1
        for (uint32_t t = 0u; t < MG_TARGETS; t += 1u) {
            y[t] = begin;
        }
        for (uint32_t k = 0u; k < MG_TREES; k += 1u) {
            MG_VARIANT(join)(p, MG_VARIANT(leaf)(p->nodes + starts[k], x, p->thresholds), y);
        }
#else
        float joined = begin;
        for (uint32_t k = 0u; k < MG_TREES; k += 1u) {
            joined = MG_VARIANT(joined)(joined, p->weights[MG_VARIANT(leaf)(p->nodes + starts[k], x, p->thresholds)]);
        }
        y[0] = joined;
#endif
        x += p->features;
        y += MG_TARGETS;
    }
}

#undef MG_STORED
#undef MG_KEY
#undef MG_THRESHOLD
#undef MG_START
#undef MG_FLAGS
#undef MG_FIELD
