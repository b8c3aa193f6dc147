/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the index of the largest or smallest element along an axis.
 * MG_KERNEL: the function, MG_PARAMS: its parameters, MG_DATA: the type of
 * its operand, MG_STORED: its elements, MG_VALUE: the type to compare them in.
 */

static uint32_t MG_VARIANT(position)(const MG_PARAMS *p, const MG_STORED *in)
{
    MG_VALUE best = in[0];
    uint32_t at = 0u;
    for (uint32_t i = 1u; i < p->size; i += 1u) {
        const MG_VALUE x = in[i * p->inner];
        if (p->smallest != 0u ? x < best : x > best) {
            best = x;
            at = i;
        }
    }
    return at;
}

void MG_KERNEL(const MG_PARAMS *p, const MG_DATA *in, void *out)
{
    const MG_STORED *const values = in;
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->inner; i += 1u) {
            const uint32_t at = MG_VARIANT(position)(p, values + o * p->size * p->inner + i);
            if (p->wide != 0u) {
                ((mg_s64 *)out)[o * p->inner + i] = (int64_t)at;
            } else {
                ((mg_s32 *)out)[o * p->inner + i] = (int32_t)at;
            }
        }
    }
}
