/* SPDX-License-Identifier: Apache-2.0
 *
 * 1x1 convolution with stride 1 of int8 pixels on cores with SMLAD: three pixels at a time are widened and gathered.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over channels of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * x        int8 [n][in_c], in_c >= 4
 * scratch  int16 [words][3][2]: two channels of each of three pixels; each group of four channels in the order 0, 2, 1,
 *          3. If in_c is not a multiple of 4, group in_c / 4 holds the last four channels, with zero weights for those
 *          that are also in the group before. Further elements have zero weights
 * stream   weights, biases and scales, up to `last`: see dsp_block_template.h; pairs_end: end of the last whole pair of
 *          channels
 * low, high  the clamp; clamps: 1 if it is narrower than int8
 * The build has proved that no sum leaves 32 bits. Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_DSP_RUN_H
#define MCUGEN_DSP_RUN_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *stream;
    uint32_t pairs_end, last;
    uint32_t words;
    uint16_t in_c, out_c;
    int16_t low, high;
    uint8_t clamps;
} mg_dsp_run_params;

#define MG_DECLARE_dsp_run(f) \
    MG_LINKAGE void f(const mg_dsp_run_params *p, const int8_t *in, int8_t *out, mg_s16 *scratch, uint32_t n)

#endif /* MCUGEN_DSP_RUN_H */
