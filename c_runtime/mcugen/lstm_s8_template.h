/* SPDX-License-Identifier: Apache-2.0
 *
 * Template of lstm_s8.h and lstm_s16.h. The including file defines:
 *
 *   MG_SYMBOL           the function
 *   MG_SERIES           1: logistic and tanh are series; 0: they interpolate a table
 *   MG_PARAMS           the parameter struct
 *   MG_DATA             type of x, h and y, which are clamped to MG_LEAST .. MG_MOST
 *   MG_SUM, MG_WEIGHT   types of sums and weights
 *   MG_VECTOR           type of the vectors that products() reads
 * and the functions that are declared first.
 */

#if MG_SERIES
#include "mcugen/series_s16.h"
#else
#include "mcugen/sigmoid_s16.h"
#endif

/* Number of elements of scratch for a vector of n. */
static inline uint32_t stored(uint32_t n);

/* x in the form that products() reads: x itself, or a copy in `wide`. */
static inline const MG_VECTOR *widened(const MG_DATA *x, MG_VECTOR *wide, uint32_t n);

/* Number of weights of a unit's four gates, for a vector of n. */
static inline uint32_t weights(uint32_t n);

/* Adds the products of vector x with a unit's weights to the sums of its four gates. */
static inline void products(MG_SUM sums[4], const MG_WEIGHT *w, const MG_VECTOR *x, uint32_t n);

/* Requantizes a gate's sum as the reference runtime does. */
static inline int32_t scaled_sum(MG_SUM x, int32_t mult, int32_t shift);

/* mg_requantize of x, a product of two int16 that are not both -32768. */
static inline int32_t scaled(int32_t x, int32_t mult, int32_t shift);

/* x saturated to int16 */
static inline int32_t narrowed(int32_t x);

/* Input of a gate's activation, computed from its sums over the data and over the state. */
static inline int32_t gate_of(const MG_PARAMS *p, uint32_t gate, MG_SUM data, MG_SUM state)
{
    const int32_t a = narrowed(scaled_sum(data, p->w_mult[gate], p->w_shift[gate]));
    const int32_t r = scaled_sum(state, p->r_mult[gate], p->r_shift[gate]);
#if MG_SERIES
    return narrowed(a + mg_clamp(r, -65536, 65535));
#else
    return narrowed(a + narrowed(r));
#endif
}

static inline int32_t logistic(const MG_PARAMS *p, int32_t x)
{
#if MG_SERIES
    (void)p;
    return mg_logistic_series_s16((int16_t)x, 3u);
#else
    return mg_logistic_s16_of(p->table, 3 * x);
#endif
}

static inline int32_t tangent(const MG_PARAMS *p, int32_t x)
{
#if MG_SERIES
    (void)p;
    return mg_tanh_series_s16((int16_t)x, 3u);
#else
    return mg_tanh_s16_of(p->table, 3 * x);
#endif
}

/* tanh(c) of a cell c with the scale 2^cell_shift */
static inline int32_t tangent_of_cell(const MG_PARAMS *p, int32_t c)
{
#if MG_SERIES
    return mg_tanh_series_s16((int16_t)c, (uint32_t)(15 + p->cell_shift));
#else
    const int32_t shift = 12 + p->cell_shift;
    if (shift >= 0) {
        return mg_tanh_s16_of(p->table, c * (3 * ((int32_t)1 << shift)));
    }
    return mg_tanh_s16_of(p->table, (3 * c + ((int32_t)1 << (-shift - 1))) >> -shift);
#endif
}

static inline int32_t next_cell(const MG_PARAMS *p, int32_t i, int32_t f, int32_t g, int32_t c)
{
#if MG_SERIES
    const int16_t retained = (int16_t)mg_divide_by_pot(f * c, 15u);
    const int16_t added = (int16_t)mg_divide_by_pot(i * g, (uint32_t)(30 + p->cell_shift));
#else
    const int32_t retained = narrowed(scaled(f * c, (int32_t)1 << 30, -14));
    const int32_t added = narrowed(scaled(i * g, (int32_t)1 << 30, -29 - p->cell_shift));
#endif
    const int32_t sum = narrowed(retained + added);
    return p->clip > 0 ? mg_clamp(sum, -p->clip, p->clip) : sum;
}

/* Computes a unit's next cell and state from the sums of its four gates over the data and over the state. */
static inline void finish(const MG_PARAMS *p, const MG_SUM data[4], const MG_SUM state[4], int32_t before, mg_s16 *cell,
                          MG_DATA *y)
{
    const int32_t i = logistic(p, gate_of(p, 0u, data[0], state[0]));
    const int32_t f = logistic(p, gate_of(p, 1u, data[1], state[1]));
    const int32_t g = tangent(p, gate_of(p, 2u, data[2], state[2]));
    const int32_t o = logistic(p, gate_of(p, 3u, data[3], state[3]));
    const int32_t c = next_cell(p, i, f, g, before);
    const int32_t h = scaled(tangent_of_cell(p, c) * o, p->h_mult, p->h_shift) + p->h_zero_point;
    *cell = (int16_t)c;
    *y = (MG_DATA)mg_clamp(h, MG_LEAST, MG_MOST);
}

/* Computes one step of one element of the batch. */
static void step(const MG_PARAMS *p, const MG_VECTOR *x, const MG_VECTOR *h, const mg_s16 *c0, mg_s16 *c,
                 MG_DATA *y)
{
    const MG_WEIGHT *w = p->w, *r = p->r;
    const MG_SUM *w_bias = p->w_bias, *r_bias = p->r_bias;
    for (uint32_t k = 0u; k < p->hidden; k += 1u) {
        MG_SUM data[4] = {w_bias[0], w_bias[1], w_bias[2], w_bias[3]};
        MG_SUM state[4] = {r_bias[0], r_bias[1], r_bias[2], r_bias[3]};
        products(data, w, x, p->inputs);
        products(state, r, h, p->hidden);
        finish(p, data, state, c0[k], c + k, y + k);
        w += weights(p->inputs);
        r += weights(p->hidden);
        w_bias += 4;
        r_bias += 4;
    }
}

void MG_SYMBOL(const MG_PARAMS *p, const MG_DATA *x, const MG_DATA *h0, const mg_s16 *c0, mg_s16 *c, MG_DATA *y,
               void *scratch)
{
    MG_VECTOR *const wide_x = scratch, *const wide_h = wide_x + stored(p->inputs);
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        const MG_DATA *h = h0 + b * p->hidden;
        const mg_s16 *cell = c0 + b * p->hidden;
        for (uint32_t t = 0u; t < p->steps; t += 1u) {
            const MG_VECTOR *const data = widened(x + t * p->step_in + b * p->batch_in, wide_x, p->inputs);
            const MG_VECTOR *const state = widened(h, wide_h, p->hidden);
            MG_DATA *const out = y + t * p->step_out + b * p->batch_out;
            step(p, data, state, cell, c + b * p->hidden, out);
            h = out;
            cell = c + b * p->hidden;
        }
    }
}
