/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the sum over all pixels of an image, row by row.
 * MG_KERNEL: the prefix of the functions, MG_PARAMS: their parameters, MG_STORED: the elements, MG_SUMS: a sum in memory,
 * MG_ADD(acc, in, pixels, channels): adds to the sums, MG_STORE(p, sum): the stored result for a sum.
 */

void MG_VARIANT(begin)(const MG_PARAMS *p, void *acc)
{
    (void)memset(acc, 0, p->channels * sizeof(MG_SUMS));
}

void MG_VARIANT(rows)(const MG_PARAMS *p, const MG_STORED *in, uint32_t y, uint32_t n, void *acc)
{
    (void)y;
    MG_ADD(acc, in, n * p->row_pixels, p->channels);
}

void MG_VARIANT(end)(const MG_PARAMS *p, const void *acc, MG_STORED *out)
{
    const MG_SUMS *const sums = acc;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        out[c] = MG_STORE(p, sums[c]);
    }
}
