/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(depthwise), a row of the convolution of simd_depthwise.h with the set MG_SET.
 */
#define MG_TOGETHER 4u

static MG_TARGET void MG_SIMD_OF(depthwise)(const mg_simd_depthwise_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const mg_s16 *taps[2u * MG_SIMD_MOST_PAIRS];
    int32_t sums[MG_TOGETHER * MG_SIMD_LANES];
    for (uint32_t k = 0u; k < 2u * p->pairs; k += 1u) {
        taps[k] = rows[p->taps[k] & 0xFFu] + (p->taps[k] >> 8);
    }
    for (uint32_t t = 0u; t < p->tiles; t += 1u) {
        const int16_t *const weights = p->weights + (size_t)t * p->pairs * 2u * MG_SIMD_LANES;
        const uint32_t o = t * MG_SIMD_LANES;
        const uint32_t left = p->channels - o, channels = left < MG_SIMD_LANES ? left : MG_SIMD_LANES;
        for (uint32_t i = 0u; i < p->pixels; i += MG_TOGETHER) {
            const uint32_t n = p->pixels - i < MG_TOGETHER ? p->pixels - i : MG_TOGETHER;
            for (uint32_t j = 0u; j < n; j += 1u) {
                const size_t at = (size_t)(i + j) * p->step + o;
                MG_SIMD_OF(sums) s = MG_SIMD_OF(zero)();
                for (uint32_t k = 0u; k < p->pairs; k += 1u) {
                    s = MG_SIMD_OF(dot_pair)(s, taps[2u * k] + at, taps[2u * k + 1u] + at,
                                             weights + k * 2u * MG_SIMD_LANES);
                }
                MG_SIMD_OF(store_pairs)(sums + j * MG_SIMD_LANES, s);
            }
            MG_SIMD_OF(finish)(&p->scale, o, sums, n, out + (size_t)i * p->channels + o, p->channels, channels);
        }
    }
}

#undef MG_TOGETHER
