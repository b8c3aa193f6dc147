/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dots_s8.h"

#include <string.h>

#define MG_DOTS 4u

/* sums[j] += sum over k < n of w[j * n + k] * x[k], for four rows of weights. n is at least 1. */
#if defined(__ARM_ARCH_6M__) && defined(__GNUC__)
/* r0: end of x, r1-r4: ends of the rows, r5: index from these ends, r6: x, r7: weight, r8-r11: sums, r12: n */
#define MG_DOT(row, sum) "ldrsb r7, [" row ", r5]\n muls r7, r6, r7\n add " sum ", r7\n"
static void __attribute__((naked, noinline)) mg_four_dots(MCUGEN_UNUSED const int8_t *x, MCUGEN_UNUSED const int8_t *w,
                                                          MCUGEN_UNUSED uint32_t n, MCUGEN_UNUSED int32_t *sums)
{
    __asm__(".syntax unified\n"
            "push {r3, r4, r5, r6, r7, lr}\n"
            "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
            "push {r4, r5, r6, r7}\n"
            "ldmia r3!, {r4, r5, r6, r7}\n mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
            "rsbs r5, r2, #0\n adds r0, r0, r2\n adds r1, r1, r2\n"
            "subs r2, r1, r5\n subs r3, r2, r5\n subs r4, r3, r5\n"
            "1: ldrsb r6, [r0, r5]\n"
            MG_DOT("r1", "r8") MG_DOT("r2", "r9") MG_DOT("r3", "r10") MG_DOT("r4", "r11")
            "adds r5, r5, #1\n bne 1b\n"
            "ldr r0, [sp, #16]\n mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n stmia r0!, {r4, r5, r6, r7}\n"
            "pop {r4, r5, r6, r7}\n"
            "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
            "pop {r3, r4, r5, r6, r7, pc}\n");
}
#else
#define MG_DOT(k)         \
    s0 += w[k] * x[k];    \
    s1 += w1[k] * x[k];   \
    s2 += w2[k] * x[k];   \
    s3 += w3[k] * x[k];
static void mg_four_dots(const int8_t *x, const int8_t *w, uint32_t n, int32_t *sums)
{
    const int8_t *const w1 = w + n, *const w2 = w1 + n, *const w3 = w2 + n;
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    const uint32_t pairs = n & ~1u;
    for (uint32_t k = 0u; k < pairs; k += 2u) {
        MG_DOT(k)
        MG_DOT(k + 1u)
    }
    if (pairs < n) {
        MG_DOT(pairs)
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}
#endif
#undef MG_DOT

/* Computes the outputs of one vector. The last are computed with some before them, so that there are always four. */
static void mg_dots_outputs(const mg_dots_s8_params *p, const int8_t *x, int8_t *out)
{
    for (uint32_t o = 0u; o < p->outputs; o += MG_DOTS) {
        const uint32_t first = o + MG_DOTS > p->outputs ? p->outputs - MG_DOTS : o;
        int32_t sums[MG_DOTS];
        for (uint32_t k = 0u; k < MG_DOTS; k += 1u) {
            sums[k] = p->bias[first + k];
        }
        mg_four_dots(x, p->weights + first * p->taps, p->taps, sums);
        for (uint32_t k = 0u; k < MG_DOTS; k += 1u) {
            const uint32_t scale = (first + k) * p->scale_stride;
            const int32_t scaled = mg_requantize_right(sums[k], p->mult[scale], p->shift[scale]);
            out[first + k] = (int8_t)mg_clamp(scaled + p->out_zero_point, p->out_min, p->out_max);
        }
    }
}

void mg_fully_connected_s8__dots(const mg_dots_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const int8_t *x = in;
    int8_t *y = out;
    for (uint32_t i = 0u; i < n; i += 1u) {
        mg_dots_outputs(p, x, y);
        x += p->taps;
        y += p->outputs;
    }
}

/* Copies the taps of output column x. Adjacent taps of a row are copied together. */
static void mg_dots_gather(const mg_dots_s8_params *p, const int8_t *const *rows, uint32_t x, int8_t *taps)
{
    const int32_t in_w = (int32_t)p->in_w, in_c = (int32_t)p->in_c, dilation = (int32_t)p->dilation_w;
    const int32_t kernel_w = (int32_t)p->kernel_w, width = dilation == 1 ? kernel_w : 1;
    for (int32_t j = 0; j < kernel_w; j += width) {
        const int32_t column = (int32_t)(x * p->stride_w) - (int32_t)p->pad_w + j * dilation;
        const int32_t first = mg_clamp(-column, 0, width), end = mg_clamp(in_w - column, first, width);
        int8_t *to = taps + j * in_c;
        for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
            if (end - first < width) {
                memset(to, p->in_zero_point, (uint32_t)(width * in_c));
            }
            if (end > first) {
                memcpy(to + first * in_c, rows[i] + (column + first) * in_c, (uint32_t)((end - first) * in_c));
            }
            to += kernel_w * in_c;
        }
    }
}

void mg_conv2d_s8__dots(const mg_dots_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
{
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        mg_dots_gather(p, rows, x, scratch);
        mg_dots_outputs(p, scratch, out + x * p->outputs);
    }
}
