/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one vector times four output channels, whose weights are interleaved. `zero` is taken off the data first.
 */
static inline void MG_NAME(tap_1x4)(MG_NAME(acc) *acc, MG_NAME(acc) x, const MG_NAME(w) *w)
{
    acc[0] += x * w[0];
    acc[1] += x * w[1];
    acc[2] += x * w[2];
    acc[3] += x * w[3];
}

/* acc[channel] += sum over k < n of (x[k] - zero) * w[4 * k + channel] */
static inline void MG_NAME(dot_1x4)(MG_NAME(acc) *acc, const MG_NAME(x) *x, MG_NAME(acc) zero, const MG_NAME(w) *w, uint32_t n)
{
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const MG_NAME(x) *const p = x + k;
        const MG_NAME(w) *const q = w + 4u * k;
        MG_NAME(tap_1x4)(acc, p[0] - zero, q);
        MG_NAME(tap_1x4)(acc, p[1] - zero, q + 4);
        MG_NAME(tap_1x4)(acc, p[2] - zero, q + 8);
        MG_NAME(tap_1x4)(acc, p[3] - zero, q + 12);
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        MG_NAME(tap_1x4)(acc, x[k] - zero, w + 4u * k);
    }
}

/* Variant for a single channel. */
static inline void MG_NAME(dot_1x1)(MG_NAME(acc) *acc, const MG_NAME(x) *x, MG_NAME(acc) zero, const MG_NAME(w) *w, uint32_t n)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        acc[0] += (x[k] - zero) * w[k];
    }
}
