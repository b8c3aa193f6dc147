/* SPDX-License-Identifier: Apache-2.0
 *
 * Decision trees as tables: the leaves that a vector of features reaches, added in float in the order of the trees.
 *
 * nodes       words of all trees: an inner node, the subtree taken if its comparison holds, then the other subtree.
 *             An inner node has two words; from the highest bit: 0, words of the first subtree, index of the threshold,
 *             feature, and flags. With MG_OWN the index is a third word. A leaf has one word, or two: 1 and the index of
 *             its row of weights
 * starts      [trees]: first word of each tree
 * thresholds  floats as integers that sort in the same way; minus infinity is 0
 * entries     only for several targets: the entries of each row of weights: a bit that ends the row, target, index of
 *             the weight
 * weights     one target: a weight per row; several: the weights that the entries index, or one per entry if
 *             MG_WEIGHT_BITS is 0
 * features    elements of a vector
 * Equals onnxruntime's TreeEnsembleRegressor for features that are float.
 */
#ifndef MCUGEN_TREE_ENSEMBLE_H
#define MCUGEN_TREE_ENSEMBLE_H

#include "mcugen/variant.h"

typedef struct {
    const uint16_t *nodes;
    const void *starts, *thresholds;
    const uint16_t *entries;
    const float *weights;
    uint32_t features;
} mg_tree_ensemble_params;

/* Computes n vectors. in: [n][features], of the type that this variant is made for; out: [n][targets]. */
#define MG_DECLARE_tree_ensemble(f) MG_LINKAGE void f(const mg_tree_ensemble_params *p, const void *in, mg_f32 *out, uint32_t n)

#endif /* MCUGEN_TREE_ENSEMBLE_H */
