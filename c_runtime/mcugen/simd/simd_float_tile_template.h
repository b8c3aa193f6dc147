/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the sums of simd_floats.h for a tile, all in registers. MG_PIXELS > 1: so many pixels of one block of 16
 * channels. MG_PIXELS 1: one pixel of MG_BLOCKS blocks, as several sums are computed in the time of one.
 *
 * x begins `at` elements from the start of each row. weights: of the first block. n: channels of the last block. With
 * MG_DEEP 1, tiles of several pixels take four elements of each at a time, and an empty assembly keeps the compiler
 * from loading weights of further taps ahead, for which there are no registers.
 */
#if MG_PIXELS > 1
#define MG_EACH MG_PART(MG_EACH, MG_PIXELS)
#define MG_START(r) MG_SIMD_OF(sums) s##r = MG_SIMD_OF(load)(start + r * apart);
#define MG_ADD(r) s##r = MG_SIMD_OF(add)(s##r, MG_SIMD_OF(share)(x + r * step), w);
#define MG_END(r) MG_SIMD_OF(store)(out + r * p->out_c, s##r, n, p->out_min, p->out_max);
#define MG_TAKE(r) const MG_SIMD_OF(four) x##r = MG_SIMD_OF(take)(x + r * step);
#define MG_LOAD(lane)    \
    __asm__ volatile(""); \
    w = MG_SIMD_OF(load)(weights + lane * MG_SIMD_LANES);
#define MG_ADD_0(r) s##r = MG_SIMD_OF(add_0)(s##r, x##r, w);
#define MG_ADD_1(r) s##r = MG_SIMD_OF(add_1)(s##r, x##r, w);
#define MG_ADD_2(r) s##r = MG_SIMD_OF(add_2)(s##r, x##r, w);
#define MG_ADD_3(r) s##r = MG_SIMD_OF(add_3)(s##r, x##r, w);

static MG_TARGET void MG_TILE(MG_PIXELS)(const mg_simd_floats *p, const mg_f32 *const *rows, size_t at,
                                         const mg_f32 *weights, const mg_f32 *start, size_t apart, mg_f32 *out,
                                         uint32_t n)
#else
#define MG_EACH MG_PART(MG_EACH, MG_BLOCKS)
#define MG_LANES_OF(r) (MG_BLOCKS == r + 1 ? n : MG_SIMD_LANES)
#define MG_START(r) MG_SIMD_OF(sums) s##r = MG_SIMD_OF(load)(start + r * MG_SIMD_LANES);
#define MG_ADD(r) s##r = MG_SIMD_OF(add)(s##r, all, MG_SIMD_OF(load)(weights + r * scalars));
#define MG_END(r) MG_SIMD_OF(store)(out + r * MG_SIMD_LANES, s##r, MG_LANES_OF(r), p->out_min, p->out_max);

static MG_TARGET void MG_VECTOR(MG_BLOCKS)(const mg_simd_floats *p, const mg_f32 *const *rows, size_t at,
                                           const mg_f32 *weights, const mg_f32 *start, mg_f32 *out, uint32_t n)
#endif
{
#if MG_PIXELS > 1
    const size_t step = p->step;
#else
    const size_t scalars = (size_t)p->kernel_h * p->segments * p->taps * MG_SIMD_LANES;
    (void)scalars;
#endif
    MG_EACH(MG_START)
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->segments; j += 1u) {
            const mg_f32 *x = rows[i] + at + (size_t)j * p->gap;
#if MG_PIXELS > 1 && MG_DEEP
            const uint32_t fours = p->taps / 4u, rest = p->taps % 4u;
            for (uint32_t k = 0u; k < fours; k += 1u) {
                MG_SIMD_OF(sums) w;
                MG_EACH(MG_TAKE)
                MG_LOAD(0)
                MG_EACH(MG_ADD_0)
                MG_LOAD(1)
                MG_EACH(MG_ADD_1)
                MG_LOAD(2)
                MG_EACH(MG_ADD_2)
                MG_LOAD(3)
                MG_EACH(MG_ADD_3)
                x += 4;
                weights += 4 * MG_SIMD_LANES;
            }
#else
            const uint32_t rest = p->taps;
#endif
            for (uint32_t k = 0u; k < rest; k += 1u) {
#if MG_PIXELS > 1
                const MG_SIMD_OF(sums) w = MG_SIMD_OF(load)(weights);
#else
                const MG_SIMD_OF(one) all = MG_SIMD_OF(share)(x);
#endif
                MG_EACH(MG_ADD)
                x += 1;
                weights += MG_SIMD_LANES;
            }
        }
    }
    MG_EACH(MG_END)
}

#undef MG_EACH
#undef MG_START
#undef MG_ADD
#undef MG_END
#undef MG_LANES_OF
#undef MG_TAKE
#undef MG_LOAD
#undef MG_ADD_0
#undef MG_ADD_1
#undef MG_ADD_2
#undef MG_ADD_3
