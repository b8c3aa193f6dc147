/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: adds slices to an output of zeros, at the places that indices
 * select. MG_KERNEL: the function, MG_PARAMS: its parameters, MG_STORED: its
 * elements, MG_SUM(a, b): their sum.
 */

/* Start of the slice that an index selects, in elements. */
static uint32_t MG_VARIANT(place)(const MG_PARAMS *p, const mg_s32 *index)
{
    uint32_t at = 0u;
    for (uint32_t d = 0u; d < p->depth; d += 1u) {
        at += (uint32_t)mg_clamp(index[d], 0, p->sizes[d] - 1) * p->strides[d];
    }
    return at;
}

void MG_KERNEL(const MG_PARAMS *p, const mg_s32 *index, const MG_STORED *updates, MG_STORED *out)
{
    (void)memset(out, 0, p->elements * sizeof(*out));
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        const MG_STORED *const from = updates + k * p->run;
        MG_STORED *const to = out + MG_VARIANT(place)(p, index + k * p->depth);
        for (uint32_t i = 0u; i < p->run; i += 1u) {
            to[i] = MG_SUM(to[i], from[i]);
        }
    }
}
