/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output row of a depthwise convolution with 3x3 taps, see columns_s8.h.
 * MG_OUTPUTS: outputs of a channel, 1 to 6. MG_LEFT, MG_RIGHT: columns of padding that the first and the last of them
 * read, 0 or 1. MG_CHANNELS: channels. MG_LEAST: least output plus 128. MG_SPAN: largest output minus the least.
 */
#include "mcugen/columns_s8.h"

MG_DECLARE_depthwise_conv2d_s8__columns(MG_KERNEL);

#if defined(__ARM_ARCH_6M__) && defined(__GNUC__)
#include "mcugen/columns_thumb1_template.h"
#else

/* Adds column c of the windows, counted from the padding, to the outputs whose tap 2, 1 or 0 it is. */
#define MG_COLUMN(c, two, one, zero)                      \
    if ((c) >= MG_LEFT && (c) < MG_OUTPUTS + 2 - MG_RIGHT) { \
        const int32_t x = *row;                           \
        row += MG_CHANNELS;                               \
        if ((c) >= 2) {                                   \
            two += w2 * x;                                \
        }                                                 \
        if ((c) >= 1 && (c) <= MG_OUTPUTS) {              \
            one += w1 * x;                                \
        }                                                 \
        if ((c) < MG_OUTPUTS) {                           \
            zero += w0 * x;                               \
        }                                                 \
    }

/* Scales and stores output k. */
#define MG_OUTPUT(k, sum)                                                                  \
    if ((k) < MG_OUTPUTS) {                                                                \
        const int32_t scaled = ((((sum) * low) >> 13) + (sum) * high + rounding) >> shift;  \
        to[(k) * MG_CHANNELS] = (int8_t)(mg_clamp(scaled, 0, MG_SPAN) + (MG_LEAST - 128));  \
    }

MG_LINKAGE void MG_KERNEL(const mg_columns_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const uint32_t *w = p->stream;
    (void)y;
    for (uint32_t c = 0u; c < MG_CHANNELS; c += 1u) {
        const int32_t inner = (int32_t)w[1], end = (int32_t)w[2];
        int32_t s0 = (int32_t)w[0], s1 = MG_OUTPUTS == 2 ? end : inner, s2 = MG_OUTPUTS == 3 ? end : inner;
        int32_t s3 = MG_OUTPUTS == 4 ? end : inner, s4 = MG_OUTPUTS == 5 ? end : inner, s5 = end;
        int8_t *const to = out + c;
        w += 3;
        for (uint32_t i = 0u; i < 3u; i += 1u) {
            const int32_t w0 = (int32_t)w[0], w1 = (int32_t)w[1], w2 = (int32_t)w[2];
            const int8_t *row = rows[i] + c;
            MG_COLUMN(0, s0, s0, s0)
            MG_COLUMN(1, s0, s0, s1)
            MG_COLUMN(2, s0, s1, s2)
            MG_COLUMN(3, s1, s2, s3)
            MG_COLUMN(4, s2, s3, s4)
            MG_COLUMN(5, s3, s4, s5)
            MG_COLUMN(6, s4, s5, s5)
            MG_COLUMN(7, s5, s5, s5)
            w += 3;
        }
        const int32_t high = (int32_t)w[0], rounding = (int32_t)w[1], low = (int32_t)(w[2] & 0xffffu);
        const uint32_t shift = w[2] >> 16;
        MG_OUTPUT(0, s0)
        MG_OUTPUT(1, s1)
        MG_OUTPUT(2, s2)
        MG_OUTPUT(3, s3)
        MG_OUTPUT(4, s4)
        MG_OUTPUT(5, s5)
        w += 3;
    }
}

#undef MG_COLUMN
#undef MG_OUTPUT

#endif
