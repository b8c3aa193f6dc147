/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of rows of int8 weights with a vector of int16, as sums of gates in int16, on cores with SMLAD.
 *
 * Four rows a, b, c, d lie together. A word holds two taps of two rows, 256 * a + b in each half: SMLAD adds up
 * 256 * A + B at once, and B again from the lower bytes. Per four taps: ab, cd of the first two taps, ab, cd of the
 * others. The last quad of rows and the last four taps are padded with zeros. No weight is -128, and 256 * A + B fits 32
 * bits: proved when the code is generated.
 */
#ifndef MCUGEN_DSP_GATE_ROWS_H
#define MCUGEN_DSP_GATE_ROWS_H

#include "mcugen/gates_s16.h"
#include "mcugen/dsp_pairs.h"
#include "mcugen/dsp_widen.h"
#include "mcugen/little_endian.h"

/* Quads of rows of n weights, with the bias and the scale of each row; see mg_gate_sum. */
typedef struct {
    const int32_t *w;
    const int32_t *bias, *mult;
    const uint8_t *shift;
    uint32_t left, n;
} mg_dsp_gate_rows;

/* Number of elements of a vector of n, padded to groups of four. */
static inline uint32_t mg_dsp_gate_room(uint32_t n)
{
    return (n + 3u) & ~3u;
}

/* The rows after the first `count`, which fill their quads with zeros. */
static inline mg_dsp_gate_rows mg_dsp_gate_rows_after(mg_dsp_gate_rows rows, uint32_t count)
{
    const uint32_t skipped = (count + 3u) & ~3u;
    const mg_dsp_gate_rows rest = {rows.w + skipped / 4u * mg_dsp_gate_room(rows.n), rows.bias + skipped,
                                   rows.mult + skipped, rows.shift + skipped, rows.left, rows.n};
    return rest;
}

/* x widened to int16, in `wide`, and padded with zeros */
static inline const mg_s16 *mg_dsp_gate_widened(const int8_t *x, mg_s16 *wide, uint32_t n)
{
    const uint32_t groups = n / 4u, whole = 4u * groups, end = mg_dsp_gate_room(n);
    if (groups != 0u) {
        mg_dsp_widen_ordered(x, wide, groups);
    }
    for (uint32_t k = whole; k < end; k += 1u) {
        wide[k] = k < n ? x[k] : 0;
    }
    return wide;
}

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Adds the products of two taps of four rows. */
#define MG_DSP_GATE_TAPS(ab, cd, x)         \
    "smlad r4, " ab ", " x ", r4\n"         \
    "sxtb16 r0, " ab "\n"                   \
    "smlad r5, r0, " x ", r5\n"             \
    "smlad r6, " cd ", " x ", r6\n"         \
    "sxtb16 r0, " cd "\n"                   \
    "smlad r7, r0, " x ", r7\n"

#define MG_DSP_GATE_FOUR                    \
    "ldrd r12, lr, [r2], #8\n"              \
    "ldmia r1!, {r8-r11}\n"                 \
    MG_DSP_GATE_TAPS("r8", "r9", "r12")     \
    MG_DSP_GATE_TAPS("r10", "r11", "lr")

/* sums: 256 * A + B, B, 256 * C + D and D of a quad of rows. groups: groups of four taps, at least one
 * r1: weights, r2: x, r3: groups left, r4-r7: sums, r8-r11: weights, r12, lr: x */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_gate_quad(
    int32_t sums[4] MCUGEN_UNUSED, const int32_t *w MCUGEN_UNUSED, const mg_s16 *x MCUGEN_UNUSED,
    uint32_t groups MCUGEN_UNUSED)
{
    __asm__("push {r0, r4-r11, lr}\n"
            "movs r4, #0\n"
            "mov r5, r4\n"
            "mov r6, r4\n"
            "mov r7, r4\n"
            "subs r3, r3, #2\n"
            "blo 2f\n"
            "1:\n" MG_DSP_GATE_FOUR MG_DSP_GATE_FOUR
            "subs r3, r3, #2\n"
            "bhs 1b\n"
            "2:\n"
            "adds r3, r3, #2\n"
            "beq 3f\n" MG_DSP_GATE_FOUR
            "3:\n"
            "pop {r0}\n"
            "stmia r0, {r4-r7}\n"
            "pop {r4-r11, pc}\n");
}

#undef MG_DSP_GATE_FOUR
#undef MG_DSP_GATE_TAPS

#else

static inline void mg_dsp_gate_quad(int32_t products[4], const int32_t *w, const mg_s16 *x, uint32_t groups)
{
    for (uint32_t k = 0u; k < 4u; k += 1u) {
        products[k] = 0;
    }
    for (uint32_t j = 0u; j < 2u * groups; j += 1u) {
        const uint32_t taps = mg_dsp_both(x + 2u * j), ab = (uint32_t)w[2u * j], cd = (uint32_t)w[2u * j + 1u];
        products[0] = mg_dsp_add_products(ab, taps, products[0]);
        products[1] = mg_dsp_add_products(mg_dsp_even(ab), taps, products[1]);
        products[2] = mg_dsp_add_products(cd, taps, products[2]);
        products[3] = mg_dsp_add_products(mg_dsp_even(cd), taps, products[3]);
    }
}

#endif

/* The sum of a gate over row k, from its products. */
static inline int16_t mg_dsp_gate_of(const mg_dsp_gate_rows *rows, int32_t products, uint32_t k)
{
    return (int16_t)mg_gate_sum(products + rows->bias[k], rows->left, rows->mult[k], rows->shift[k]);
}

/* out[k] = the sum of a gate over row k, for `count` rows */
static inline void mg_dsp_gate_sums(const mg_dsp_gate_rows *rows, const mg_s16 *x, uint32_t count, mg_s16 *out)
{
    const uint32_t words = mg_dsp_gate_room(rows->n);
    const int32_t *w = rows->w;
    for (uint32_t k = 0u; k < count; k += 4u) {
        int32_t found[4];
        mg_dsp_gate_quad(found, w, x, words / 4u);
        out[k] = mg_dsp_gate_of(rows, (found[0] - found[1]) >> 8, k);
        if (k + 1u < count) {
            out[k + 1u] = mg_dsp_gate_of(rows, found[1], k + 1u);
        }
        if (k + 2u < count) {
            out[k + 2u] = mg_dsp_gate_of(rows, (found[2] - found[3]) >> 8, k + 2u);
        }
        if (k + 3u < count) {
            out[k + 3u] = mg_dsp_gate_of(rows, found[3], k + 3u);
        }
        w += words;
    }
}

#endif /* MCUGEN_DSP_GATE_ROWS_H */
