/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(depthwise_f32), a row of the convolution of simd_depthwise_f32.h with the set MG_SET, four
 * pixels at a time.
 */
static MG_TARGET void MG_SIMD_OF(depthwise_f32)(const mg_simd_depthwise_f32_params *p, const mg_f32 *const *rows,
                                               mg_f32 *out)
{
    const mg_f32 *taps[MG_SIMD_MOST_TAPS];
    const size_t step = p->step, channels = p->channels;
    const uint32_t fours = p->pixels & ~3u;
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        taps[k] = rows[p->taps[k] & 0xFFu] + (p->taps[k] >> 8);
    }
    for (uint32_t t = 0u; t < p->tiles; t += 1u) {
        const mg_f32 *const weights = p->weights + (size_t)t * p->count * MG_SIMD_LANES;
        const uint32_t o = t * MG_SIMD_LANES, left = p->channels - o, n = left < MG_SIMD_LANES ? left : MG_SIMD_LANES;
        const MG_SIMD_OF(sums) bias = MG_SIMD_OF(load)(p->bias + o);
        for (uint32_t i = 0u; i < fours; i += 4u) {
            const size_t at = (size_t)i * step + o;
            mg_f32 *const to = out + (size_t)i * channels + o;
            MG_SIMD_OF(sums) a = bias, b = bias, c = bias, d = bias;
            for (uint32_t k = 0u; k < p->count; k += 1u) {
                const MG_SIMD_OF(sums) w = MG_SIMD_OF(load)(weights + (size_t)k * MG_SIMD_LANES);
                const mg_f32 *const x = taps[k] + at;
                a = MG_SIMD_OF(add_each)(a, MG_SIMD_OF(load)(x), w);
                b = MG_SIMD_OF(add_each)(b, MG_SIMD_OF(load)(x + step), w);
                c = MG_SIMD_OF(add_each)(c, MG_SIMD_OF(load)(x + 2u * step), w);
                d = MG_SIMD_OF(add_each)(d, MG_SIMD_OF(load)(x + 3u * step), w);
            }
            MG_SIMD_OF(store)(to, a, n, p->out_min, p->out_max);
            MG_SIMD_OF(store)(to + channels, b, n, p->out_min, p->out_max);
            MG_SIMD_OF(store)(to + 2u * channels, c, n, p->out_min, p->out_max);
            MG_SIMD_OF(store)(to + 3u * channels, d, n, p->out_min, p->out_max);
        }
        for (uint32_t i = fours; i < p->pixels; i += 1u) {
            const size_t at = (size_t)i * step + o;
            MG_SIMD_OF(sums) a = bias;
            for (uint32_t k = 0u; k < p->count; k += 1u) {
                const MG_SIMD_OF(sums) w = MG_SIMD_OF(load)(weights + (size_t)k * MG_SIMD_LANES);
                a = MG_SIMD_OF(add_each)(a, MG_SIMD_OF(load)(taps[k] + at), w);
            }
            MG_SIMD_OF(store)(out + (size_t)i * channels + o, a, n, p->out_min, p->out_max);
        }
    }
}
