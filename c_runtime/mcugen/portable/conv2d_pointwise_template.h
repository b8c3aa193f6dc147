/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: n pixels of a 1x1 convolution with stride 1, on top of conv2d_block_template.h.
 */
void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *in, MG_NAME(x) *out, uint32_t n)
{
    const uint32_t pairs = n & ~1u;
    const MG_NAME(taps) taps = {&in, 1u, p->in_c};
    for (uint32_t i = 0u; i < pairs; i += 2u) {
        const int32_t offset = (int32_t)(i * p->in_c);
        MG_NAME(two)(p, &taps, 0u, offset, offset + p->in_c, out + i * p->out_c);
    }
    if (pairs < n) {
        MG_NAME(one)(p, &taps, 0u, (int32_t)(pairs * p->in_c), out + pairs * p->out_c);
    }
}
