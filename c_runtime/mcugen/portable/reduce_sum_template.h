/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the sum over axes.
 * MG_KERNEL: the function, MG_PARAMS: its parameters, MG_STORED: the elements, MG_SUM: the type of sums,
 * MG_STORE(p, sum): the stored result for a sum.
 */

static MG_SUM MG_VARIANT(sum)(const MG_PARAMS *p, const MG_STORED *in)
{
    MG_SUM total = 0;
    for (uint32_t i = 0u; i < p->reduced[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->reduced[1]; j += 1u) {
            const MG_STORED *x = in + i * p->reduced_stride[0] + j * p->reduced_stride[1];
            const uint32_t stride = p->reduced_stride[2];
            for (uint32_t k = 0u; k < p->reduced[2]; k += 1u) {
                total += x[0];
                x += stride;
            }
        }
    }
    return total;
}

void MG_KERNEL(const MG_PARAMS *p, const MG_STORED *in, MG_STORED *out)
{
    MG_STORED *to = out;
    for (uint32_t i = 0u; i < p->kept[0]; i += 1u) {
        for (uint32_t j = 0u; j < p->kept[1]; j += 1u) {
            const MG_STORED *from = in + i * p->kept_stride[0] + j * p->kept_stride[1];
            for (uint32_t k = 0u; k < p->kept[2]; k += 1u) {
                to[k] = MG_STORE(p, MG_VARIANT(sum)(p, from));
                from += p->kept_stride[2];
            }
            to += p->kept[2];
        }
    }
}
