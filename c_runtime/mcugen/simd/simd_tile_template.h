/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_TILE(MG_PIXELS), the sums of MG_PIXELS pixels and 16 channels for the products of simd_dense.h. The
 * first pixel begins `at` bytes from the start of each row. weights: of these channels. sums: [MG_PIXELS][16]. For a
 * single pixel, reading the weights takes the time, so they are fetched ahead.
 */
#if MG_PIXELS == 1
#define MG_EACH(f) f(0)
#elif MG_PIXELS == 2
#define MG_EACH(f) f(0) f(1)
#elif MG_PIXELS == 3
#define MG_EACH(f) f(0) f(1) f(2)
#elif MG_PIXELS == 4
#define MG_EACH(f) f(0) f(1) f(2) f(3)
#elif MG_PIXELS == 5
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4)
#elif MG_PIXELS == 6
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4) f(5)
#elif MG_PIXELS == 7
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6)
#else
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#endif

#define MG_START(r) MG_SIMD_OF(sums) s##r = MG_SIMD_OF(zero)();
#define MG_ADD(r) s##r = MG_SIMD_OF(dot)(s##r, MG_SIMD_OF(load_taps)(x + r * step), w);
#define MG_END(r) MG_SIMD_OF(store_dots)(sums + r * MG_SIMD_LANES, s##r);

static MG_TARGET void MG_TILE(MG_PIXELS)(const mg_simd_dense *p, const uint8_t *const *rows, size_t at,
                                         const MG_SCALAR *weights, int32_t *sums)
{
    const size_t step = p->step, gap = p->gap;
    MG_EACH(MG_START)
    (void)step;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->segments; j += 1u) {
            const uint8_t *x = rows[i] + at + j * gap;
            for (uint32_t k = 0u; k < p->groups; k += 1u) {
                const MG_SIMD_OF(weights) w = MG_PART(MG_SIMD_OF(load), MG_WEIGHT)(weights);
#if MG_PIXELS == 1
                mg_simd_fetch(weights);
#endif
                MG_EACH(MG_ADD)
                x += MG_SIMD_TAPS;
                weights += MG_SIMD_LANES * MG_SIMD_TAPS;
            }
        }
    }
    MG_EACH(MG_END)
}

#undef MG_EACH
#undef MG_START
#undef MG_ADD
#undef MG_END
