/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: reading of weights. By default a weight has one byte or more; with MG_NIBBLES two weights share a byte, the
 * first in the lower half; with MG_HALVES weights are the bits of float16.
 */
#if defined(MG_NIBBLES)

static inline int32_t MG_NAME(weight)(const MG_NAME(w) *w, uint32_t k)
{
    const int32_t both = w[k >> 1];
    return (k & 1u) != 0u ? both >> 4 : ((both & 15) ^ 8) - 8;
}

/* Address of weight k, an even number. */
static inline const MG_NAME(w) *MG_NAME(from)(const MG_NAME(w) *w, uint32_t k)
{
    return w + (k >> 1);
}

#else

static inline MG_NAME(acc) MG_NAME(weight)(const MG_NAME(w) *w, uint32_t k)
{
#if defined(MG_HALVES)
    return mg_half_value(w[k]);
#else
    return w[k];
#endif
}

static inline const MG_NAME(w) *MG_NAME(from)(const MG_NAME(w) *w, uint32_t k)
{
    return w + k;
}

#endif
