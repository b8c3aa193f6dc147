/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_s8.h"

#include "mcugen/swar_two.h"

/* Gathers the taps of `valid` output columns from x on, all inside the image. Further columns repeat the last one. */
static void mg_swar_gather_inside(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t x, uint32_t valid,
                                  uint8_t *patch)
{
    const uint32_t run = (uint32_t)p->kernel_w * p->in_c, step = (uint32_t)p->stride_w * p->in_c;
    const uint32_t first = x * step - (uint32_t)p->pad_w * p->in_c;
    uint8_t *to = patch;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        const int8_t *from[MG_SWAR_PIXELS];
        const int8_t *at = rows[i] + first;
        for (uint32_t k = 0u; k < MG_SWAR_PIXELS; k += 1u) {
            from[k] = at;
            at += k + 1u < valid ? step : 0u;
        }
        mg_swar_spread(from, to, run);
        to += MG_SWAR_PIXELS * run;
    }
}

/* mg_swar_gather_inside tap by tap, for taps that are outside the image or not adjacent. */
static void mg_swar_gather_apart(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t x, uint32_t valid,
                                 uint8_t *patch)
{
    uint8_t *to = patch;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int8_t *from[MG_SWAR_PIXELS];
            for (uint32_t k = 0u; k < MG_SWAR_PIXELS; k += 1u) {
                const uint32_t column = x + (k < valid ? k : valid - 1u);
                from[k] = mg_swar_column(p, rows[i], column * p->stride_w + j * p->dilation_w - p->pad_w);
            }
            mg_swar_spread(from, to, p->in_c);
            to += MG_SWAR_PIXELS * p->in_c;
        }
    }
}

/* Sets the addresses of the outputs of a block's pixels. Pixels behind the first `valid` repeat the last one, whose
 * outputs are then stored again. */
static void mg_swar_target(const mg_swar_s8_params *p, int8_t *to, uint32_t valid, int8_t **out)
{
    for (uint32_t k = 0u; k < MG_SWAR_PIXELS; k += 1u) {
        out[k] = to + (k < valid ? k : valid - 1u) * p->outputs;
    }
}

void mg_conv2d_s8__swar(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
{
    uint8_t *const patch = scratch;
    int8_t *to[MG_SWAR_PIXELS];
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += MG_SWAR_PIXELS) {
        const uint32_t valid = p->out_w - x < MG_SWAR_PIXELS ? p->out_w - x : MG_SWAR_PIXELS;
        if (x >= p->inside_first && x + valid <= p->inside_end) {
            mg_swar_gather_inside(p, rows, x, valid, patch);
        } else {
            mg_swar_gather_apart(p, rows, x, valid, patch);
        }
        mg_swar_target(p, out + x * p->outputs, valid, to);
        mg_swar_block(p->stream, p->pairs, patch, to, p->out_min, p->out_span, p->taps);
    }
}

void mg_conv2d_s8__swar_pointwise(const mg_swar_s8_params *p, const int8_t *in, int8_t *out, void *scratch, uint32_t n)
{
    uint8_t *const patch = scratch;
    const int8_t *from[MG_SWAR_PIXELS];
    int8_t *to[MG_SWAR_PIXELS];
    for (uint32_t i = 0u; i < n; i += MG_SWAR_PIXELS) {
        const uint32_t valid = n - i < MG_SWAR_PIXELS ? n - i : MG_SWAR_PIXELS;
        for (uint32_t k = 0u; k < MG_SWAR_PIXELS; k += 1u) {
            from[k] = in + (i + (k < valid ? k : valid - 1u)) * p->taps;
        }
        mg_swar_spread(from, patch, p->taps);
        mg_swar_target(p, out + i * p->outputs, valid, to);
        mg_swar_block(p->stream, p->pairs, patch, to, p->out_min, p->out_span, p->taps);
    }
}
