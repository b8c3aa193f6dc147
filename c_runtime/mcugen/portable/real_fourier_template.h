/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the Fourier transform of real numbers. Pairs of them are transformed as complex numbers, then separated.
 *
 * Stages run in place, the last radix first: `radix` groups of `size` numbers become a group of radix * size. Needs
 *   MG_FT(name)  names;  MG_FT(element)  the element type
 *   MG_FT(mul2)(a, b, c, d)  a * b + c * d, rounded;   MG_FT(mul)(a, b), MG_FT(add)(a, b), MG_FT(negate)(a)
 *   MG_FT(finish)(a, n)      the final scaling of a, a result of an inverse transform of n numbers
 *   MG_FT(scale)(a, radix)   the scaling of a before a stage of that radix
 *   MG_FT(half)(a, b)        (a + b) / 2;   MG_FT(half_less)(a, b)  (a - b) / 2
 */
typedef struct {
    MG_FT(element) re, im;
} MG_FT(complex);

static inline MG_FT(complex) MG_FT(scaled)(MG_FT(complex) a, uint32_t radix)
{
    const MG_FT(complex) y = {MG_FT(scale)(a.re, radix), MG_FT(scale)(a.im, radix)};
    return y;
}

static inline MG_FT(complex) MG_FT(plus)(MG_FT(complex) a, MG_FT(complex) b)
{
    const MG_FT(complex) y = {MG_FT(add)(a.re, b.re), MG_FT(add)(a.im, b.im)};
    return y;
}

static inline MG_FT(complex) MG_FT(minus)(MG_FT(complex) a, MG_FT(complex) b)
{
    const MG_FT(complex) y = {MG_FT(add)(a.re, MG_FT(negate)(b.re)), MG_FT(add)(a.im, MG_FT(negate)(b.im))};
    return y;
}

/* a times complex number k of a table. */
static inline MG_FT(complex) MG_FT(turned)(MG_FT(complex) a, const MG_FT(element) *table, uint32_t k)
{
    const MG_FT(element) re = table[2u * k], im = table[2u * k + 1u];
    const MG_FT(complex) y = {MG_FT(mul2)(a.re, re, a.im, MG_FT(negate)(im)), MG_FT(mul2)(a.re, im, a.im, re)};
    return y;
}

static inline MG_FT(complex) MG_FT(at)(const MG_FT(element) *x, uint32_t k)
{
    const MG_FT(complex) y = {x[2u * k], x[2u * k + 1u]};
    return y;
}

static inline void MG_FT(put)(MG_FT(element) *x, uint32_t k, MG_FT(complex) y)
{
    x[2u * k] = y.re;
    x[2u * k + 1u] = y.im;
}

static void MG_FT(two)(MG_FT(complex) *t)
{
    const MG_FT(complex) first = t[0];
    t[0] = MG_FT(plus)(first, t[1]);
    t[1] = MG_FT(minus)(first, t[1]);
}

/* Butterfly of three numbers t. sine: sine of a third of a turn. */
static void MG_FT(three)(MG_FT(complex) *t, MG_FT(element) sine)
{
    const MG_FT(complex) sum = MG_FT(plus)(t[1], t[2]), apart = MG_FT(minus)(t[1], t[2]);
    const MG_FT(element) re = MG_FT(mul)(apart.re, sine), im = MG_FT(mul)(apart.im, sine);
    const MG_FT(complex) middle = {MG_FT(add)(t[0].re, MG_FT(negate)(MG_FT(half)(sum.re, 0))),
                                   MG_FT(add)(t[0].im, MG_FT(negate)(MG_FT(half)(sum.im, 0)))};
    const MG_FT(complex) quarter = {im, MG_FT(negate)(re)};
    t[0] = MG_FT(plus)(t[0], sum);
    t[1] = MG_FT(minus)(middle, quarter);
    t[2] = MG_FT(plus)(middle, quarter);
}

static void MG_FT(four)(MG_FT(complex) *t, uint32_t inverse)
{
    const MG_FT(complex) even = MG_FT(plus)(t[0], t[2]), odd = MG_FT(minus)(t[0], t[2]);
    const MG_FT(complex) sum = MG_FT(plus)(t[1], t[3]), apart = MG_FT(minus)(t[1], t[3]);
    const MG_FT(complex) quarter = {apart.im, MG_FT(negate)(apart.re)};
    const MG_FT(complex) one = MG_FT(plus)(odd, quarter), three = MG_FT(minus)(odd, quarter);
    t[0] = MG_FT(plus)(even, sum);
    t[1] = inverse != 0u ? three : one;
    t[2] = MG_FT(minus)(even, sum);
    t[3] = inverse != 0u ? one : three;
}

/* x + a * b + c * d, each product rounded. */
static inline MG_FT(element) MG_FT(sum3)(MG_FT(element) x, MG_FT(element) a, MG_FT(element) b, MG_FT(element) c, MG_FT(element) d)
{
    return MG_FT(add)(MG_FT(add)(x, MG_FT(mul)(a, b)), MG_FT(mul)(c, d));
}

/* Butterfly of five numbers t. a, b: twiddle factors of a fifth and of two fifths of a turn. */
static void MG_FT(five)(MG_FT(complex) *t, MG_FT(complex) a, MG_FT(complex) b)
{
    const MG_FT(complex) s7 = MG_FT(plus)(t[1], t[4]), s10 = MG_FT(minus)(t[1], t[4]);
    const MG_FT(complex) s8 = MG_FT(plus)(t[2], t[3]), s9 = MG_FT(minus)(t[2], t[3]);
    const MG_FT(complex) s5 = {MG_FT(sum3)(t[0].re, s7.re, a.re, s8.re, b.re),
                               MG_FT(sum3)(t[0].im, s7.im, a.re, s8.im, b.re)};
    const MG_FT(complex) s11 = {MG_FT(sum3)(t[0].re, s7.re, b.re, s8.re, a.re),
                                MG_FT(sum3)(t[0].im, s7.im, b.re, s8.im, a.re)};
    const MG_FT(complex) s6 = {MG_FT(add)(MG_FT(mul)(s10.im, a.im), MG_FT(mul)(s9.im, b.im)),
                               MG_FT(negate)(MG_FT(add)(MG_FT(mul)(s10.re, a.im), MG_FT(mul)(s9.re, b.im)))};
    const MG_FT(complex) s12 = {MG_FT(add)(MG_FT(mul)(s9.im, a.im), MG_FT(negate)(MG_FT(mul)(s10.im, b.im))),
                                MG_FT(add)(MG_FT(mul)(s10.re, b.im), MG_FT(negate)(MG_FT(mul)(s9.re, a.im)))};
    t[0] = MG_FT(plus)(t[0], MG_FT(plus)(s7, s8));
    t[1] = MG_FT(minus)(s5, s6);
    t[2] = MG_FT(plus)(s11, s12);
    t[3] = MG_FT(minus)(s11, s12);
    t[4] = MG_FT(plus)(s5, s6);
}

/* Butterfly of the numbers k, k + size, ... of x. stride: steps in the table of twiddle factors from one k to the next.
 */
static void MG_FT(butterfly)(const MG_FT(params) *p, uint32_t radix, uint32_t size, uint32_t stride, uint32_t k, MG_FT(element) *x)
{
    MG_FT(complex) t[5];
    for (uint32_t q = 0u; q < radix; q += 1u) {
        t[q] = MG_FT(scaled)(MG_FT(at)(x, k + q * size), radix);
        if (q > 0u) {
            t[q] = MG_FT(turned)(t[q], p->twiddles, k * q * stride);
        }
    }
    if (radix == 2u) {
        MG_FT(two)(t);
    } else if (radix == 3u) {
        MG_FT(three)(t, p->twiddles[2u * stride * size + 1u]);
    } else if (radix == 4u) {
        MG_FT(four)(t, p->inverse);
    } else {
        MG_FT(five)(t, MG_FT(at)(p->twiddles, stride * size), MG_FT(at)(p->twiddles, 2u * stride * size));
    }
    for (uint32_t q = 0u; q < radix; q += 1u) {
        MG_FT(put)(x, k + q * size, t[q]);
    }
}

/* Runs all stages. x: `length` complex numbers in the order that the first stage reads. */
static void MG_FT(run)(const MG_FT(params) *p, MG_FT(element) *x)
{
    uint32_t size = 1u;
    for (uint32_t s = p->stages; s > 0u; s -= 1u) {
        const uint32_t radix = p->radix[s - 1u], groups = p->length / (size * radix);
        for (uint32_t g = 0u; g < groups; g += 1u) {
            for (uint32_t k = 0u; k < size; k += 1u) {
                MG_FT(butterfly)(p, radix, size, groups, k, x + 2u * g * size * radix);
            }
        }
        size *= radix;
    }
}

/* a = a / 2, b = conj(b) / 2. */
static inline void MG_FT(pair)(MG_FT(complex) *a, MG_FT(complex) *b)
{
    b->im = MG_FT(negate)(b->im);
    *a = MG_FT(scaled)(*a, 2u);
    *b = MG_FT(scaled)(*b, 2u);
}

static void MG_FT(forward)(const MG_FT(params) *p, const MG_FT(element) *in, MG_FT(element) *out)
{
    const uint32_t n = p->length;
    for (uint32_t i = 0u; i < 2u * n; i += 1u) {
        out[2u * p->place[i / 2u] + i % 2u] = i < p->given ? in[i] : (MG_FT(element))0;
    }
    MG_FT(run)(p, out);
    const MG_FT(complex) first = MG_FT(scaled)(MG_FT(at)(out, 0u), 2u);
    const MG_FT(complex) low = {MG_FT(add)(first.re, first.im), (MG_FT(element))0};
    const MG_FT(complex) high = {MG_FT(add)(first.re, MG_FT(negate)(first.im)), (MG_FT(element))0};
    MG_FT(put)(out, 0u, low);
    MG_FT(put)(out, n, high);
    for (uint32_t k = 1u; k <= n / 2u; k += 1u) {
        MG_FT(complex) a = MG_FT(at)(out, k), b = MG_FT(at)(out, n - k);
        MG_FT(pair)(&a, &b);
        const MG_FT(complex) sum = MG_FT(plus)(a, b), apart = MG_FT(turned)(MG_FT(minus)(a, b), p->halves, k - 1u);
        const MG_FT(complex) near = {MG_FT(half)(sum.re, apart.re), MG_FT(half)(sum.im, apart.im)};
        const MG_FT(complex) far = {MG_FT(half_less)(sum.re, apart.re), MG_FT(half_less)(apart.im, sum.im)};
        MG_FT(put)(out, k, near);
        MG_FT(put)(out, n - k, far);
    }
}

static void MG_FT(backward)(const MG_FT(params) *p, const MG_FT(element) *in, MG_FT(element) *out)
{
    const uint32_t n = p->length;
    const MG_FT(element) low = in[0], high = in[2u * n];
    const MG_FT(complex) first = {MG_FT(add)(low, high), MG_FT(add)(low, MG_FT(negate)(high))};
    MG_FT(put)(out, 0u, MG_FT(scaled)(first, 2u));
    for (uint32_t k = 1u; k <= n / 2u; k += 1u) {
        MG_FT(complex) a = MG_FT(at)(in, k), b = MG_FT(at)(in, n - k);
        MG_FT(pair)(&a, &b);
        const MG_FT(complex) sum = MG_FT(plus)(a, b), apart = MG_FT(turned)(MG_FT(minus)(a, b), p->halves, k - 1u);
        MG_FT(complex) far = MG_FT(minus)(sum, apart);
        far.im = MG_FT(negate)(far.im);
        MG_FT(put)(out, p->place[k], MG_FT(plus)(sum, apart));
        MG_FT(put)(out, p->place[n - k], far);
    }
    MG_FT(run)(p, out);
    for (uint32_t i = 0u; i < 2u * n; i += 1u) {
        out[i] = MG_FT(finish)(out[i], 2u * n);
    }
}

void MG_FT_SYMBOL(const MG_FT(params) *p, const MG_FT(element) *in, MG_FT(element) *out)
{
    const uint32_t made = p->inverse != 0u ? 2u * p->length : 2u * p->length + 2u;
    for (uint32_t i = 0u; i < p->count; i += 1u) {
        if (p->inverse != 0u) {
            MG_FT(backward)(p, in + i * p->given, out + i * made);
        } else {
            MG_FT(forward)(p, in + i * p->given, out + i * made);
        }
    }
}
