/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_SIMD_OF(sum_f32), the sum of simd_sum_f32.h with the set MG_SET. A factor of 1 changes no bit.
 */
static MG_TARGET void MG_SIMD_OF(sum_f32)(const mg_simd_sum_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out,
                                          uint32_t n)
{
    const mg_f32 unit[MG_SIMD_LANES] = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
                                        1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f};
    const MG_SIMD_OF(sums) ones = MG_SIMD_OF(load)(unit);
    const uint32_t whole = n & ~(MG_SIMD_LANES - 1u);
    for (uint32_t i = 0u; i < whole; i += MG_SIMD_LANES) {
        const MG_SIMD_OF(sums) sum = MG_SIMD_OF(add_each)(MG_SIMD_OF(load)(a + i), MG_SIMD_OF(load)(b + i), ones);
        MG_SIMD_OF(store)(out + i, sum, MG_SIMD_LANES, p->out_min, p->out_max);
    }
    for (uint32_t i = whole; i < n; i += 1u) {
        out[i] = mg_clamp_float(a[i] + b[i], p->out_min, p->out_max);
    }
}
