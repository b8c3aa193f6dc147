/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/l2_normalization_s8.h"

typedef struct {
    int32_t mult, shift;
} scale;

/* The rounded high half of the doubled product, for numbers of any sign. */
static int32_t product(int32_t a, int32_t b)
{
    const int64_t doubled = (int64_t)a * b;
    const int64_t nudge = doubled >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
    return (int32_t)((doubled + nudge) / ((int64_t)1 << 31));
}

static int32_t raised(int32_t x, int32_t factor)
{
    const int64_t wide = (int64_t)x * factor;
    return wide > INT32_MAX ? INT32_MAX : (wide < INT32_MIN ? INT32_MIN : (int32_t)wide);
}

/* 128 over the root of a sum of squares. */
static scale inverse_root(int32_t total)
{
    scale found = {INT32_MAX, 7};
    int32_t x = (int32_t)1 << 28, shift = 11, rest = total;
    if (total <= 1) {
        return found;
    }
    for (uint32_t k = 0u; k < 2u; k += 1u) {
        shift += rest >= ((int32_t)1 << 29) ? 1 : 0;
        rest = rest >= ((int32_t)1 << 29) ? rest / 4 : rest;
    }
    for (uint32_t k = 0u; k < 14u; k += 1u) {
        const int32_t small = rest < ((int32_t)1 << 27) ? 1 : 0;
        shift -= small;
        rest *= small != 0 ? 4 : 1;
    }
    const int32_t half = mg_divide_by_pot(rest >> 1, 1u);
    for (uint32_t k = 0u; k < 5u; k += 1u) {
        const int32_t cube = raised(product(product(x, x), x), 64);
        const int32_t step = product(((int32_t)1 << 28) + ((int32_t)1 << 27), x) - product(half, cube);
        x = raised(step, 8);
    }
    found.mult = product(x, 1518500250);
    found.mult = shift < 0 ? found.mult * ((int32_t)1 << (uint32_t)-shift) : found.mult;
    found.shift = shift < 0 ? 7 : 7 - shift;
    return found;
}

void mg_l2_normalization_s8(const mg_l2_normalization_s8_params *p, const int8_t *x, int8_t *y)
{
    for (uint32_t r = 0u; r < p->rows; r += 1u) {
        const int8_t *const row = x + r * p->length;
        int32_t total = 0;
        for (uint32_t i = 0u; i < p->length; i += 1u) {
            const int32_t v = row[i] - p->zero;
            total += v * v;
        }
        const scale by = inverse_root(total);
        for (uint32_t i = 0u; i < p->length; i += 1u) {
            y[r * p->length + i] = (int8_t)mg_clamp(mg_requantize(row[i] - p->zero, by.mult, by.shift), -128, 127);
        }
    }
}
