/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_s8.h"

#include "mcugen/swar_two.h"

/* n bytes of two pixels, side by side, + 128. */
static void mg_swar_spread(const int8_t *a, const int8_t *b, uint8_t *patch, uint32_t n)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        patch[2u * k] = (uint8_t)((uint8_t)a[k] ^ 0x80u);
        patch[2u * k + 1u] = (uint8_t)((uint8_t)b[k] ^ 0x80u);
    }
}

/* The taps of one pixel, whose window is at or over the border of the image or has gaps, in every second byte. */
static void mg_swar_gather(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t x, uint8_t *patch)
{
    uint8_t *to = patch;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int32_t column = (int32_t)(x * p->stride_w + j * p->dilation_w) - (int32_t)p->pad_w;
            const uint32_t inside = (uint32_t)(column >= 0 && column < (int32_t)p->in_w);
            const int8_t *const from = rows[i] + (inside != 0u ? (uint32_t)column * p->in_c : 0u);
            for (uint32_t k = 0u; k < p->in_c; k += 1u) {
                to[2u * k] = inside != 0u ? (uint8_t)((uint8_t)from[k] ^ 0x80u) : p->outside;
            }
            to += 2u * p->in_c;
        }
    }
}

void mg_conv2d_s8__swar(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
{
    uint8_t *const patch = scratch;
    int8_t *const unused = (int8_t *)scratch + 2u * p->taps;
    const uint32_t run = (uint32_t)p->kernel_w * p->in_c;
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 2u) {
        int8_t *const to = out + x * p->outputs;
        const uint32_t next = x + 1u < p->out_w ? x + 1u : x;
        if (x >= p->inside_first && next < p->inside_end) {
            const uint32_t at = (x * p->stride_w - p->pad_w) * p->in_c;
            const uint32_t step = (next - x) * p->stride_w * p->in_c;
            for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
                const int8_t *const from = rows[i] + at;
                mg_swar_spread(from, from + step, patch + 2u * i * run, run);
            }
        } else {
            mg_swar_gather(p, rows, x, patch);
            mg_swar_gather(p, rows, next, patch + 1);
        }
        mg_swar_two(p->stream, p->pairs, patch, to, next > x ? to + p->outputs : unused, p->out_min, p->out_span);
    }
}

void mg_conv2d_s8__swar_pointwise(const mg_swar_s8_params *p, const int8_t *in, int8_t *out, void *scratch, uint32_t n)
{
    uint8_t *const patch = scratch;
    int8_t *const unused = (int8_t *)scratch + 2u * p->taps;
    for (uint32_t i = 0u; i < n; i += 2u) {
        const int8_t *const from = in + i * p->taps;
        int8_t *const to = out + i * p->outputs;
        const uint32_t more = (uint32_t)(i + 1u < n);
        mg_swar_spread(from, from + more * p->taps, patch, p->taps);
        mg_swar_two(p->stream, p->pairs, patch, to, more != 0u ? to + p->outputs : unused, p->out_min, p->out_span);
    }
}
