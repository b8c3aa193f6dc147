/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/full_lstm_s8.h"
#include "mcugen/inverse_root.h"
#include "mcugen/series_s16.h"

static int32_t narrowed(int32_t x)
{
    return mg_clamp(x, INT16_MIN, INT16_MAX);
}

/* A gate's sum plus a further part, saturated to int16. */
static int32_t joined(int32_t sum, int32_t part)
{
    return narrowed(sum + mg_clamp(part, -65536, 65535));
}

static int32_t products(int32_t sum, const int8_t *w, const int8_t *x, uint32_t n)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        sum += w[k] * x[k];
    }
    return sum;
}

/* x * by, plus `added`, in the low 32 bits */
static int32_t scaled(int32_t x, int32_t by, int32_t added)
{
    return (int32_t)((uint32_t)x * (uint32_t)by + (uint32_t)added);
}

/* Normalizes the sums of a gate to mean 0 and variance 1, and scales them by weights. at: index of the first weight. */
static void normalize(const mg_full_lstm_s8_params *p, uint32_t gate, uint32_t at, mg_s16 *sums)
{
    const int32_t count = (int32_t)p->hidden;
    int64_t total = 0, squares = 0;
    for (uint32_t k = 0u; k < p->hidden; k += 1u) {
        total += sums[k];
        squares += (int64_t)(sums[k] * sums[k]);
    }
    const int32_t mean = (int32_t)(total * 1024 / count);
    const int64_t spread = squares * (1048576 / count) - (int64_t)mean * mean;
    const int32_t variance = (int32_t)(spread / 1048576);
    const mg_inverse_root by = mg_inverse_root_of(variance < 1 ? p->guard[gate] : variance);
    for (uint32_t k = 0u; k < p->hidden; k += 1u) {
        const int32_t steps = mg_requantize(1024 * sums[k] - mean, by.mult, -by.down);
        const int64_t made = scaled(steps, p->n[at + k], p->b[at + k]);
        const int32_t rounded = (int32_t)((made > 0 ? made + 512 : made - 512) / 1024);
        sums[k] = (int16_t)narrowed(mg_requantize(rounded, p->n_mult[gate], p->n_shift[gate]));
    }
}

/* Computes one gate for all units. */
static void gate_of(const mg_full_lstm_s8_params *p, uint32_t gate, const int8_t *x, const int8_t *h, const mg_s16 *c,
                    mg_s16 *sums)
{
    const uint32_t at = (gate - p->coupled) * p->hidden;
    const uint32_t seen = ((gate == 3u ? 2u : gate) - p->coupled) * p->hidden;
    for (uint32_t k = 0u; k < p->hidden; k += 1u) {
        const int8_t *const w = p->w + (at + k) * p->inputs, *const r = p->r + (at + k) * p->results;
        const int32_t data = products(p->w_bias[at + k], w, x, p->inputs);
        const int32_t state = products(p->r_bias[at + k], r, h, p->results);
        int32_t sum = narrowed(mg_requantize(data, p->w_mult[gate], p->w_shift[gate]));
        sum = joined(sum, mg_requantize(state, p->r_mult[gate], p->r_shift[gate]));
        if (p->p != NULL && gate != 2u) {
            sum = joined(sum, mg_requantize(p->p[seen + k] * c[k], p->p_mult[gate], p->p_shift[gate]));
        }
        sums[k] = (int16_t)sum;
    }
    if (p->n != NULL) {
        normalize(p, gate, at, sums);
    }
    for (uint32_t k = 0u; k < p->hidden; k += 1u) {
        const int16_t sum = sums[k];
        sums[k] = (int16_t)(gate == 2u ? mg_tanh_series_s16(sum, 3u) : mg_logistic_series_s16(sum, 3u));
    }
}

static void next_cells(const mg_full_lstm_s8_params *p, const mg_s16 *gates, const mg_s16 *c0, mg_s16 *c)
{
    const uint32_t n = p->hidden;
    for (uint32_t k = 0u; k < n; k += 1u) {
        const int32_t f = gates[n + k], i = p->coupled != 0u ? INT16_MAX - f : gates[k];
        const int16_t kept = (int16_t)mg_divide_by_pot(f * c0[k], 15u);
        const int16_t entered = (int16_t)mg_divide_by_pot(i * gates[2u * n + k], (uint32_t)(30 + p->cell_shift));
        const int32_t sum = narrowed(kept + entered);
        c[k] = (int16_t)(p->clip > 0 ? mg_clamp(sum, -p->clip, p->clip) : sum);
    }
}

/* Computes the results of a step: the values of the units, or their projection. */
static void finish(const mg_full_lstm_s8_params *p, const mg_s16 *o, const mg_s16 *c, int8_t *values, int8_t *y)
{
    int8_t *const made = p->j != NULL ? values : y;
    const uint32_t projected = p->j != NULL ? p->results : 0u;
    for (uint32_t k = 0u; k < p->hidden; k += 1u) {
        const int32_t product = mg_tanh_series_s16(c[k], (uint32_t)(15 + p->cell_shift)) * o[k];
        const int32_t v = mg_requantize(product, p->h_mult, p->h_shift) + p->hidden_zero;
        made[k] = (int8_t)mg_clamp(v, INT8_MIN, INT8_MAX);
    }
    for (uint32_t k = 0u; k < projected; k += 1u) {
        const int32_t sum = products(p->j_bias[k], p->j + k * p->hidden, values, p->hidden);
        const int32_t v = mg_clamp(mg_requantize(sum, p->j_mult, p->j_shift), -65536, 65535) + p->zero;
        const int32_t least = p->result_clip != 0u ? -p->result_clip : INT8_MIN;
        y[k] = (int8_t)mg_clamp(v, least, p->result_clip != 0u ? p->result_clip : INT8_MAX);
    }
}

void mg_full_lstm_s8(const mg_full_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0, mg_s16 *c,
                     int8_t *y, void *scratch)
{
    mg_s16 *const gates = scratch;
    const uint32_t n = p->hidden;
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        const int8_t *h = h0 + b * p->results;
        const mg_s16 *before = c0 + b * n;
        mg_s16 *const cell = c + b * n;
        for (uint32_t t = 0u; t < p->steps; t += 1u) {
            const int8_t *const data = x + t * p->step_in + b * p->batch_in;
            int8_t *const out = y + t * p->step_out + b * p->batch_out;
            for (uint32_t gate = p->coupled; gate < 3u; gate += 1u) {
                gate_of(p, gate, data, h, before, gates + gate * n);
            }
            next_cells(p, gates, before, cell);
            gate_of(p, 3u, data, h, cell, gates + 3u * n);
            finish(p, gates + 3u * n, cell, (int8_t *)(gates + 4u * n), out);
            h = out;
            before = cell;
        }
    }
}
