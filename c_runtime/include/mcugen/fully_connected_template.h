/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a fully connected layer, four outputs at a time. Weights of four outputs are interleaved.
 * Instead of MG_NAME(store) it asks for MG_NAME(finish)(p, o, acc), the output o.
 */

/* acc[output] += x * w[output] */
static inline void MG_NAME(tap)(MG_NAME(acc) *acc, MG_NAME(acc) x, const MG_NAME(w) *w)
{
    acc[0] += x * w[0];
    acc[1] += x * w[1];
    acc[2] += x * w[2];
    acc[3] += x * w[3];
}

static inline void MG_NAME(dot)(MG_NAME(acc) *acc, const MG_NAME(x) *x, const MG_NAME(w) *w, uint32_t n)
{
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const MG_NAME(x) *const p = x + k;
        const MG_NAME(w) *const q = w + 4u * k;
        MG_NAME(tap)(acc, p[0], q);
        MG_NAME(tap)(acc, p[1], q + 4);
        MG_NAME(tap)(acc, p[2], q + 8);
        MG_NAME(tap)(acc, p[3], q + 12);
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        MG_NAME(tap)(acc, x[k], w + 4u * k);
    }
}

static inline void MG_NAME(vector)(const MG_NAME(params) *p, const MG_NAME(x) *x, MG_NAME(x) *out)
{
    const uint32_t fours = p->out_len & ~3u;
    for (uint32_t o = 0u; o < fours; o += 4u) {
        MG_NAME(acc) acc[4] = {(MG_NAME(acc))p->bias[o], (MG_NAME(acc))p->bias[o + 1u], (MG_NAME(acc))p->bias[o + 2u],
                               (MG_NAME(acc))p->bias[o + 3u]};
        MG_NAME(dot)(acc, x, p->weights + o * p->in_len, p->in_len);
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            out[o + i] = MG_NAME(finish)(p, o + i, acc[i]);
        }
    }
    for (uint32_t o = fours; o < p->out_len; o += 1u) {
        const MG_NAME(w) *const w = p->weights + o * p->in_len;
        MG_NAME(acc) acc = (MG_NAME(acc))p->bias[o];
        for (uint32_t k = 0u; k < p->in_len; k += 1u) {
            acc += (MG_NAME(acc))x[k] * w[k];
        }
        out[o] = MG_NAME(finish)(p, o, acc);
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *in, MG_NAME(x) *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        MG_NAME(vector)(p, in + i * p->in_len, out + i * p->out_len);
    }
}
