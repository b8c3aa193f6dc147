/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the transposed convolution, on top of dot_1x4_template.h. Each output pixel gathers the input pixels that
 * reach it: with stride s, tap k of the pixel at y comes from input (y + pad - k) / s if that is an integer.
 */

/* Taps of an output column that read the image: tap `tap` reads input column `input`, tap + stride reads input - 1, and
 * so on. */
typedef struct {
    int32_t input, tap;
} MG_NAME(phase);

static inline MG_NAME(phase) MG_NAME(next)(MG_NAME(phase) at, int32_t stride)
{
    const int32_t wraps = (int32_t)(at.tap + 1 == stride);
    const MG_NAME(phase) next = {at.input + wraps, wraps != 0 ? 0 : at.tap + 1};
    return next;
}

/* Adds the taps of one input row. w: weights of the tap of `column`. */
static inline void MG_NAME(row_taps)(const MG_NAME(params) *p, MG_NAME(acc) *acc, const MG_NAME(x) *row,
                                     MG_NAME(phase) column, const MG_NAME(w) *w, uint32_t lanes)
{
    const uint32_t in_c = p->in_c;
    const uint32_t step = p->stride_w * in_c * lanes;
    const MG_NAME(acc) zero = MG_NAME(outside)(p);
    uint32_t j = (uint32_t)column.input; /* left of the image, j wraps to a number above any width */
    for (uint32_t kw = (uint32_t)column.tap; kw < p->kernel_w; kw += p->stride_w) {
        if (j < p->in_w) {
            if (lanes == 4u) {
                MG_NAME(dot_1x4)(acc, row + j * in_c, zero, w, in_c);
            } else {
                MG_NAME(dot_1x1)(acc, row + j * in_c, zero, w, 0u, in_c);
            }
        }
        j -= 1u;
        w += step;
    }
}

/* Computes `lanes` output channels (4 or 1) of one pixel, from channel o on. row_tap: kernel row that reads the last of
 * the input rows. */
static inline void MG_NAME(channels)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t row_tap,
                                     MG_NAME(phase) column, uint32_t o, uint32_t lanes, MG_NAME(x) *out)
{
    const uint32_t tap = (uint32_t)p->in_c * lanes;
    const MG_NAME(w) *const all = p->weights;
    const MG_NAME(w) *const weights = all + o * p->kernel_h * p->kernel_w * p->in_c;
    const MG_NAME(x) *const *row = rows + p->rows;
    MG_NAME(acc) acc[4] = {0, 0, 0, 0};
    for (uint32_t k = 0u; k < lanes; k += 1u) {
        acc[k] = (MG_NAME(acc))p->bias[o + k];
    }
    for (uint32_t kh = row_tap; kh < p->kernel_h; kh += p->stride_h) {
        row -= 1;
        if (*row != NULL) {
            MG_NAME(row_taps)(p, acc, *row, column, weights + (kh * p->kernel_w + (uint32_t)column.tap) * tap, lanes);
        }
    }
    for (uint32_t k = 0u; k < lanes; k += 1u) {
        out[o + k] = MG_NAME(store)(p, o + k, acc[k]);
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t y, MG_NAME(x) *out)
{
    const uint32_t fours = (uint32_t)p->out_c & ~3u;
    const uint32_t row_tap = (y + p->phase_h) % p->stride_h;
    MG_NAME(phase) column = {p->first_w, p->phase_w};
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        for (uint32_t o = 0u; o < fours; o += 4u) {
            MG_NAME(channels)(p, rows, row_tap, column, o, 4u, out + x * p->out_c);
        }
        for (uint32_t o = fours; o < p->out_c; o += 1u) {
            MG_NAME(channels)(p, rows, row_tap, column, o, 1u, out + x * p->out_c);
        }
        column = MG_NAME(next)(column, p->stride_w);
    }
}
