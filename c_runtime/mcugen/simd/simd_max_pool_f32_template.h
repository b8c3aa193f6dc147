/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(max_pool_f32), a row of the pool of simd_max_pool_f32.h with the set MG_SET. The last block of
 * 16 channels ends with the last channel, and may overlap the one before.
 */
static MG_TARGET void MG_SIMD_OF(max_pool_f32)(const mg_simd_max_pool_f32_params *p, const mg_f32 *const *rows, uint32_t y,
                                              mg_f32 *out)
{
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    const size_t channels = p->channels;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
        const size_t first = (size_t)(x * p->stride_w + columns.first - p->pad_w) * channels;
        for (uint32_t c = 0u; c < p->channels; c += MG_SIMD_LANES) {
            const uint32_t at = c + MG_SIMD_LANES <= p->channels ? c : p->channels - MG_SIMD_LANES;
            MG_SIMD_OF(sums) largest = MG_SIMD_OF(load)(rows[span.first] + first + at);
            for (uint32_t i = span.first; i < span.end; i += 1u) {
                const mg_f32 *in = rows[i] + first + at;
                for (uint32_t j = columns.first; j < columns.end; j += 1u) {
                    largest = MG_SIMD_OF(larger)(MG_SIMD_OF(load)(in), largest);
                    in += channels;
                }
            }
            MG_SIMD_OF(store)(out + x * channels + at, largest, MG_SIMD_LANES, p->out_min, p->out_max);
        }
    }
}
