/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain C of dsp_vector_block_template.h with MG_DIRECT: products of bytes that are widened as they are read.
 */
/* Adds the products of four taps to the sums. w: the weights of these taps in the stream. Returns the end of these
 * weights. */
static inline const int32_t *MG_VARIANT(four)(int32_t sums[4], const int32_t *w, const int8_t *in)
{
    const mg_s16 x[4] = {in[0], in[2], in[1], in[3]};
    for (uint32_t k = 0u; k < 2u; k += 1u) {
#if MG_COMPOSITE
        MG_VARIANT(pairs)(sums, w[k], x + 2u * k);
        MG_VARIANT(pairs)(sums + 2, w[2u + k], x + 2u * k);
#else
        for (uint32_t o = 0u; o < 4u; o += 1u) {
            sums[o] = MG_VARIANT(multiply)(sums[o], w[2u * o + k], x + 2u * k);
        }
#endif
    }
    return w + (MG_COMPOSITE ? 4 : 8);
}

#ifdef MG_WINDOWS
#if MG_EDGES == 1
/* Adds the products of a kernel row that is partly outside the image: each word is shifted, and its bytes outside the
 * image are filled in. */
static inline const int32_t *MG_VARIANT(beyond)(int32_t sums[4], const int32_t *w, const int8_t *row, const mg_dsp_windows_job *job)
{
    for (const uint32_t *edge = job->edges; edge < job->edges_end; edge += 2) {
        int8_t word[4];
        for (uint32_t k = 0u; k < 4u; k += 1u) {
            const uint32_t from = k + (edge[0] >> 8 & 0xFFu) / 8u - (edge[0] & 0xFFu) / 8u;
            word[k] = (int8_t)(uint8_t)(edge[1] >> 8u * k);
            if (from < 4u) {
                word[k] = row[(edge[0] >> 16) + from];
            }
        }
        w = MG_VARIANT(four)(sums, w, word);
    }
    return w;
}
#elif MG_EDGES == 2
/* Adds the products of a kernel row that is partly outside the image, if no word is partly outside: words outside are
 * skipped. */
static inline const int32_t *MG_VARIANT(beyond)(int32_t sums[4], const int32_t *w, const int8_t *row, const mg_dsp_windows_job *job)
{
    const uint32_t *const edge = job->edges;
    w += edge[2] / 4u;
    for (uint32_t i = 0u; i < edge[1]; i += 4u) {
        w = MG_VARIANT(four)(sums, w, row + edge[0] + i);
    }
    return w + edge[3] / 4u;
}
#endif

/* Adds the products of a kernel row. */
static inline const int32_t *MG_VARIANT(row)(int32_t sums[4], const int32_t *w, const int8_t *row, const mg_dsp_windows_job *job)
{
#if MG_EDGES
    if (job->edges != NULL) {
        return MG_VARIANT(beyond)(sums, w, row, job);
    }
#endif
    for (uint32_t i = 0u; i < MG_STEPS; i += 1u) {
        w = MG_VARIANT(four)(sums, w, row + job->at + 4u * i);
    }
#if MG_TAIL
    w = MG_VARIANT(four)(sums, w, row + job->at + (4 * MG_STEPS + MG_TAIL - 4));
#endif
    return w;
}
#endif
