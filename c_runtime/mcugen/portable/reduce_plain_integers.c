/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/reduce_plain_integers.h"
#include "mcugen/any_integer.h"

static int64_t folded(const mg_reduce_plain_integers_params *p, const void *in, uint32_t from)
{
    uint32_t at = from;
    int64_t found = mg_integer_at(p->kind, in, at);
    for (uint32_t i = 0u; i < p->reduced[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->reduced[1]; j += 1u) {
            at = from + i * p->reduced_stride[0] + j * p->reduced_stride[1];
            for (uint32_t k = 0u; k < p->reduced[2]; k += 1u) {
                if ((i | j | k) != 0u) {
                    found = mg_fold_integers(p->how, found, mg_integer_at(p->kind, in, at));
                }
                at += p->reduced_stride[2];
            }
        }
    }
    return found;
}

void mg_reduce_plain_integers(const mg_reduce_plain_integers_params *p, const void *in, void *out)
{
    uint32_t to = 0u;
    for (uint32_t i = 0u; i < p->kept[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->kept[1]; j += 1u) {
            for (uint32_t k = 0u; k < p->kept[2]; k += 1u) {
                const uint32_t from = i * p->kept_stride[0] + j * p->kept_stride[1] + k * p->kept_stride[2];
                const int64_t found = folded(p, in, from);
                mg_store_integer(p->kind, out, to, found);
                to += 1u;
            }
        }
    }
}
