/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: functions for the Fourier transform of int16 samples, in place on complex numbers (pairs of samples).
 *
 *   MG_POINTS   number of complex numbers, half of the number of real ones: 16 to 512, a power of 2
 *   MG_SAMPLES  number of samples given, even; the rest of the real numbers is 0
 *   MG_WINDOW   0: the samples have no window;   MG_ONES  number of window values that are 1
 *   MG_TWOS     1: the first stage has radix 2, all other stages radix 4; 0: all have radix 4
 *   MG_START, MG_END    energies are computed for the bins in [MG_START, MG_END)
 *   MG_FIRST, MG_LAST   bins k, 1 to MG_POINTS / 2, that are computed, eight at a time, with their opposites
 *               MG_POINTS - k
 *
 * VQRDMULH by a scalar scales a number as kissfft does. VQRDMLADHX and VQRDMLSDH multiply it by a twiddle factor, with
 * one rounding of each part. They saturate where kissfft wraps, but scaled numbers are too small for that. The last
 * step, from complex numbers to bins, only halves the numbers: there products have 32 bits, of which VRSHRN takes 16.
 */
#include "mcugen/fourier.h"
#include "mcugen/mve.h"
#include "mcugen/mve_fourier.h"

#define MG_PAIRS (MG_SAMPLES / 2u)

#if MG_HAS_MVE
#define MG_VECTORS "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"

/* out = in * turn, four complex products. turn: twiddle factors */
#define MG_TURNED(out, in, turn)                          \
    "vqrdmladhx.s16 " out ", " in ", " turn "\n"          \
    "vqrdmlsdh.s16 " out ", " in ", " turn "\n"

/* Four butterflies of radix 4 on q0 to q3, whose numbers are already scaled and multiplied by their twiddle factors. */
#define MG_PLAIN                 \
    "vadd.i16 q4, q1, q3\n"      \
    "vsub.i16 q5, q1, q3\n"      \
    "vadd.i16 q6, q0, q2\n"      \
    "vsub.i16 q7, q0, q2\n"      \
    "vadd.i16 q0, q6, q4\n"      \
    "vsub.i16 q2, q6, q4\n"      \
    "vcadd.i16 q1, q7, q5, #270\n" \
    "vcadd.i16 q3, q7, q5, #90\n"

/* Four butterflies of radix 4 on the numbers at a, b, c and d, pointers that advance by `step` bytes. q5, q6, q7:
 * twiddle factors of the numbers at b, c, d. */
#define MG_FOUR                                \
    "vldrw.u32 q0, [%[b]]\n"                   \
    "vqrdmulh.s16 q0, q0, %[factor]\n"         \
    MG_TURNED("q1", "q0", "q5")                \
    "vldrw.u32 q0, [%[d]]\n"                   \
    "vqrdmulh.s16 q0, q0, %[factor]\n"         \
    MG_TURNED("q2", "q0", "q7")                \
    "vadd.i16 q3, q1, q2\n"                    \
    "vsub.i16 q1, q1, q2\n"                    \
    "vldrw.u32 q0, [%[c]]\n"                   \
    "vqrdmulh.s16 q0, q0, %[factor]\n"         \
    MG_TURNED("q2", "q0", "q6")                \
    "vldrw.u32 q0, [%[a]]\n"                   \
    "vqrdmulh.s16 q0, q0, %[factor]\n"         \
    "vadd.i16 q4, q0, q2\n"                    \
    "vsub.i16 q0, q0, q2\n"                    \
    "vadd.i16 q2, q4, q3\n"                    \
    "vstrw.32 q2, [%[a]], %[step]\n"           \
    "vsub.i16 q4, q4, q3\n"                    \
    "vstrw.32 q4, [%[c]], %[step]\n"           \
    "vcadd.i16 q3, q0, q1, #270\n"             \
    "vstrw.32 q3, [%[b]], %[step]\n"           \
    "vcadd.i16 q0, q0, q1, #90\n"              \
    "vstrw.32 q0, [%[d]], %[step]\n"

#define MG_LOAD_TURNS                          \
    "vldrh.u16 q5, [%[turns]], #16\n"          \
    "vldrh.u16 q6, [%[turns]], #16\n"          \
    "vldrh.u16 q7, [%[turns]], #16\n"

/* Stores the samples, multiplied by the window if there is one, at their places. Samples whose factor is 1 give 0 here;
 * place() stores them. Returns the greatest magnitude. */
static MCUGEN_INLINE int32_t MG_VARIANT(scatter)(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *z)
{
    const uint16_t *place = p->place;
    const int16_t *window = p->window;
    int32_t most = 0;
    __asm__ volatile("vmov.i32 q2, #0\n"
                     "dlstp.16 lr, %[n]\n"
                     "1:\n"
                     "vldrh.u16 q0, [%[in]], #16\n"
#if MG_WINDOW
                     "vldrh.u16 q1, [%[window]], #16\n"
                     "vqdmulh.s16 q0, q0, q1\n"
#endif
                     "vmaxa.s16 q2, q0\n"
                     "vldrh.u32 q1, [%[place]], #8\n"
                     "vstrw.32 q0, [%[z], q1, uxtw #2]\n"
                     "letp lr, 1b\n"
                     "vmaxv.u16 %[most], q2\n"
                     : [in] "+r"(in), [window] "+r"(window), [place] "+r"(place), [most] "+r"(most)
                     : [z] "r"(z), [n] "r"(MG_SAMPLES)
                     : MG_VECTORS, "lr", "cc", "memory");
#if MG_PAIRS < MG_POINTS
    place = p->place + MG_PAIRS;
    __asm__ volatile("vmov.i32 q0, #0\n"
                     "dlstp.32 lr, %[n]\n"
                     "1:\n"
                     "vldrh.u32 q1, [%[place]], #8\n"
                     "vstrw.32 q0, [%[z], q1, uxtw #2]\n"
                     "letp lr, 1b\n"
                     : [place] "+r"(place)
                     : [z] "r"(z), [n] "r"(MG_POINTS - MG_PAIRS)
                     : MG_VECTORS, "lr", "cc", "memory");
#endif
    return most;
}

/* The first stage. up: left shift of its inputs if MG_SHIFTED_LEFT is 1. */
static MCUGEN_INLINE void MG_VARIANT(first)(mg_u32 *z, uint32_t up)
{
#if MG_TWOS
    __asm__ volatile("dls lr, %[n]\n"
                     "1:\n"
                     "vld20.32 {q0, q1}, [%[z]]\n"
                     "vld21.32 {q0, q1}, [%[z]]\n"
#if MG_SHIFTED_LEFT
                     "vshl.s16 q0, %[up]\n"
                     "vshl.s16 q1, %[up]\n"
#endif
                     "vqrdmulh.s16 q0, q0, %[factor]\n"
                     "vqrdmulh.s16 q1, q1, %[factor]\n"
                     "vadd.i16 q2, q0, q1\n"
                     "vsub.i16 q3, q0, q1\n"
                     "vst20.32 {q2, q3}, [%[z]]\n"
                     "vst21.32 {q2, q3}, [%[z]]!\n"
                     "le lr, 1b\n"
                     : [z] "+r"(z)
                     : [up] "r"(up), [factor] "r"(16383), [n] "r"(MG_POINTS / 8u)
                     : MG_VECTORS, "lr", "cc", "memory");
#else
    __asm__ volatile("dls lr, %[n]\n"
                     "1:\n"
                     "vld40.32 {q0, q1, q2, q3}, [%[z]]\n"
                     "vld41.32 {q0, q1, q2, q3}, [%[z]]\n"
                     "vld42.32 {q0, q1, q2, q3}, [%[z]]\n"
                     "vld43.32 {q0, q1, q2, q3}, [%[z]]\n"
#if MG_SHIFTED_LEFT
                     "vshl.s16 q0, %[up]\n"
                     "vshl.s16 q1, %[up]\n"
                     "vshl.s16 q2, %[up]\n"
                     "vshl.s16 q3, %[up]\n"
#endif
                     "vqrdmulh.s16 q0, q0, %[factor]\n"
                     "vqrdmulh.s16 q1, q1, %[factor]\n"
                     "vqrdmulh.s16 q2, q2, %[factor]\n"
                     "vqrdmulh.s16 q3, q3, %[factor]\n"
                     MG_PLAIN
                     "vst40.32 {q0, q1, q2, q3}, [%[z]]\n"
                     "vst41.32 {q0, q1, q2, q3}, [%[z]]\n"
                     "vst42.32 {q0, q1, q2, q3}, [%[z]]\n"
                     "vst43.32 {q0, q1, q2, q3}, [%[z]]!\n"
                     "le lr, 1b\n"
                     : [z] "+r"(z)
                     : [up] "r"(up), [factor] "r"(8191), [n] "r"(MG_POINTS / 16u)
                     : MG_VECTORS, "lr", "cc", "memory");
#endif
    (void)up;
}

#if MG_TWOS
/* The stage of radix 4 that follows a stage of radix 2. It computes two groups of eight numbers at a time. */
static MCUGEN_INLINE void MG_VARIANT(second)(mg_u32 *z, const int16_t *turns)
{
    static const uint32_t lanes[4] = {0u, 4u, 32u, 36u};
    for (uint32_t i = 0u; i < MG_POINTS; i += 16u) {
        const uint32_t *from = lanes;
        const int16_t *t = turns;
        mg_u32 *a = z + i, *b = a + 2, *c = a + 4, *d = a + 6;
        __asm__ volatile("vldrw.u32 q4, [%[from]]\n"
                         MG_LOAD_TURNS
                         "vldrw.u32 q0, [%[b], q4]\n"
                         "vqrdmulh.s16 q0, q0, %[factor]\n"
                         MG_TURNED("q1", "q0", "q5")
                         "vldrw.u32 q0, [%[d], q4]\n"
                         "vqrdmulh.s16 q0, q0, %[factor]\n"
                         MG_TURNED("q3", "q0", "q7")
                         "vldrw.u32 q0, [%[c], q4]\n"
                         "vqrdmulh.s16 q0, q0, %[factor]\n"
                         MG_TURNED("q2", "q0", "q6")
                         "vldrw.u32 q0, [%[a], q4]\n"
                         "vqrdmulh.s16 q0, q0, %[factor]\n"
                         MG_PLAIN
                         "vldrw.u32 q4, [%[from]]\n"
                         "vstrw.32 q0, [%[a], q4]\n"
                         "vstrw.32 q1, [%[b], q4]\n"
                         "vstrw.32 q2, [%[c], q4]\n"
                         "vstrw.32 q3, [%[d], q4]\n"
                         : [turns] "+r"(t)
                         : [a] "r"(a), [b] "r"(b), [c] "r"(c), [d] "r"(d), [from] "r"(from), [factor] "r"(8191)
                         : MG_VECTORS, "memory");
    }
}
#endif

/* Computes four adjacent butterflies in every group of a stage. z: number from which they begin in the first group. m:
 * a constant, at most 31. */
static MCUGEN_INLINE void MG_VARIANT(groups)(mg_u32 *z, uint32_t m, const int16_t *turns)
{
    mg_u32 *a = z, *b = z + m, *c = z + 2u * m, *d = z + 3u * m;
    __asm__ volatile(MG_LOAD_TURNS
                     "dls lr, %[n]\n"
                     "1:\n"
                     MG_FOUR
                     "le lr, 1b\n"
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [turns] "+r"(turns)
                     : [factor] "r"(8191), [step] "i"(16u * m), [n] "r"(MG_POINTS / (4u * m))
                     : MG_VECTORS, "lr", "cc", "memory");
}

/* Computes the m butterflies of one group of a stage. m: a constant. */
static MCUGEN_INLINE void MG_VARIANT(group)(mg_u32 *z, uint32_t m, const int16_t *turns)
{
    mg_u32 *a = z, *b = z + m, *c = z + 2u * m, *d = z + 3u * m;
    __asm__ volatile("dls lr, %[n]\n"
                     "1:\n"
                     MG_LOAD_TURNS
                     MG_FOUR
                     "le lr, 1b\n"
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [turns] "+r"(turns)
                     : [factor] "r"(8191), [step] "i"(16), [n] "r"(m / 4u)
                     : MG_VECTORS, "lr", "cc", "memory");
}

/* Replaces complex numbers by energies: eight bins k at a time, together with their opposites MG_POINTS - k. Gathers
 * and scatters reverse the order of the opposites. */
static MCUGEN_INLINE void MG_VARIANT(split)(mg_u32 *z, const int16_t *halves)
{
    mg_u32 *low = z + MG_FIRST, *high = z + (MG_POINTS - MG_FIRST - 7u), *next = high + 1;
    mg_s16 *imaginary = (mg_s16 *)high + 1;
    uint32_t at;
    __asm__ volatile("dls lr, %[n]\n"
                     "1:\n"
                     "mov %[at], #14\n"
                     "vddup.u16 q7, %[at], #2\n"
                     "vld20.16 {q0, q1}, [%[low]]\n"
                     "vld21.16 {q0, q1}, [%[low]]\n"
                     "vldrh.u16 q2, [%[high], q7, uxtw #1]\n"
                     "vldrh.u16 q3, [%[imaginary], q7, uxtw #1]\n"
                     "vneg.s16 q3, q3\n"
                     "vqrdmulh.s16 q0, q0, %[factor]\n"
                     "vqrdmulh.s16 q1, q1, %[factor]\n"
                     "vqrdmulh.s16 q2, q2, %[factor]\n"
                     "vqrdmulh.s16 q3, q3, %[factor]\n"
                     "vsub.i16 q4, q0, q2\n"
                     "vsub.i16 q5, q1, q3\n"
                     "vadd.i16 q0, q0, q2\n"
                     "vadd.i16 q1, q1, q3\n"
                     "vldrh.u16 q2, [%[halves]]\n"
                     "vmullb.s16 q6, q4, q2\n"
                     "vmullt.s16 q7, q4, q2\n"
                     "vldrh.u16 q2, [%[halves], #16]\n"
                     "vmullb.s16 q3, q5, q2\n"
                     "vsub.i32 q6, q6, q3\n"
                     "vmullt.s16 q3, q5, q2\n"
                     "vsub.i32 q7, q7, q3\n"
                     "vrshrnb.i32 q3, q6, #15\n"
                     "vrshrnt.i32 q3, q7, #15\n"
                     "vmullb.s16 q6, q4, q2\n"
                     "vmullt.s16 q7, q4, q2\n"
                     "vldrh.u16 q2, [%[halves]], #32\n"
                     "vmullb.s16 q4, q5, q2\n"
                     "vadd.i32 q6, q6, q4\n"
                     "vmullt.s16 q4, q5, q2\n"
                     "vadd.i32 q7, q7, q4\n"
                     "vrshrnb.i32 q2, q6, #15\n"
                     "vrshrnt.i32 q2, q7, #15\n"
                     "vhadd.s16 q4, q0, q3\n"
                     "vhadd.s16 q5, q1, q2\n"
                     "vhsub.s16 q6, q0, q3\n"
                     "vhsub.s16 q7, q2, q1\n"
                     "vmullb.s16 q0, q4, q4\n"
                     "vmullb.s16 q2, q5, q5\n"
                     "vadd.i32 q0, q0, q2\n"
                     "vmullt.s16 q1, q4, q4\n"
                     "vmullt.s16 q2, q5, q5\n"
                     "vadd.i32 q1, q1, q2\n"
                     "vst20.32 {q0, q1}, [%[low]]\n"
                     "vst21.32 {q0, q1}, [%[low]]!\n"
                     "vmullb.s16 q0, q6, q6\n"
                     "vmullb.s16 q2, q7, q7\n"
                     "vadd.i32 q0, q0, q2\n"
                     "vmullt.s16 q1, q6, q6\n"
                     "vmullt.s16 q2, q7, q7\n"
                     "vadd.i32 q1, q1, q2\n"
                     "mov %[at], #6\n"
                     "vddup.u32 q2, %[at], #2\n"
                     "vstrw.32 q0, [%[next], q2, uxtw #2]\n"
                     "vstrw.32 q1, [%[high], q2, uxtw #2]\n"
                     "sub %[high], #32\n"
                     "sub %[next], #32\n"
                     "sub %[imaginary], #32\n"
                     "le lr, 1b\n"
                     : [low] "+r"(low), [high] "+r"(high), [next] "+r"(next), [imaginary] "+r"(imaginary),
                       [halves] "+r"(halves), [at] "=&Te"(at)
                     : [factor] "r"(16383), [n] "r"((MG_LAST + 1u - MG_FIRST) / 8u)
                     : MG_VECTORS, "lr", "cc", "memory");
}

#undef MG_VECTORS
#undef MG_TURNED
#undef MG_PLAIN
#undef MG_FOUR
#undef MG_LOAD_TURNS
#else
static inline int32_t MG_VARIANT(rounded)(int32_t x)
{
    return (x + 16384) >> 15;
}

static int32_t MG_VARIANT(scatter)(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *z)
{
    int32_t most = 0;
    memset(z, 0, MG_POINTS * sizeof(*z));
    for (uint32_t i = 0u; i < MG_SAMPLES; i += 1u) {
        const int32_t y = MG_WINDOW ? (in[i] * p->window[i]) >> 15 : in[i];
        ((mg_s16 *)(z + p->place[i / 2u]))[i % 2u] = (int16_t)y;
        most = y > most ? y : most;
        most = -y > most ? -y : most;
    }
    return most;
}

/* A butterfly of radix 2 or 4 on numbers m apart. t: twiddle factors, eight elements apart; NULL: all are 1. up: left
 * shift of the inputs. */
static void MG_VARIANT(butterfly)(mg_s16 *x, uint32_t radix, uint32_t m, const int16_t *t, uint32_t up)
{
    int32_t re[4] = {0, 0, 0, 0}, im[4] = {0, 0, 0, 0};
    const int32_t factor = (int32_t)(32767u / radix << up), far = radix == 4u ? 2 : 1;
    for (uint32_t q = 0u; q < radix; q += 1u) {
        re[q] = MG_VARIANT(rounded)(x[2u * m * q] * factor);
        im[q] = MG_VARIANT(rounded)(x[2u * m * q + 1u] * factor);
        if (q > 0u && t != NULL) {
            const int32_t c = t[8u * (q - 1u)], s = t[8u * (q - 1u) + 1u], turned = re[q] * c - im[q] * s;
            im[q] = MG_VARIANT(rounded)(re[q] * s + im[q] * c);
            re[q] = MG_VARIANT(rounded)(turned);
        }
    }
    const int32_t even_re = re[0] + re[far], even_im = im[0] + im[far];
    const int32_t odd_re = re[0] - re[far], odd_im = im[0] - im[far];
    if (radix == 2u) {
        x[0] = (int16_t)even_re;
        x[1] = (int16_t)even_im;
        x[2u * m] = (int16_t)odd_re;
        x[2u * m + 1u] = (int16_t)odd_im;
        return;
    }
    x[0] = (int16_t)(even_re + re[1] + re[3]);
    x[1] = (int16_t)(even_im + im[1] + im[3]);
    x[2u * m] = (int16_t)(odd_re + im[1] - im[3]);
    x[2u * m + 1u] = (int16_t)(odd_im - re[1] + re[3]);
    x[4u * m] = (int16_t)(even_re - re[1] - re[3]);
    x[4u * m + 1u] = (int16_t)(even_im - im[1] - im[3]);
    x[6u * m] = (int16_t)(odd_re - im[1] + im[3]);
    x[6u * m + 1u] = (int16_t)(odd_im + re[1] - re[3]);
}

static void MG_VARIANT(first)(mg_u32 *z, uint32_t up)
{
    const uint32_t radix = MG_TWOS ? 2u : 4u;
    for (uint32_t i = 0u; i < MG_POINTS; i += radix) {
        MG_VARIANT(butterfly)((mg_s16 *)(z + i), radix, 1u, NULL, up);
    }
}

#if MG_TWOS
static void MG_VARIANT(second)(mg_u32 *z, const int16_t *turns)
{
    for (uint32_t i = 0u; i < MG_POINTS; i += 1u) {
        if (i % 8u < 2u) {
            MG_VARIANT(butterfly)((mg_s16 *)(z + i), 4u, 2u, turns + 2u * (i % 8u), 0u);
        }
    }
}
#endif

static void MG_VARIANT(groups)(mg_u32 *z, uint32_t m, const int16_t *turns)
{
    for (uint32_t i = 0u; i < MG_POINTS; i += 4u * m) {
        for (uint32_t k = 0u; k < 4u; k += 1u) {
            MG_VARIANT(butterfly)((mg_s16 *)(z + i + k), 4u, m, turns + 2u * k, 0u);
        }
    }
}

static void MG_VARIANT(group)(mg_u32 *z, uint32_t m, const int16_t *turns)
{
    for (uint32_t k = 0u; k < m; k += 1u) {
        MG_VARIANT(butterfly)((mg_s16 *)(z + k), 4u, m, turns + 24u * (k / 4u) + 2u * (k % 4u), 0u);
    }
}

static void MG_VARIANT(split)(mg_u32 *z, const int16_t *halves)
{
    for (uint32_t k = MG_FIRST; k < MG_LAST + 1u; k += 1u) {
        const mg_s16 *low = (mg_s16 *)(z + k), *high = (mg_s16 *)(z + (MG_POINTS - k));
        const uint32_t at = k - MG_FIRST;
        const int32_t c = halves[at / 8u * 16u + at % 8u], s = halves[at / 8u * 16u + at % 8u + 8u];
        const int32_t a = MG_VARIANT(rounded)(low[0] * 16383), b = MG_VARIANT(rounded)(low[1] * 16383);
        const int32_t d = MG_VARIANT(rounded)(high[0] * 16383), e = MG_VARIANT(rounded)((int16_t)-high[1] * 16383);
        const int32_t re = (int16_t)MG_VARIANT(rounded)((a - d) * c - (b - e) * s);
        const int32_t im = (int16_t)MG_VARIANT(rounded)((a - d) * s + (b - e) * c);
        const int32_t near_re = (a + d + re) >> 1, near_im = (b + e + im) >> 1;
        const int32_t far_re = (a + d - re) >> 1, far_im = (im - b - e) >> 1;
        z[k] = (uint32_t)(near_re * near_re) + (uint32_t)(near_im * near_im);
        z[MG_POINTS - k] = (uint32_t)(far_re * far_re) + (uint32_t)(far_im * far_im);
    }
}
#endif

/* Stores the samples, multiplied by the window if there is one, in the order that the first stage reads. Returns their
 * greatest magnitude. */
static MCUGEN_INLINE int32_t MG_VARIANT(place)(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *z)
{
    int32_t most = MG_VARIANT(scatter)(p, in, z);
#if MG_WINDOW && MG_ONES
    mg_s16 *halves = (mg_s16 *)z;
    for (uint32_t i = 0u; i < MG_ONES; i += 1u) {
        const uint32_t at = p->ones[i];
        const int32_t x = in[at], size = x < 0 ? -x : x;
        halves[2u * p->place[at / 2u] + at % 2u] = (int16_t)x;
        most = size > most ? size : most;
    }
#endif
    return most;
}

/* A stage of radix 4 with m butterflies in each group. m: a constant, a multiple of 4. */
static MCUGEN_INLINE void MG_VARIANT(stage)(mg_u32 *z, uint32_t m, const int16_t *turns)
{
    if (m < 32u && 4u * m < MG_POINTS) {
        for (uint32_t k = 0u; k < m; k += 4u) {
            MG_VARIANT(groups)(z + k, m, turns);
            turns += 24;
        }
    } else {
        for (uint32_t i = 0u; i < MG_POINTS; i += 4u * m) {
            MG_VARIANT(group)(z + i, m, turns);
        }
    }
}

/* Runs all stages. z: the numbers in the order that the first stage reads; up: left shift of these. */
static MCUGEN_INLINE void MG_VARIANT(run)(const mg_mve_fourier_params *p, mg_u32 *z, uint32_t up)
{
    const int16_t *turns = p->turns;
    uint32_t m = 4u;
    MG_VARIANT(first)(z, up);
#if MG_TWOS
    MG_VARIANT(second)(z, turns);
    turns += 24;
    m = 8u;
#endif
    MG_VARIANT(stage)(z, m, turns);
#if MG_POINTS > 32
    MG_VARIANT(stage)(z, 4u * m, turns + 6u * m);
#endif
#if MG_POINTS > 128
    MG_VARIANT(stage)(z, 16u * m, turns + 30u * m);
#endif
}

/* Replaces complex numbers by energies: number k by the energy of bin k. */
static MCUGEN_INLINE void MG_VARIANT(energies)(const mg_mve_fourier_params *p, mg_u32 *z)
{
#if MG_START == 0 || MG_END > MG_POINTS
    const mg_s16 *first = (mg_s16 *)z;
    const int32_t re = (first[0] * 16383 + 16384) >> 15, im = (first[1] * 16383 + 16384) >> 15;
    z[0] = (uint32_t)((re + im) * (re + im));
    z[MG_POINTS] = (uint32_t)((re - im) * (re - im));
#endif
    MG_VARIANT(split)(z, p->halves);
#if MG_START > 0
    mg_fill_bytes((int8_t *)z, 0, 4u * MG_START);
#endif
#if MG_END <= MG_POINTS
    mg_fill_bytes((int8_t *)(z + MG_END), 0, 4u * (MG_POINTS + 1u - MG_END));
#endif
}

#undef MG_PAIRS
