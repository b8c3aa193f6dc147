/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/columns.h"
#include "mcugen/conv2d_s8__mve_pairs.h"

MG_DECLARE_conv2d_s8__mve_pairs(MG_KERNEL);

#include "mcugen/conv2d_s8_shared_line__mve.h"

/* Copies n bytes of each row, `start` bytes from where it begins, `apart` bytes apart; nothing for rows outside the image. */
static void MG_VARIANT(copy)(const int8_t *const *rows, uint32_t count, int32_t start, int8_t *to, uint32_t n, uint32_t apart)
{
#if MG_HAS_MVE
    __asm__ volatile("1:\n"
                     "ldr r4, [%0], #4\n"
                     "mov r5, %2\n"
                     "add %2, %2, %5\n"
                     "cbz r4, 3f\n"
                     "add r4, r4, %3\n"
                     "wlstp.8 lr, %4, 3f\n"
                     "2:\n"
                     "vldrb.u8 q0, [r4], #16\n"
                     "vstrb.u8 q0, [r5], #16\n"
                     "letp lr, 2b\n"
                     "3:\n"
                     "subs %1, %1, #1\n"
                     "bne 1b\n"
                     : "+r"(rows), "+r"(count), "+r"(to)
                     : "r"(start), "r"(n), "r"(apart)
                     : "q0", "r4", "r5", "lr", "cc", "memory");
#else
    for (uint32_t k = 0u; k < count; k += 1u) {
        if (rows[k] != NULL && n > 0u) {
            (void)memcpy(to + k * apart, rows[k] + start, n);
        }
    }
#endif
}

/* The patch of the window that begins at a column. */
static void MG_VARIANT(gather)(const mg_conv2d_s8__mve_pairs_params *p, const int8_t *const *rows, int32_t column, int8_t *patch)
{
    const uint32_t in_c = p->in_c, dilation = p->dilation, columns = p->kernel_w, kernel_h = p->kernel_h;
    const uint32_t apart = columns * in_c, extent = (columns - 1u) * dilation;
    const uint32_t within = (uint32_t)((uint32_t)column < p->in_w && (uint32_t)column + extent < p->in_w);
    const mg_columns all = {0u, columns};
    const mg_columns inside = within != 0u ? all : mg_columns_inside(column, p->kernel_w, p->dilation, p->in_w);
    const uint32_t n = inside.end - inside.first;
    const int32_t step = (int32_t)(dilation * in_c);
    int32_t start = column * (int32_t)in_c + (int32_t)inside.first * step;
    int8_t *to = patch + inside.first * in_c;
    if (within == 0u || rows[0] == NULL || rows[kernel_h - 1u] == NULL) {
        mg_fill_bytes(patch, p->in_zero_point, kernel_h * apart);
    }
    if (dilation == 1u) {
        MG_VARIANT(copy)(rows, kernel_h, start, to, n * in_c, apart);
        return;
    }
    for (uint32_t j = 0u; j < n; j += 1u) {
        MG_VARIANT(copy)(rows, kernel_h, start, to, in_c, apart);
        start += step;
        to += in_c;
    }
}

#if MG_HAS_MVE
/* All outputs of one patch. Stack: the patch. r3: end of the blocks; r6: steps less one; r10: end of the full blocks;
 * r11: outputs that repeat. */
static __attribute__((naked)) void MG_VARIANT(alone)(const mg_conv2d_s8__mve_shared_params *p MCUGEN_UNUSED, const int8_t *patch MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        MG_ENTER("8")
        "ldr r5, [r0]\n"
        "ldr r4, [r0, #8]\n"
        MG_LIMITS("12", "14", "16")
        "ldrh r6, [r0, #20]\n"
        "lsl r9, r6, #6\n"
        "add r9, r9, #48\n"
        MG_ENDS("r10", "r9", "r3", "r11")
        "str r1, [sp]\n"
        "mov r1, r2\n"
        "sub r6, r6, #1\n"
        "mov r4, #4\n"
        "vctp.32 r4\n"
        "2:\n"
        "ldr r7, [sp]\n"
        MG_STEP_ONE("", "vldrb.u8", "[r7], #16", "")
        "wls lr, r6, 8f\n"
        "7:\n"
        MG_STEP_ONE("a", "vldrb.u8", "[r7], #16", "")
        "le lr, 7b\n"
        "8:\n"
        MG_FINISH_ONE
        "cmp r5, r10\n"
        "blo.w 2b\n"
        "cmp r5, r3\n"
        "itt ne\n"
        "subne r1, r1, r11\n"
        "bne.w 2b\n"
        MG_LEAVE("8"));
}
#else
static void MG_VARIANT(alone)(mg_conv2d_s8__mve_shared_params *p, const int8_t *patch, int8_t *out)
{
    p->out_w = 1u;
    MG_VARIANT(line)(p, patch, out);
}
#endif

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_pairs_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    mg_conv2d_s8__mve_shared_params pair = {.stream = p->stream, .out_w = 2u, .out_c = p->out_c};
    int32_t column = -(int32_t)p->left;
    (void)y;
    pair.out_zero_point = p->out_zero_point;
    pair.out_min = p->out_min;
    pair.out_max = p->out_max;
    pair.steps = p->steps;
    for (uint32_t left = p->out_w; left > 0u;) {
        MG_VARIANT(gather)(p, rows, column, scratch);
        if (left == 1u) {
            MG_VARIANT(alone)(&pair, scratch, out);
            return;
        }
        MG_VARIANT(gather)(p, rows, column + p->stride, scratch + p->steps * 16u);
        MG_VARIANT(line)(&pair, scratch, out);
        column += 2 * p->stride;
        out += 2u * p->out_c;
        left -= 2u;
    }
}
#include "mcugen/finish_end__mve.h"
