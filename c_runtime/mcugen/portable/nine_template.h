/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: weights that are stored unchanged or, with MG_NINE, plus `zero` (nine.h). Needs MG_NAME(params) and
 * weights_template.h.
 */

/* The correction of a sum of n products with stored weights, equal for all channels. */
static inline MG_NAME(acc) MG_NAME(lack)(const MG_NAME(params) *p, const MG_NAME(x) *x, uint32_t n)
{
#if defined(MG_NINE)
    return -(int32_t)p->zero * mg_sum_s8(x, n);
#else
    (void)p;
    (void)x;
    (void)n;
    return 0;
#endif
}

/* The initial sum of channel o. */
static inline MG_NAME(acc) MG_NAME(start)(const MG_NAME(params) *p, uint32_t o, MG_NAME(acc) lack)
{
#if defined(MG_NINE)
    return p->bias[o] + lack;
#else
    (void)lack;
    return (MG_NAME(acc))p->bias[o];
#endif
}

/* Weight k, without the `zero` that was added to it. */
static inline MG_NAME(acc) MG_NAME(factor)(const MG_NAME(params) *p, const MG_NAME(w) *w, uint32_t k)
{
#if defined(MG_NINE)
    return MG_NAME(weight)(w, k) - (int32_t)p->zero;
#else
    (void)p;
    return MG_NAME(weight)(w, k);
#endif
}
