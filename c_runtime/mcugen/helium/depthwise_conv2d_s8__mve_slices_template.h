/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/depthwise_conv2d_s8__mve.h"

MG_DECLARE_depthwise_conv2d_s8__mve_slices(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#define MG_SLICED 1
#include "mcugen/depthwise_conv2d_s8_blocks__mve.h"
#undef MG_SLICED

#define MG_FROM(start, step) "cmp " step ", #0\n it ne\n addne " start ", " start ", %3\n"

/* Interleaves 16 bytes of four rows into words with a byte of each, n times: 16 channels of n pixels, or 16 * n
 * channels of one pixel. from: the first channel. */
static void MG_VARIANT(weave)(const mg_sliced_rows *rows, uint32_t from, int8_t *out, uint32_t n)
{
#if MG_HAS_MVE
    __asm__ volatile("ldmia %2, {r4, r5, r6, r8, r9, r10, r11, r12}\n"
                     MG_FROM("r4", "r9") MG_FROM("r5", "r10") MG_FROM("r6", "r11") MG_FROM("r8", "r12")
                     "dls lr, %1\n"
                     "1:\n"
                     "vldrb.u8 q0, [r4]\n"
                     "vldrb.u8 q1, [r5]\n"
                     "vldrb.u8 q2, [r6]\n"
                     "vldrb.u8 q3, [r8]\n"
                     "add r4, r4, r9\n"
                     "add r5, r5, r10\n"
                     "vst40.8 {q0, q1, q2, q3}, [%0]\n"
                     "add r6, r6, r11\n"
                     "vst41.8 {q0, q1, q2, q3}, [%0]\n"
                     "add r8, r8, r12\n"
                     "vst42.8 {q0, q1, q2, q3}, [%0]\n"
                     "vst43.8 {q0, q1, q2, q3}, [%0]!\n"
                     "le lr, 1b\n"
                     : "+r"(out)
                     : "r"(n), "r"(rows), "r"(from)
                     : "q0", "q1", "q2", "q3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
#else
    for (uint32_t i = 0u; i < n * 16u; i += 1u) {
        for (uint32_t j = 0u; j < 4u; j += 1u) {
            const int8_t *const start = rows->start[j] + (rows->step[j] != 0u ? from : 0u);
            out[i * 4u + j] = start[i / 16u * rows->step[j] + i % 16u];
        }
    }
#endif
}

/* Sets the rows of each group. Rows outside the image are read from `outside`. */
static void MG_VARIANT(gather)(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows,
                               const int8_t *outside, mg_sliced_rows *groups)
{
    const uint32_t last = p->kernel_h - 1u, step = p->in_bytes == p->channels ? 16u : p->channels;
    for (uint32_t k = 0u; k <= last; k += 4u) {
        mg_sliced_rows *const four = &groups[k / 4u];
        for (uint32_t j = 0u; j < 4u; j += 1u) {
            const int8_t *const row = rows[k + j < last ? k + j : last];
            four->start[j] = row != NULL ? row : outside;
            four->step[j] = row != NULL ? step : 0u;
        }
    }
}

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    const uint32_t left = p->left_bytes / p->channels, room = p->row_bytes / p->slice - left;
    const uint32_t width = p->in_bytes / p->channels, n = width < room ? width : room, word = 4u * p->slice;
    const uint32_t groups = (p->kernel_h + 3u) / 4u, woven = groups * 4u * p->row_bytes;
    const int8_t *stream = p->stream;
    const uint32_t vectors = width == 1u ? p->slice / 16u : n;
    mg_sliced_rows four[4];
    (void)y;
    mg_fill_bytes(scratch + woven, p->in_zero_point, 16u);
    for (uint32_t k = 0u; k < woven; k += 4u * p->row_bytes) {
        mg_fill_bytes(scratch + k, p->in_zero_point, left * word);
        mg_fill_bytes(scratch + k + (left + n) * word, p->in_zero_point, (room - n) * word);
    }
    MG_VARIANT(gather)(p, rows, scratch + woven, four);
    for (uint32_t c = 0u; c < p->channels; c += p->slice) {
        const uint32_t from = c + p->slice <= p->channels ? c : p->channels - p->slice;
        for (uint32_t k = 0u; k < groups; k += 1u) {
            MG_VARIANT(weave)(&four[k], from, scratch + k * 4u * p->row_bytes + left * word, vectors);
        }
        MG_VARIANT(compute)(p, scratch, out + from, stream);
        stream += 28u * p->slice;
    }
}
#undef MG_FROM
#include "mcugen/finish_end__mve.h"
