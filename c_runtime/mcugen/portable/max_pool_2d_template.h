/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the largest element of each window of a row, on top of max_pool_2d_channels_template.h.
 * MG_PIXEL(p, rows, taps, out): all channels of one window.
 */

void MG_KERNEL(const MG_PARAMS *p, const MG_STORED *const *rows, uint32_t y, MG_STORED *out)
{
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
        const MG_VARIANT(taps) w = {span, (x * p->stride_w + columns.first - p->pad_w) * p->channels,
                                    columns.end - columns.first};
        MG_PIXEL(p, rows, &w, out + x * p->channels);
    }
}
