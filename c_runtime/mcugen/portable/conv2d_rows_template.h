/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one output row of a convolution, on top of conv2d_block_template.h.
 * Columns whose taps are contiguous in the row are read in place; all others are gathered into a patch.
 */

/* Copies the taps of output column x, channels [c, c + group_in_c), into a patch. */
static void MG_NAME(gather)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t x, uint32_t c, MG_NAME(x) *patch)
{
    const uint32_t channels = p->group_in_c;
    const MG_NAME(x) fill = MG_NAME(outside)(p);
    MG_NAME(x) *to = patch;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int32_t column = (int32_t)(x * p->stride_w + j * p->dilation_w) - (int32_t)p->pad_w;
            const uint32_t step = column >= 0 && column < (int32_t)p->in_w ? 1u : 0u;
            const MG_NAME(x) *const from = step != 0u ? rows[i] + (uint32_t)column * p->in_c + c : &fill;
            for (uint32_t k = 0u; k < channels; k += 1u) {
                to[k] = from[k * step]; /* copies, or fills if step is 0: one loop that compilers do not replace by a
                                         * call of memcpy or memset */
            }
            to += channels;
        }
    }
}

/* Computes columns [first, end), gathered two at a time. */
static void MG_NAME(gathered)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t first, uint32_t end,
                              MG_NAME(x) *out, MG_NAME(x) *scratch)
{
    const uint32_t size = (uint32_t)p->kernel_h * p->kernel_w * p->group_in_c;
    const MG_NAME(x) *const patch = scratch;
    const MG_NAME(taps) taps = {&patch, 1u, size};
    for (uint32_t x = first; x < end; x += 2u) {
        for (uint32_t g = 0u; g < p->groups; g += 1u) {
            const uint32_t o = g * p->group_out_c;
            MG_NAME(gather)(p, rows, x, g * p->group_in_c, scratch);
            if (x + 1u < end) {
                MG_NAME(gather)(p, rows, x + 1u, g * p->group_in_c, scratch + size);
                MG_NAME(two)(p, &taps, o, 0, (int32_t)size, out + x * p->out_c);
            } else {
                MG_NAME(one)(p, &taps, o, 0, out + x * p->out_c);
            }
        }
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t y, MG_NAME(x) *out, MG_NAME(x) *scratch)
{
    const MG_NAME(taps) taps = {rows, p->kernel_h, (uint32_t)p->kernel_w * p->in_c};
    const int32_t step = (int32_t)p->stride_w * p->in_c;
    const int32_t start = -(int32_t)p->pad_w * (int32_t)p->in_c;
    (void)y;
    MG_NAME(gathered)(p, rows, 0u, p->inside_first, out, scratch);
    for (uint32_t x = p->inside_first; x < p->inside_end; x += 2u) {
        const int32_t offset = start + (int32_t)x * step;
        MG_NAME(x) *const to = out + x * p->out_c;
        if (x + 1u < p->inside_end) {
            MG_NAME(two)(p, &taps, 0u, offset, offset + step, to);
        } else {
            MG_NAME(one)(p, &taps, 0u, offset, to);
        }
    }
    MG_NAME(gathered)(p, rows, p->inside_end, p->out_w, out, scratch);
}
