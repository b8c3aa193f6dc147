/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one vector times four output channels, whose weights are interleaved. `zero` is subtracted from the data
 * first.
 */
#include "mcugen/weights_template.h"

static inline void MG_NAME(tap_1x4)(MG_NAME(acc) *acc, MG_NAME(acc) x, const MG_NAME(w) *w)
{
    acc[0] += x * MG_NAME(weight)(w, 0u);
    acc[1] += x * MG_NAME(weight)(w, 1u);
    acc[2] += x * MG_NAME(weight)(w, 2u);
    acc[3] += x * MG_NAME(weight)(w, 3u);
}

/* acc[channel] += sum over k < n of (x[k] - zero) * w[4 * k + channel] */
static inline void MG_NAME(dot_1x4)(MG_NAME(acc) *acc, const MG_NAME(x) *x, MG_NAME(acc) zero, const MG_NAME(w) *w, uint32_t n)
{
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const MG_NAME(x) *const p = x + k;
        const MG_NAME(w) *const q = MG_NAME(from)(w, 4u * k);
        MG_NAME(tap_1x4)(acc, p[0] - zero, q);
        MG_NAME(tap_1x4)(acc, p[1] - zero, MG_NAME(from)(q, 4u));
        MG_NAME(tap_1x4)(acc, p[2] - zero, MG_NAME(from)(q, 8u));
        MG_NAME(tap_1x4)(acc, p[3] - zero, MG_NAME(from)(q, 12u));
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        MG_NAME(tap_1x4)(acc, x[k] - zero, MG_NAME(from)(w, 4u * k));
    }
}

/* dot_1x4 for a single channel, whose weights begin at `first`. */
static inline void MG_NAME(dot_1x1)(MG_NAME(acc) *acc, const MG_NAME(x) *x, MG_NAME(acc) zero, const MG_NAME(w) *w,
                                    uint32_t first, uint32_t n)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        acc[0] += (x[k] - zero) * MG_NAME(weight)(w, first + k);
    }
}
