/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: functions for the Fourier transform of int16 samples, in place on complex numbers (pairs of samples).
 *
 *   MG_POINTS   number of complex numbers, half of the number of real ones
 *   MG_SAMPLES  number of samples given; the rest of the real numbers is 0
 *   MG_WINDOW   0: none; 1: samples are multiplied by a window, products fit 16 bits; 2: products are saturated
 *   MG_SHIFT    fractional bits of the window values
 *   MG_RADIX0, MG_RADIX1 ... MG_RADIX5  radix of each stage in the order in which they run; 1: no stage
 *   MG_ENERGY   1: energies are computed from the spectrum, in place
 *   MG_START, MG_END    energies are computed for the bins in [MG_START, MG_END)
 *   MG_FIRST, MG_LAST   the first and the last k, 1 to MG_POINTS / 2, for which bin k or bin MG_POINTS - k is needed
 *
 * A stage first scales its inputs by 1 / radix. So only stored results wrap, and numbers whose twiddle factor is 1
 * need no product.
 */
#include "mcugen/dsp_complex.h"
#include "mcugen/dsp_fourier.h"
#include "mcugen/fourier.h"

#define MG_BLOCK (MG_RADIX0 * MG_RADIX1)
#define MG_STARTS (MG_POINTS / MG_BLOCK)
#define MG_PAIRS ((MG_SAMPLES + 1u) / 2u)

/* Two samples, or a complex number of a spectrum. */
typedef uint32_t MCUGEN_MAY_ALIAS MCUGEN_ALIGNED(2) MG_VARIANT(both);

/* Complex numbers in the memory of the results. */
#if MG_ENERGY
typedef mg_u32 MG_VARIANT(word);
#else
typedef MG_VARIANT(both) MG_VARIANT(word);
#endif

/* Pair i of the samples, with zeros behind the last one. */
static MCUGEN_INLINE uint32_t MG_VARIANT(pair)(const mg_s16 *in, uint32_t i)
{
#if MG_SAMPLES % 2u != 0u
    if (i == MG_SAMPLES / 2u) {
        return (uint16_t)in[MG_SAMPLES - 1u];
    }
#endif
    return ((const MG_VARIANT(both) *)in)[i];
}

/* Two samples, multiplied by two window values if there is a window. */
static MCUGEN_INLINE uint32_t MG_VARIANT(windowed)(uint32_t x, uint32_t w)
{
#if MG_WINDOW == 0
    (void)w;
    return x;
#elif MG_WINDOW == 1 && MG_SHIFT <= 16
    uint32_t y;
    MG_DSP_JOINED(y, mg_dsp_bb(x, w) >> MG_SHIFT, mg_dsp_tt(x, w), 16 - MG_SHIFT);
    return y;
#else
    uint32_t y;
    MG_DSP_JOINED(y, mg_dsp_narrowed(mg_dsp_bb(x, w) >> MG_SHIFT), mg_dsp_narrowed(mg_dsp_tt(x, w) >> MG_SHIFT), 16);
    return y;
#endif
}

/* Greatest and least of all words stored so far, for each half of the word by itself. */
typedef struct {
    uint32_t most, least;
} MG_VARIANT(range);

/* Pair start + offset of the samples, multiplied by the window values w; 0 behind the last sample. Extends `range` to
 * the result. start < MG_STARTS; offset: a constant. */
static MCUGEN_INLINE uint32_t MG_VARIANT(sample)(const mg_s16 *in, uint32_t start, uint32_t offset, uint32_t w,
                                                 MG_VARIANT(range) *range)
{
    if (offset >= MG_PAIRS || (offset + MG_STARTS > MG_PAIRS && start + offset >= MG_PAIRS)) {
        return 0u;
    }
    const uint32_t y = MG_VARIANT(windowed)(MG_VARIANT(pair)(in, start + offset), w);
    range->most = mg_dsp_larger(range->most, y);
    range->least = mg_dsp_smaller(range->least, y);
    return y;
}

/* Fills places k and k + 1 of a block: with the pair of samples at `offset`, and with the pair MG_POINTS / MG_RADIX0
 * behind it. */
static MCUGEN_INLINE void MG_VARIANT(two_places)(const mg_s16 *in, uint32_t start, uint32_t offset, uint32_t k,
                                                 const uint32_t *window, MG_VARIANT(word) *z, MG_VARIANT(range) *range)
{
    uint32_t a = 0u, b = 0u;
#if MG_WINDOW
    MG_DSP_LOAD_TWO(a, b, window, k);
#endif
    a = MG_VARIANT(sample)(in, start, offset, a, range);
    b = MG_VARIANT(sample)(in, start, offset + MG_POINTS / MG_RADIX0, b, range);
    z[k] = a;
    z[k + 1u] = b;
    (void)window;
}

/* Fills group d of a block, MG_RADIX0 places. */
static MCUGEN_INLINE void MG_VARIANT(group)(const mg_s16 *in, uint32_t start, uint32_t d, const uint32_t *window,
                                            MG_VARIANT(word) *z, MG_VARIANT(range) *range)
{
    const uint32_t k = d * MG_RADIX0, offset = d * MG_STARTS;
    MG_VARIANT(two_places)(in, start, offset, k, window, z, range);
#if MG_RADIX0 > 3
    MG_VARIANT(two_places)(in, start, offset + 2u * (MG_POINTS / MG_RADIX0), k + 2u, window, z, range);
#endif
#if MG_RADIX0 % 2 != 0
    z[k + MG_RADIX0 - 1u] =
        MG_VARIANT(sample)(in, start, offset + (MG_RADIX0 - 1u) * (MG_POINTS / MG_RADIX0),
                           MG_WINDOW ? window[k + MG_RADIX0 - 1u] : 0u, range);
#endif
}

/* Stores the samples, multiplied by the window if there is one, in the order that the first stage reads. Returns their
 * greatest magnitude. */
static MCUGEN_INLINE int32_t MG_VARIANT(place)(const mg_dsp_fourier_params *p, const mg_s16 *in, MG_VARIANT(word) *z)
{
    const uint16_t *starts = p->starts;
    const uint32_t *window = p->window;
    MG_VARIANT(range) range = {0u, 0u};
    for (uint32_t i = 0u; i < MG_STARTS; i += 1u) {
        const uint32_t start = starts[i];
        MG_VARIANT(group)(in, start, 0u, window, z, &range);
#if MG_RADIX1 > 1
        MG_VARIANT(group)(in, start, 1u, window, z, &range);
#endif
#if MG_RADIX1 > 2
        MG_VARIANT(group)(in, start, 2u, window, z, &range);
#endif
#if MG_RADIX1 > 3
        MG_VARIANT(group)(in, start, 3u, window, z, &range);
#endif
#if MG_RADIX1 > 4
        MG_VARIANT(group)(in, start, 4u, window, z, &range);
#endif
        z += MG_BLOCK;
#if MG_WINDOW
        window += MG_BLOCK;
#endif
    }
    const int32_t a = (int16_t)(range.most & 0xFFFFu), b = (int16_t)(range.most >> 16), most = a > b ? a : b;
    const int32_t c = (int16_t)(range.least & 0xFFFFu), d = (int16_t)(range.least >> 16), least = c < d ? c : d;
    return -least > most ? -least : most;
}

/* Constants of a stage, for registers.
 * factor       2 / radix, with 15 fractional bits
 * up           left shift of the inputs; mask: clears the bits that the shift moves from the low half to the high half
 * round, half  addends that round */
typedef struct {
    uint32_t factor, up, mask;
    int32_t round, half;
} MG_VARIANT(scale);

static MCUGEN_INLINE uint32_t MG_VARIANT(scaled)(uint32_t x, MG_VARIANT(scale) s, uint32_t shifted)
{
    return mg_dsp_scaled(shifted ? x << s.up & s.mask : x, s.factor, s.round);
}

static MCUGEN_INLINE uint32_t MG_VARIANT(read)(const MG_VARIANT(word) *z, MG_VARIANT(scale) s, uint32_t shifted)
{
    return MG_VARIANT(scaled)(*z, s, shifted);
}

/* Butterflies of two to five numbers that lie m apart. t: their twiddle factors; NULL: all are 1. shifted: 1 if the
 * inputs are first shifted left. */
static MCUGEN_INLINE void MG_VARIANT(two)(MG_VARIANT(word) *z, uint32_t m, MG_VARIANT(scale) s, const uint32_t *t,
                                          uint32_t shifted)
{
    uint32_t a = MG_VARIANT(read)(z, s, shifted), b = MG_VARIANT(read)(z + m, s, shifted);
    if (t != NULL) {
        b = mg_dsp_turned(b, t[0], s.half);
    }
    z[0] = mg_dsp_plus(a, b);
    z[m] = mg_dsp_minus(a, b);
}

static MCUGEN_INLINE void MG_VARIANT(three)(MG_VARIANT(word) *z, uint32_t m, MG_VARIANT(scale) s, const uint32_t *t,
                                            uint32_t shifted)
{
    uint32_t a = MG_VARIANT(read)(z, s, shifted), b = MG_VARIANT(read)(z + m, s, shifted);
    uint32_t c = MG_VARIANT(read)(z + 2u * m, s, shifted);
    if (t != NULL) {
        b = mg_dsp_turned(b, t[0], s.half);
        c = mg_dsp_turned(c, t[1], s.half);
    }
    const uint32_t sum = mg_dsp_plus(b, c), apart = mg_dsp_times(mg_dsp_minus(b, c), MG_TURN_1_3_IM, s.half);
    const uint32_t middle = mg_dsp_minus(a, mg_dsp_half_plus(sum, 0u));
    z[0] = mg_dsp_plus(a, sum);
    z[m] = mg_dsp_plus_quarter(middle, apart);
    z[2u * m] = mg_dsp_minus_quarter(middle, apart);
}

static MCUGEN_INLINE void MG_VARIANT(four)(MG_VARIANT(word) *z, uint32_t m, MG_VARIANT(scale) s, const uint32_t *t,
                                           uint32_t shifted)
{
    uint32_t a, b, c, d;
    if (MG_ENERGY && m == 1u) {
        MG_DSP_LOAD_TWO(a, b, z, 0);
        MG_DSP_LOAD_TWO(c, d, z, 2);
    } else {
        a = z[0];
        b = z[m];
        c = z[2u * m];
        d = z[3u * m];
    }
    a = MG_VARIANT(scaled)(a, s, shifted);
    b = MG_VARIANT(scaled)(b, s, shifted);
    c = MG_VARIANT(scaled)(c, s, shifted);
    d = MG_VARIANT(scaled)(d, s, shifted);
    if (t != NULL) {
        b = mg_dsp_turned(b, t[0], s.half);
        c = mg_dsp_turned(c, t[1], s.half);
        d = mg_dsp_turned(d, t[2], s.half);
    }
    const uint32_t even = mg_dsp_plus(a, c), odd = mg_dsp_minus(a, c);
    const uint32_t sum = mg_dsp_plus(b, d), apart = mg_dsp_minus(b, d);
    a = mg_dsp_plus(even, sum);
    b = mg_dsp_minus_quarter(odd, apart);
    c = mg_dsp_minus(even, sum);
    d = mg_dsp_plus_quarter(odd, apart);
    z[0] = a;
    z[m] = b;
    z[2u * m] = c;
    z[3u * m] = d;
}

static MCUGEN_INLINE void MG_VARIANT(five)(MG_VARIANT(word) *z, uint32_t m, MG_VARIANT(scale) s, const uint32_t *t,
                                           uint32_t shifted)
{
    uint32_t a = MG_VARIANT(read)(z, s, shifted), b = MG_VARIANT(read)(z + m, s, shifted);
    uint32_t c = MG_VARIANT(read)(z + 2u * m, s, shifted), d = MG_VARIANT(read)(z + 3u * m, s, shifted);
    uint32_t e = MG_VARIANT(read)(z + 4u * m, s, shifted);
    if (t != NULL) {
        b = mg_dsp_turned(b, t[0], s.half);
        c = mg_dsp_turned(c, t[1], s.half);
        d = mg_dsp_turned(d, t[2], s.half);
        e = mg_dsp_turned(e, t[3], s.half);
    }
    const uint32_t outer = mg_dsp_plus(b, e), inner = mg_dsp_plus(c, d);
    const uint32_t far = mg_dsp_minus(b, e), near = mg_dsp_minus(c, d);
    const uint32_t one = mg_dsp_plus(a, mg_dsp_plus(mg_dsp_times(outer, MG_TURN_1_5_RE, s.half),
                                                    mg_dsp_times(inner, MG_TURN_2_5_RE, s.half)));
    const uint32_t two = mg_dsp_plus(a, mg_dsp_plus(mg_dsp_times(outer, MG_TURN_2_5_RE, s.half),
                                                    mg_dsp_times(inner, MG_TURN_1_5_RE, s.half)));
    const uint32_t by_one = mg_dsp_plus(mg_dsp_times(far, MG_TURN_1_5_IM, s.half),
                                        mg_dsp_times(near, MG_TURN_2_5_IM, s.half));
    const uint32_t by_two = mg_dsp_minus(mg_dsp_times(far, MG_TURN_2_5_IM, s.half),
                                         mg_dsp_times(near, MG_TURN_1_5_IM, s.half));
    z[0] = mg_dsp_plus(a, mg_dsp_plus(outer, inner));
    z[m] = mg_dsp_plus_quarter(one, by_one);
    z[2u * m] = mg_dsp_plus_quarter(two, by_two);
    z[3u * m] = mg_dsp_minus_quarter(two, by_two);
    z[4u * m] = mg_dsp_minus_quarter(one, by_one);
}

/* A butterfly of `radix` numbers. At every call radix, m, shifted, and whether t is NULL, are constants. */
static MCUGEN_INLINE void MG_VARIANT(butterfly)(MG_VARIANT(word) *z, uint32_t radix, uint32_t m, MG_VARIANT(scale) s,
                                                const uint32_t *t, uint32_t shifted)
{
    if (radix == 2u) {
        MG_VARIANT(two)(z, m, s, t, shifted);
    } else if (radix == 3u) {
        MG_VARIANT(three)(z, m, s, t, shifted);
    } else if (radix == 4u) {
        MG_VARIANT(four)(z, m, s, t, shifted);
    } else {
        MG_VARIANT(five)(z, m, s, t, shifted);
    }
}

/* One stage: butterflies of `radix` numbers that lie m apart. turns: its twiddle factors. shifted: 1 if the inputs are
 * first shifted left by `up`. */
static MCUGEN_INLINE void MG_VARIANT(stage)(MG_VARIANT(word) *z, uint32_t radix, uint32_t m, const uint32_t *turns,
                                            uint32_t shifted, uint32_t up)
{
    MG_VARIANT(scale) s = {2u * (32767u / radix), up, ~(((1u << up) - 1u) << 16), 32768, 16384};
    MG_DSP_HIDE(s.factor);
    MG_DSP_HIDE(s.mask);
    MG_DSP_HIDE(s.round);
    MG_DSP_HIDE(s.half);
    const uint32_t is_last = m > 1u && radix * m == MG_POINTS;
    if (!is_last) {
        for (uint32_t i = 0u; i < MG_POINTS; i += radix * m) {
            MG_VARIANT(butterfly)(z + i, radix, m, s, NULL, shifted);
        }
    }
    for (uint32_t k = is_last ? 0u : 1u; k < m; k += 1u) {
        const uint32_t t[4] = {turns[0], radix > 2u ? turns[1] : 0u, radix > 3u ? turns[2] : 0u,
                               radix > 4u ? turns[3] : 0u};
        if (is_last) {
            MG_VARIANT(butterfly)(z + k, radix, m, s, t, 0u);
        } else {
            for (uint32_t i = k; i < MG_POINTS; i += radix * m) {
                MG_VARIANT(butterfly)(z + i, radix, m, s, t, 0u);
            }
        }
        turns += radix - 1u;
    }
}

#define MG_TURNS(radix, m) (((radix) - 1u) * ((m) - 1u))
#define MG_SIZE2 (MG_RADIX0 * MG_RADIX1)
#define MG_SIZE3 (MG_SIZE2 * MG_RADIX2)
#define MG_SIZE4 (MG_SIZE3 * MG_RADIX3)
#define MG_SIZE5 (MG_SIZE4 * MG_RADIX4)

/* Runs all stages. z: the numbers in the order that the first stage reads. shifted: 1 if these are first shifted left
 * by `up`. */
static MCUGEN_INLINE void MG_VARIANT(run)(const mg_dsp_fourier_params *p, MG_VARIANT(word) *z,
                                          uint32_t shifted, uint32_t up)
{
    const uint32_t *turns = p->turns;
    MG_VARIANT(stage)(z, MG_RADIX0, 1u, turns, shifted, up);
#if MG_RADIX1 > 1
    MG_VARIANT(stage)(z, MG_RADIX1, MG_RADIX0, turns, 0u, 0u);
#endif
#if MG_RADIX2 > 1
    turns += MG_TURNS(MG_RADIX1, MG_RADIX0);
    MG_VARIANT(stage)(z, MG_RADIX2, MG_SIZE2, turns, 0u, 0u);
#endif
#if MG_RADIX3 > 1
    turns += MG_TURNS(MG_RADIX2, MG_SIZE2);
    MG_VARIANT(stage)(z, MG_RADIX3, MG_SIZE3, turns, 0u, 0u);
#endif
#if MG_RADIX4 > 1
    turns += MG_TURNS(MG_RADIX3, MG_SIZE3);
    MG_VARIANT(stage)(z, MG_RADIX4, MG_SIZE4, turns, 0u, 0u);
#endif
#if MG_RADIX5 > 1
    turns += MG_TURNS(MG_RADIX4, MG_SIZE4);
    MG_VARIANT(stage)(z, MG_RADIX5, MG_SIZE5, turns, 0u, 0u);
#endif
}

/* sum: (x + conj(y)) / 2; turned: t * (x - conj(y)) / 2. x, y: complex numbers k and MG_POINTS - k. */
typedef struct {
    uint32_t sum, turned;
} MG_VARIANT(halves);

static MCUGEN_INLINE MG_VARIANT(halves) MG_VARIANT(halved)(uint32_t x, uint32_t y, uint32_t t, MG_VARIANT(scale) s)
{
    const uint32_t a = mg_dsp_scaled(x, s.factor, s.round), minus = mg_dsp_minus(0u, y);
    const uint32_t b = mg_dsp_tops(mg_dsp_add_bb(y, s.factor, s.round), mg_dsp_add_tb(minus, s.factor, s.round));
    const MG_VARIANT(halves) found = {mg_dsp_plus(a, b), mg_dsp_turned(mg_dsp_minus(a, b), t, s.half)};
    return found;
}

/* Bin 0 (sum) and bin MG_POINTS (turned), both real, from half of the first complex number x: re + im and re - im. */
static MCUGEN_INLINE MG_VARIANT(halves) MG_VARIANT(ends)(uint32_t x)
{
    const uint32_t a = mg_dsp_scaled(x, 32766u, 32768);
    const MG_VARIANT(halves) found = {mg_dsp_plus(a, a >> 16) & 0xFFFFu, mg_dsp_minus(a, a >> 16) & 0xFFFFu};
    return found;
}

static MCUGEN_INLINE MG_VARIANT(scale) MG_VARIANT(half_scale)(void)
{
    MG_VARIANT(scale) s = {32766u, 0u, 0u, 32768, 16384};
    MG_DSP_HIDE(s.factor);
    MG_DSP_HIDE(s.round);
    MG_DSP_HIDE(s.half);
    return s;
}

#if MG_ENERGY
/* Replaces complex numbers by energies: number k by the energy of bin k. */
static MCUGEN_INLINE void MG_VARIANT(energies)(const mg_dsp_fourier_params *p, mg_u32 *z)
{
    const uint32_t *t = p->halves;
    const MG_VARIANT(scale) s = MG_VARIANT(half_scale)();
    mg_u32 *high = z + (MG_POINTS - MG_FIRST);
#if MG_START == 0 || MG_END > MG_POINTS
    const MG_VARIANT(halves) ends = MG_VARIANT(ends)(z[0]);
    z[0] = mg_dsp_energy(ends.sum);
    z[MG_POINTS] = mg_dsp_energy(ends.turned);
#endif
    for (mg_u32 *low = z + MG_FIRST; low < z + (MG_LAST + 1u); low += 1) {
        const MG_VARIANT(halves) of = MG_VARIANT(halved)(*low, *high, *t, s);
        const uint32_t near = mg_dsp_half_plus(of.sum, of.turned);
        const uint32_t re = mg_dsp_half_minus(of.sum, of.turned), im = mg_dsp_half_minus(of.turned, of.sum);
        *low = mg_dsp_energy(near);
        *high = (uint32_t)mg_dsp_add_tt(im, im, mg_dsp_bb(re, re));
        high -= 1;
        t += 1;
    }
#if MG_START > 0
    for (uint32_t k = 0u; k < MG_START; k += 1u) {
        z[k] = 0u;
    }
#endif
#if MG_END <= MG_POINTS
    for (uint32_t k = MG_END; k < MG_POINTS + 1u; k += 1u) {
        z[k] = 0u;
    }
#endif
}
#else
static MCUGEN_INLINE void MG_VARIANT(spectrum)(const mg_dsp_fourier_params *p, MG_VARIANT(word) *z)
{
    const uint32_t *t = p->halves;
    const MG_VARIANT(scale) s = MG_VARIANT(half_scale)();
    const MG_VARIANT(halves) ends = MG_VARIANT(ends)(z[0]);
    MG_VARIANT(word) *high = z + (MG_POINTS - 1u);
    z[0] = ends.sum;
    z[MG_POINTS] = ends.turned;
    for (MG_VARIANT(word) *low = z + 1u; low < z + (MG_POINTS / 2u + 1u); low += 1) {
        const MG_VARIANT(halves) of = MG_VARIANT(halved)(*low, *high, *t, s);
        const uint32_t re = mg_dsp_half_minus(of.sum, of.turned), im = mg_dsp_half_minus(of.turned, of.sum);
        *low = mg_dsp_half_plus(of.sum, of.turned);
        *high = (im & 0xFFFF0000u) | (re & 0xFFFFu);
        high -= 1;
        t += 1;
    }
}
#endif

#undef MG_BLOCK
#undef MG_STARTS
#undef MG_PAIRS
#undef MG_TURNS
#undef MG_SIZE2
#undef MG_SIZE3
#undef MG_SIZE4
#undef MG_SIZE5
