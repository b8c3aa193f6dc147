/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: functions for the Fourier transform of int16 samples, in place on complex numbers (pairs of samples).
 *
 *   MG_POINTS   number of complex numbers, half of the number of real ones
 *   MG_SAMPLES  number of samples given; the rest of the real numbers is 0
 *   MG_WINDOW   0: none; 1: samples are multiplied by a window, products fit 16 bits; 2: products are saturated
 *   MG_SHIFT    fractional bits of the window values
 *   MG_STAGES   number of stages;   MG_TWOS, MG_THREES, MG_FOURS, MG_FIVES  number of stages of each radix
 *   MG_ENERGY   1: energies are computed from the spectrum, in place
 *   MG_START, MG_END    energies are computed for the bins in [MG_START, MG_END)
 *   MG_FIRST, MG_LAST   the first and the last k, 1 to MG_POINTS / 2, for which bin k or bin MG_POINTS - k is needed
 *
 * A stage first scales its inputs by 1 / radix. So all sums fit 32 bits, and only stored results wrap. Numbers whose
 * twiddle factor is 1 need no product.
 */
#include "mcugen/fourier_stages.h"
#include "mcugen/fourier.h"

typedef struct {
    int32_t re, im;
} MG_VARIANT(complex);

/* x / 2^15, rounded. */
static MCUGEN_INLINE int32_t MG_VARIANT(rounded)(int32_t x)
{
    return (x + 16384) >> 15;
}

static MCUGEN_INLINE MG_VARIANT(complex) MG_VARIANT(turned)(MG_VARIANT(complex) a, const int16_t *t)
{
    const int32_t c = t[0], s = t[1];
    const MG_VARIANT(complex) y = {MG_VARIANT(rounded)(a.re * c - a.im * s), MG_VARIANT(rounded)(a.re * s + a.im * c)};
    return y;
}

/* The complex number at x times factor / 2^15, then times t, a twiddle factor; NULL: 1. */
static MCUGEN_INLINE MG_VARIANT(complex) MG_VARIANT(read)(const mg_s16 *x, int32_t factor, const int16_t *t)
{
    const MG_VARIANT(complex) a = {MG_VARIANT(rounded)(x[0] * factor), MG_VARIANT(rounded)(x[1] * factor)};
    return t == NULL ? a : MG_VARIANT(turned)(a, t);
}

static MCUGEN_INLINE void MG_VARIANT(store)(mg_s16 *x, int32_t re, int32_t im)
{
    x[0] = (int16_t)re;
    x[1] = (int16_t)im;
}

/* Butterflies of two to five numbers that lie m elements apart. t: their twiddle factors; NULL: all are 1. */
#if MG_TWOS
static MCUGEN_INLINE void MG_VARIANT(two)(mg_s16 *x, uint32_t m, const int16_t *t, int32_t factor)
{
    const MG_VARIANT(complex) a = MG_VARIANT(read)(x, factor, NULL), b = MG_VARIANT(read)(x + m, factor, t);
    MG_VARIANT(store)(x, a.re + b.re, a.im + b.im);
    MG_VARIANT(store)(x + m, a.re - b.re, a.im - b.im);
}

/* A stage of radix 2: butterflies of complex numbers that lie m complex numbers apart. */
static void MG_VARIANT(twos)(mg_s16 *z, uint32_t m, const int16_t *turns, int32_t factor)
{
    for (uint32_t i = 0u; i < MG_POINTS; i += 2u * m) {
        MG_VARIANT(two)(z + 2u * i, 2u * m, NULL, factor);
    }
    for (uint32_t k = 1u; k < m; k += 1u) {
        for (uint32_t i = k; i < MG_POINTS; i += 2u * m) {
            MG_VARIANT(two)(z + 2u * i, 2u * m, turns, factor);
        }
        turns += 2;
    }
}
#endif

#if MG_THREES
static MCUGEN_INLINE void MG_VARIANT(three)(mg_s16 *x, uint32_t m, const int16_t *t, int32_t factor)
{
    const MG_VARIANT(complex) b = MG_VARIANT(read)(x + m, factor, t);
    const MG_VARIANT(complex) c = MG_VARIANT(read)(x + 2u * m, factor, t == NULL ? NULL : t + 2);
    const MG_VARIANT(complex) a = MG_VARIANT(read)(x, factor, NULL);
    const int32_t re = b.re + c.re, im = b.im + c.im;
    const int32_t middle_re = a.re - (re >> 1), middle_im = a.im - (im >> 1);
    const int32_t apart_re = MG_VARIANT(rounded)((b.re - c.re) * MG_TURN_1_3_IM);
    const int32_t apart_im = MG_VARIANT(rounded)((b.im - c.im) * MG_TURN_1_3_IM);
    MG_VARIANT(store)(x, a.re + re, a.im + im);
    MG_VARIANT(store)(x + m, middle_re - apart_im, middle_im + apart_re);
    MG_VARIANT(store)(x + 2u * m, middle_re + apart_im, middle_im - apart_re);
}

/* A stage of radix 3: butterflies of complex numbers that lie m complex numbers apart. */
static void MG_VARIANT(threes)(mg_s16 *z, uint32_t m, const int16_t *turns, int32_t factor)
{
    for (uint32_t i = 0u; i < MG_POINTS; i += 3u * m) {
        MG_VARIANT(three)(z + 2u * i, 2u * m, NULL, factor);
    }
    for (uint32_t k = 1u; k < m; k += 1u) {
        for (uint32_t i = k; i < MG_POINTS; i += 3u * m) {
            MG_VARIANT(three)(z + 2u * i, 2u * m, turns, factor);
        }
        turns += 4;
    }
}
#endif

#if MG_FOURS
static MCUGEN_INLINE void MG_VARIANT(four)(mg_s16 *x, uint32_t m, const int16_t *t, int32_t factor)
{
    const MG_VARIANT(complex) b = MG_VARIANT(read)(x + m, factor, t);
    const MG_VARIANT(complex) d = MG_VARIANT(read)(x + 3u * m, factor, t == NULL ? NULL : t + 4);
    const int32_t sum_re = b.re + d.re, sum_im = b.im + d.im, apart_re = b.re - d.re, apart_im = b.im - d.im;
    const MG_VARIANT(complex) a = MG_VARIANT(read)(x, factor, NULL);
    const MG_VARIANT(complex) c = MG_VARIANT(read)(x + 2u * m, factor, t == NULL ? NULL : t + 2);
    const int32_t even_re = a.re + c.re, even_im = a.im + c.im, odd_re = a.re - c.re, odd_im = a.im - c.im;
    MG_VARIANT(store)(x, even_re + sum_re, even_im + sum_im);
    MG_VARIANT(store)(x + 2u * m, even_re - sum_re, even_im - sum_im);
    MG_VARIANT(store)(x + m, odd_re + apart_im, odd_im - apart_re);
    MG_VARIANT(store)(x + 3u * m, odd_re - apart_im, odd_im + apart_re);
}

/* A stage of radix 4: butterflies of complex numbers that lie m complex numbers apart. */
static void MG_VARIANT(fours)(mg_s16 *z, uint32_t m, const int16_t *turns, int32_t factor)
{
    for (uint32_t i = 0u; i < MG_POINTS; i += 4u * m) {
        MG_VARIANT(four)(z + 2u * i, 2u * m, NULL, factor);
    }
    for (uint32_t k = 1u; k < m; k += 1u) {
        for (uint32_t i = k; i < MG_POINTS; i += 4u * m) {
            MG_VARIANT(four)(z + 2u * i, 2u * m, turns, factor);
        }
        turns += 6;
    }
}
#endif

#if MG_FIVES
/* x * a + y * b, each product rounded. */
static MCUGEN_INLINE int32_t MG_VARIANT(mixed)(int32_t x, int32_t a, int32_t y, int32_t b)
{
    return MG_VARIANT(rounded)(x * a) + MG_VARIANT(rounded)(y * b);
}

static MCUGEN_INLINE void MG_VARIANT(five)(mg_s16 *x, uint32_t m, const int16_t *t, int32_t factor)
{
    const MG_VARIANT(complex) a = MG_VARIANT(read)(x, factor, NULL), b = MG_VARIANT(read)(x + m, factor, t);
    const MG_VARIANT(complex) c = MG_VARIANT(read)(x + 2u * m, factor, t == NULL ? NULL : t + 2);
    const MG_VARIANT(complex) d = MG_VARIANT(read)(x + 3u * m, factor, t == NULL ? NULL : t + 4);
    const MG_VARIANT(complex) e = MG_VARIANT(read)(x + 4u * m, factor, t == NULL ? NULL : t + 6);
    const int32_t outer_re = b.re + e.re, outer_im = b.im + e.im, inner_re = c.re + d.re, inner_im = c.im + d.im;
    const int32_t far_re = b.re - e.re, far_im = b.im - e.im, near_re = c.re - d.re, near_im = c.im - d.im;
    const int32_t one_re = a.re + MG_VARIANT(mixed)(outer_re, MG_TURN_1_5_RE, inner_re, MG_TURN_2_5_RE);
    const int32_t one_im = a.im + MG_VARIANT(mixed)(outer_im, MG_TURN_1_5_RE, inner_im, MG_TURN_2_5_RE);
    const int32_t two_re = a.re + MG_VARIANT(mixed)(outer_re, MG_TURN_2_5_RE, inner_re, MG_TURN_1_5_RE);
    const int32_t two_im = a.im + MG_VARIANT(mixed)(outer_im, MG_TURN_2_5_RE, inner_im, MG_TURN_1_5_RE);
    const int32_t by_one_re = MG_VARIANT(mixed)(far_re, MG_TURN_1_5_IM, near_re, MG_TURN_2_5_IM);
    const int32_t by_one_im = MG_VARIANT(mixed)(far_im, MG_TURN_1_5_IM, near_im, MG_TURN_2_5_IM);
    const int32_t by_two_re =
        MG_VARIANT(rounded)(near_re * MG_TURN_1_5_IM) - MG_VARIANT(rounded)(far_re * MG_TURN_2_5_IM);
    const int32_t by_two_im =
        MG_VARIANT(rounded)(near_im * MG_TURN_1_5_IM) - MG_VARIANT(rounded)(far_im * MG_TURN_2_5_IM);
    MG_VARIANT(store)(x, a.re + outer_re + inner_re, a.im + outer_im + inner_im);
    MG_VARIANT(store)(x + m, one_re - by_one_im, one_im + by_one_re);
    MG_VARIANT(store)(x + 2u * m, two_re + by_two_im, two_im - by_two_re);
    MG_VARIANT(store)(x + 3u * m, two_re - by_two_im, two_im + by_two_re);
    MG_VARIANT(store)(x + 4u * m, one_re + by_one_im, one_im - by_one_re);
}

/* A stage of radix 5: butterflies of complex numbers that lie m complex numbers apart. */
static void MG_VARIANT(fives)(mg_s16 *z, uint32_t m, const int16_t *turns, int32_t factor)
{
    for (uint32_t i = 0u; i < MG_POINTS; i += 5u * m) {
        MG_VARIANT(five)(z + 2u * i, 2u * m, NULL, factor);
    }
    for (uint32_t k = 1u; k < m; k += 1u) {
        for (uint32_t i = k; i < MG_POINTS; i += 5u * m) {
            MG_VARIANT(five)(z + 2u * i, 2u * m, turns, factor);
        }
        turns += 8;
    }
}
#endif

/* Runs all stages. z: the numbers in the order that the first stage reads; shift: left shift of these. */
static void MG_VARIANT(run)(const mg_fourier_stages_params *p, mg_s16 *z, uint32_t shift)
{
    const int16_t *turns = p->turns;
    uint32_t m = 1u, up = shift;
    for (uint32_t s = 0u; s < MG_STAGES; s += 1u) {
        const uint32_t radix = p->radix[s];
        const int32_t factor = (int32_t)(32767u / radix << up);
        up = 0u;
#if MG_TWOS
        if (radix == 2u) {
            MG_VARIANT(twos)(z, m, turns, factor);
        }
#endif
#if MG_THREES
        if (radix == 3u) {
            MG_VARIANT(threes)(z, m, turns, factor);
        }
#endif
#if MG_FOURS
        if (radix == 4u) {
            MG_VARIANT(fours)(z, m, turns, factor);
        }
#endif
#if MG_FIVES
        if (radix == 5u) {
            MG_VARIANT(fives)(z, m, turns, factor);
        }
#endif
        turns += 2u * (radix - 1u) * (m - 1u);
        m *= radix;
    }
}

#if MG_WINDOW == 0
static MCUGEN_INLINE int32_t MG_VARIANT(sample)(const mg_s16 *x, const int16_t *w)
{
    (void)w;
    return *x;
}
#elif MG_WINDOW == 1
static MCUGEN_INLINE int32_t MG_VARIANT(sample)(const mg_s16 *x, const int16_t *w)
{
    return (*x * *w) >> MG_SHIFT;
}
#else
static MCUGEN_INLINE int32_t MG_VARIANT(sample)(const mg_s16 *x, const int16_t *w)
{
    return mg_clamp((*x * *w) >> MG_SHIFT, INT16_MIN, INT16_MAX);
}
#endif

/* Stores the samples, multiplied by the window if there is one, in the order that the first stage reads. Returns their
 * greatest magnitude. */
static MCUGEN_INLINE int32_t MG_VARIANT(place)(const mg_fourier_stages_params *p, const mg_s16 *in, mg_s16 *z)
{
    const uint16_t *place = p->place;
    const int16_t *w = p->window;
    int32_t most = 0, least = 0;
    for (uint32_t i = 0u; i < MG_SAMPLES / 2u; i += 1u) {
        const int32_t re = MG_VARIANT(sample)(in, w), im = MG_VARIANT(sample)(in + 1, w + 1);
        MG_VARIANT(store)(z + 2u * *place, re, im);
        most = re > most ? re : most;
        most = im > most ? im : most;
        least = re < least ? re : least;
        least = im < least ? im : least;
        in += 2;
        w += 2;
        place += 1;
    }
#if MG_SAMPLES % 2u != 0u
    const int32_t last = MG_VARIANT(sample)(in, w);
    MG_VARIANT(store)(z + 2u * *place, last, 0);
    most = last > most ? last : most;
    least = last < least ? last : least;
    place += 1;
#endif
#if (MG_SAMPLES + 1u) / 2u < MG_POINTS
    for (uint32_t i = (MG_SAMPLES + 1u) / 2u; i < MG_POINTS; i += 1u) {
        MG_VARIANT(store)(z + 2u * *place, 0, 0);
        place += 1;
    }
#endif
    return -least > most ? -least : most;
}

/* sum: (x + conj(y)) / 2; apart: t * (x - conj(y)) / 2. low, high: x and y, complex numbers k and MG_POINTS - k. */
static MCUGEN_INLINE void MG_VARIANT(halved)(const mg_s16 *low, const mg_s16 *high, const int16_t *t,
                                             MG_VARIANT(complex) *sum, MG_VARIANT(complex) *apart)
{
    const MG_VARIANT(complex) a = MG_VARIANT(read)(low, 16383, NULL);
    const MG_VARIANT(complex) b = {MG_VARIANT(rounded)(high[0] * 16383),
                                   MG_VARIANT(rounded)((int16_t)-high[1] * 16383)};
    const MG_VARIANT(complex) difference = {a.re - b.re, a.im - b.im};
    const MG_VARIANT(complex) turned = MG_VARIANT(turned)(difference, t);
    sum->re = a.re + b.re;
    sum->im = a.im + b.im;
    apart->re = (int16_t)turned.re;
    apart->im = (int16_t)turned.im;
}

#if MG_ENERGY
static MCUGEN_INLINE uint32_t MG_VARIANT(energy)(int32_t re, int32_t im)
{
    return (uint32_t)(re * re) + (uint32_t)(im * im);
}

/* Replaces complex numbers by energies: number k by the energy of bin k. */
static void MG_VARIANT(energies)(const mg_fourier_stages_params *p, mg_u32 *out)
{
    mg_s16 *z = (mg_s16 *)out;
    const int16_t *t = p->halves;
#if MG_START == 0 || MG_END > MG_POINTS
    const MG_VARIANT(complex) first = MG_VARIANT(read)(z, 16383, NULL);
    out[0] = MG_VARIANT(energy)(first.re + first.im, 0);
    out[MG_POINTS] = MG_VARIANT(energy)(first.re - first.im, 0);
#endif
    for (uint32_t k = MG_FIRST; k < MG_LAST + 1u; k += 1u) {
        MG_VARIANT(complex) sum, apart;
        MG_VARIANT(halved)(z + 2u * k, z + 2u * (MG_POINTS - k), t, &sum, &apart);
        out[k] = MG_VARIANT(energy)((sum.re + apart.re) >> 1, (sum.im + apart.im) >> 1);
        out[MG_POINTS - k] = MG_VARIANT(energy)((sum.re - apart.re) >> 1, (apart.im - sum.im) >> 1);
        t += 2;
    }
#if MG_START > 0
    for (uint32_t k = 0u; k < MG_START; k += 1u) {
        out[k] = 0u;
    }
#endif
#if MG_END <= MG_POINTS
    for (uint32_t k = MG_END; k < MG_POINTS + 1u; k += 1u) {
        out[k] = 0u;
    }
#endif
}
#else
static void MG_VARIANT(spectrum)(const mg_fourier_stages_params *p, mg_s16 *z)
{
    const int16_t *t = p->halves;
    const MG_VARIANT(complex) first = MG_VARIANT(read)(z, 16383, NULL);
    MG_VARIANT(store)(z, first.re + first.im, 0);
    MG_VARIANT(store)(z + 2u * MG_POINTS, first.re - first.im, 0);
    for (uint32_t k = 1u; k < MG_POINTS / 2u + 1u; k += 1u) {
        mg_s16 *low = z + 2u * k, *high = z + 2u * (MG_POINTS - k);
        MG_VARIANT(complex) sum, apart;
        MG_VARIANT(halved)(low, high, t, &sum, &apart);
        MG_VARIANT(store)(low, (sum.re + apart.re) >> 1, (sum.im + apart.im) >> 1);
        MG_VARIANT(store)(high, (sum.re - apart.re) >> 1, (apart.im - sum.im) >> 1);
        t += 2;
    }
}
#endif
