/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/reduce_plain_f32.h"

static float folded(const mg_reduce_plain_f32_params *p, const mg_f32 *in, uint32_t from)
{
    uint32_t at = from;
    float found = in[at];
    for (uint32_t i = 0u; i < p->reduced[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->reduced[1]; j += 1u) {
            at = from + i * p->reduced_stride[0] + j * p->reduced_stride[1];
            for (uint32_t k = 0u; k < p->reduced[2]; k += 1u) {
                if ((i | j | k) != 0u) {
                    found = mg_fold_floats(p->how, found, in[at]);
                }
                at += p->reduced_stride[2];
            }
        }
    }
    return found;
}

void mg_reduce_plain_f32(const mg_reduce_plain_f32_params *p, const mg_f32 *in, mg_f32 *out)
{
    uint32_t to = 0u;
    for (uint32_t i = 0u; i < p->kept[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->kept[1]; j += 1u) {
            for (uint32_t k = 0u; k < p->kept[2]; k += 1u) {
                const uint32_t from = i * p->kept_stride[0] + j * p->kept_stride[1] + k * p->kept_stride[2];
                const float found = folded(p, in, from);
                out[to] = found;
                to += 1u;
            }
        }
    }
}
