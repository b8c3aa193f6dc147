/* SPDX-License-Identifier: Apache-2.0
 *
 * All output channels of two pixels, whose taps are read in place. A run is a row of contiguous taps.
 *
 * A word holds the weights of two channels, w0 + 65536 * w1, so that a multiplication serves both. The taps are grouped
 * when the code is generated, so that within a group each sum fits its 16 bits.
 */
#ifndef MCUGEN_SWAR_RUNS_H
#define MCUGEN_SWAR_RUNS_H

#include "mcugen/runtime.h"

/* Pointer to a run of int8 data. A table has two per run: of pixel 0 and of pixel 1. */
typedef const int8_t *mg_swar_run;

#if defined(__thumb2__) && defined(__GNUC__)
#include "mcugen/swar_runs_thumb2.h"
#elif defined(__ARM_ARCH_6M__) && defined(__GNUC__)
#include "mcugen/swar_runs_thumb1.h"
#elif defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_32e) && defined(__GNUC__)
#include "mcugen/swar_runs_riscv.h"
#else
#include "mcugen/swar_scale.h"

/* Sums of two pixels. both: the sums of both channels in one word, modulo 2^32. upper: the sum of the upper channel. */
typedef struct {
    uint32_t both[2], upper[2];
} mg_swar_run_pair;

/* Adds a run of `groups` groups. at: the run's two pointers. Returns the stream behind the run. */
static const uint32_t *mg_swar_run_sums(mg_swar_run_pair *s, const uint32_t *stream, uint32_t groups, const mg_swar_run *at)
{
    const uint32_t *w = stream;
    const int8_t *x0 = at[0];
    const int8_t *x1 = at[1];
    for (uint32_t g = 0u; g < groups; g += 1u) {
        const uint32_t n = 30u - (w[0] >> 1 & 31u);
        uint32_t t0 = w[0], t1 = w[0];
        for (uint32_t k = 0u; k < n; k += 1u) {
            const int32_t tap0 = x0[k], tap1 = x1[k];
            t0 += w[k + 1u] * (uint32_t)tap0;
            t1 += w[k + 1u] * (uint32_t)tap1;
        }
        s->both[0] += t0;
        s->both[1] += t1;
        s->upper[0] += (uint32_t)((int32_t)t0 >> 16);
        s->upper[1] += (uint32_t)((int32_t)t1 >> 16);
        w += n + 1u;
        x0 += n;
        x1 += n;
    }
    return w;
}

/* Scales a channel of both pixels to outputs. Returns the stream behind its constants. */
static const uint32_t *mg_swar_finish_two(const uint32_t *w, uint32_t kind, const int32_t *sums, int8_t *out0, int8_t *out1,
                                          int32_t low, uint32_t span)
{
    const mg_swar_scale scale = mg_swar_scale_of(w, kind, low, span);
    *out0 = mg_swar_finish(&scale, sums[0]);
    *out1 = mg_swar_finish(&scale, sums[1]);
    return w + ((kind & MG_SWAR_FOUR) != 0u ? 6 : 5);
}

/* Computes all outputs of two pixels. table: two pointers for each of `runs` runs. */
static void mg_swar_direct_two(const uint32_t *stream, uint32_t pairs, const mg_swar_run *table, int8_t *out0, int8_t *out1,
                               int32_t low, uint32_t span, uint32_t runs)
{
    const uint32_t *w = stream;
    uint32_t o = 0u;
    for (uint32_t pair = 0u; pair < pairs; pair += 1u) {
        mg_swar_run_pair s = {{w[0], w[0]}, {w[1], w[1]}};
        uint32_t next = w[2];
        w += 3;
        for (uint32_t k = 0u; k < runs; k += 1u) {
            w = mg_swar_run_sums(&s, w, next, table + 2u * k);
            next = w[0] >> 6;
            w += 1;
        }
        const int32_t upper[2] = {(int32_t)s.upper[0], (int32_t)s.upper[1]};
        if ((next & MG_SWAR_SINGLE) == 0u) {
            const int32_t lower[2] = {(int32_t)(s.both[0] - (s.upper[0] << 16)), (int32_t)(s.both[1] - (s.upper[1] << 16))};
            w = mg_swar_finish_two(w, next, lower, out0 + o, out1 + o, low, span);
            o += 1u;
        }
        w = mg_swar_finish_two(w, next, upper, out0 + o, out1 + o, low, span);
        o += 1u;
    }
}
#endif

#endif /* MCUGEN_SWAR_RUNS_H */
