/* SPDX-License-Identifier: Apache-2.0
 *
 * Template of lstm_s8.h. MG_SYMBOL: the function to define; MG_SERIES: 1 for functions computed as series. MG_VECTOR:
 * the type of a vector as `matrix` takes it, which the including file defines beside `widened`; both are declared below.
 */
#include "mcugen/lstm_s8.h"

#if MG_SERIES
#include "mcugen/series_s16.h"
#else
#include "mcugen/sigmoid_s16.h"
#endif

/* Scales the sums of one gate: the first of its two matrices begins it, the second adds to it. */
typedef struct {
    int32_t mult, shift;
    uint32_t adds;
} gate_scale;

static inline int16_t narrowed(int32_t x)
{
    return (int16_t)mg_clamp(x, INT16_MIN, INT16_MAX);
}

static inline int16_t gate_of(const gate_scale *scale, int32_t sum, int16_t before)
{
    const int32_t scaled = mg_requantize(sum, scale->mult, scale->shift);
#if MG_SERIES
    return narrowed(scale->adds != 0u ? mg_clamp(scaled, -65536, 65535) + before : scaled);
#else
    return narrowed(scale->adds != 0u ? narrowed(scaled) + before : scaled);
#endif
}

/* Begins a gate with a matrix [hidden][n] times a vector, or adds it. */
static void matrix(const int8_t *w, const int32_t *bias, const MG_VECTOR *x, uint32_t n, uint32_t hidden,
                   const gate_scale *scale, mg_s16 *gate);

/* A vector as `matrix` takes it: itself, or in `wide`. */
static inline const MG_VECTOR *widened(const int8_t *x, MG_VECTOR *wide, uint32_t n);

static inline int32_t logistic(const mg_lstm_s8_params *p, int16_t x)
{
#if MG_SERIES
    (void)p;
    return mg_logistic_series_s16(x, 3u);
#else
    return mg_logistic_s16_of(p->table, 3 * x);
#endif
}

static inline int32_t tangent(const mg_lstm_s8_params *p, int16_t x)
{
#if MG_SERIES
    (void)p;
    return mg_tanh_series_s16(x, 3u);
#else
    return mg_tanh_s16_of(p->table, 3 * x);
#endif
}

/* tanh of a cell. */
static inline int32_t tangent_of_cell(const mg_lstm_s8_params *p, int16_t c)
{
#if MG_SERIES
    return mg_tanh_series_s16(c, (uint32_t)(15 + p->cell_shift));
#else
    const int32_t left = 12 + p->cell_shift;
    if (left >= 0) {
        return mg_tanh_s16_of(p->table, c * (3 * ((int32_t)1 << left)));
    }
    return mg_tanh_s16_of(p->table, (3 * c + ((int32_t)1 << (-left - 1))) >> -left);
#endif
}

static inline int16_t next_cell(const mg_lstm_s8_params *p, int32_t i, int32_t f, int32_t g, int32_t c)
{
#if MG_SERIES
    const int16_t kept = (int16_t)mg_divide_by_pot(f * c, 15u);
    const int16_t entered = (int16_t)mg_divide_by_pot(i * g, (uint32_t)(30 + p->cell_shift));
#else
    const int16_t kept = narrowed(mg_requantize(f * c, (int32_t)1 << 30, -14));
    const int16_t entered = narrowed(mg_requantize(i * g, (int32_t)1 << 30, -29 - p->cell_shift));
#endif
    const int16_t sum = narrowed(kept + entered);
    return p->clip > 0 ? (int16_t)mg_clamp(sum, -p->clip, p->clip) : sum;
}

/* The gates of a step become its cell and result. */
static void finish(const mg_lstm_s8_params *p, const mg_s16 *gates, const mg_s16 *c0, mg_s16 *c, int8_t *y)
{
    const uint32_t n = p->hidden;
    for (uint32_t k = 0u; k < n; k += 1u) {
        const int32_t i = logistic(p, gates[k]), f = logistic(p, gates[n + k]);
        const int32_t g = tangent(p, gates[2u * n + k]), o = logistic(p, gates[3u * n + k]);
        const int16_t cell = next_cell(p, i, f, g, c0[k]);
        const int32_t h = mg_requantize(tangent_of_cell(p, cell) * o, p->h_mult, p->h_shift) + p->h_zero_point;
        c[k] = cell;
        y[k] = (int8_t)mg_clamp(h, INT8_MIN, INT8_MAX);
    }
}

static void gates_of(const mg_lstm_s8_params *p, const int8_t *x, const int8_t *h, mg_s16 *gates, MG_VECTOR *wide)
{
    const uint32_t n = p->hidden, inputs = p->inputs;
    const MG_VECTOR *const data = widened(x, wide, inputs);
    for (uint32_t g = 0u; g < 4u; g += 1u) {
        const gate_scale first = {p->w_mult[g], p->w_shift[g], 0u};
        matrix(p->w + g * n * inputs, p->w_bias + g * n, data, inputs, n, &first, gates + g * n);
    }
    const MG_VECTOR *const state = widened(h, wide, n);
    for (uint32_t g = 0u; g < 4u; g += 1u) {
        const gate_scale second = {p->r_mult[g], p->r_shift[g], 1u};
        matrix(p->r + g * n * n, p->r_bias + g * n, state, n, n, &second, gates + g * n);
    }
}

void MG_SYMBOL(const mg_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0, mg_s16 *c, int8_t *y,
               void *scratch)
{
    mg_s16 *const gates = scratch;
    MG_VECTOR *const wide = (MG_VECTOR *)(gates + 4u * p->hidden);
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        const int8_t *h = h0 + b * p->hidden;
        const mg_s16 *cell = c0 + b * p->hidden;
        for (uint32_t t = 0u; t < p->steps; t += 1u) {
            int8_t *const out = y + t * p->step_out + b * p->batch_out;
            gates_of(p, x + t * p->step_in + b * p->batch_in, h, gates, wide);
            finish(p, gates, cell, c + b * p->hidden, out);
            h = out;
            cell = c + b * p->hidden;
        }
    }
}
