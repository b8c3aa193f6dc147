/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: converts the sums of kernels that do so by line.h. Needs MG_NAME(params), MG_NAME(x).
 */
/* Copies of this file, one a line, with these words replaced:
 * line -> single
 */
static inline MG_NAME(x) MG_NAME(outside)(const MG_NAME(params) *p)
{
    return (MG_NAME(x))p->in_zero_point;
}

static inline MG_NAME(x) MG_NAME(store)(const MG_NAME(params) *p, uint32_t o, int32_t sum)
{
    return (MG_NAME(x))mg_line_at(&p->line, o, sum);
}

static inline void MG_NAME(store_run)(const MG_NAME(params) *p, uint32_t o, uint32_t n, const int32_t *sums, MG_NAME(x) *out)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        out[k] = MG_NAME(store)(p, o + k, sums[k]);
    }
}
