/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/columns.h"
#include "mcugen/conv2d_s8__mve_pairs.h"

MG_DECLARE_conv2d_s8__mve_pairs(MG_KERNEL);

#include "mcugen/conv2d_s8_shared_pixel__mve.h"

/* Pairs of adjacent windows.
 * rows, count  kernel rows inside the image; in the first patch they begin at `to`
 * patches      the two patches
 * first        bytes from the start of a row to the pair's first window
 * advance      bytes from a pair's first window to the first window of the next pair
 * window_step  bytes from the pair's first window to the second
 * n            bytes of each row that are copied
 * next         bytes in a patch from the end of a copied row, rounded up to whole vectors, to the next row
 * pairs        pairs left
 * gathered     1 if the first pair is in its patches already */
typedef struct {
    const int8_t *const *rows;
    uint32_t count;
    int8_t *patches, *to;
    int32_t first, advance, window_step;
    uint32_t n, next, pairs, gathered;
} MG_VARIANT(run);

/* Copies n bytes of each row, from `first` bytes behind the row's start on. In `to`, rows begin row_step bytes apart.
 */
static void MG_VARIANT(copy)(const MG_VARIANT(run) *run, int32_t first, int8_t *to, uint32_t n, uint32_t row_step)
{
    const int8_t *const *rows = run->rows, *const *const end = rows + run->count;
    for (; rows < end; rows += 1) {
        mg_copy_bytes(to, *rows + first, n);
        to += row_step;
    }
}

/* Gathers a window into the patch that is `offset` bytes behind the first patch. column: where the window begins. */
static void MG_VARIANT(gather)(const mg_conv2d_s8__mve_pairs_params *p, const MG_VARIANT(run) *run, int32_t column, uint32_t offset)
{
    const uint32_t in_c = p->in_c, dilation = p->dilation, row_step = p->kernel_w * in_c;
    const mg_columns columns = mg_columns_inside(column, p->kernel_w, p->dilation, p->in_w);
    const uint32_t n = columns.end - columns.first, runs = dilation > 1u ? n : 1u, nbytes = dilation > 1u ? in_c : n * in_c;
    int32_t first = (column + (int32_t)(columns.first * dilation)) * (int32_t)in_c;
    int8_t *to = run->to + offset + columns.first * in_c;
    if (n < p->kernel_w) {
        mg_fill_bytes(run->patches + offset, p->in_zero_point, p->kernel_h * row_step);
    }
    for (uint32_t j = 0u; j < runs; j += 1u) {
        MG_VARIANT(copy)(run, first, to, nbytes, row_step);
        first += (int32_t)(dilation * in_c);
        to += in_c;
    }
}

#if MG_HAS_MVE
/* Computes the outputs of a run of pairs.
 * Stack, offset from sp: 0: run, 4: out_c, 8: stream, 12: end of the full blocks, 16: end of all blocks, 20: number of
 * outputs that the last block repeats, 24: steps - 1, 28: bytes of a patch */
static __attribute__((naked)) void MG_VARIANT(strip)(const mg_conv2d_s8__mve_pairs_params *p MCUGEN_UNUSED, MG_VARIANT(run) *run MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        MG_ENTER("32")
        "ldr r5, [r0]\n"
        "ldr r4, [r0, #8]\n"
        MG_LIMITS("12", "14", "16")
        "ldrh r8, [r0, #20]\n"
        "lsl r9, r8, #6\n"
        "add r9, r9, #48\n"
        MG_ENDS("r10", "r9", "r12", "r11")
        "strd r12, r11, [sp, #16]\n"
        "strd r1, r4, [sp]\n"
        "strd r5, r10, [sp, #8]\n"
        "sub r11, r8, #1\n"
        "lsl r8, r8, #4\n"
        "strd r11, r8, [sp, #24]\n"
        "mov r0, r1\n"
        "add r3, r2, r4\n"
        "mov r1, r2\n"
        "mov r4, r8\n"
        "ldr r8, [r0, #16]\n"
        "ldr r2, [r0, #40]\n"
        "cmp r2, #0\n"
        "beq.w 12f\n"
        "ldr r7, [r0, #8]\n"
        "add r9, r7, r4\n"
        "2:\n"
        MG_TWO_PATCHES("24")
        "ldr r4, [sp, #28]\n"
        "sub r7, r7, r4\n"
        "sub r9, r9, r4\n"
        "ldrd r0, r2, [sp, #12]\n"
        "cmp r5, r0\n"
        "blo.w 2b\n"
        "cmp r5, r2\n"
        "bne 4f\n"
        "ldrd r0, r6, [sp]\n"
        "ldr r2, [r0, #36]\n"
        "subs r2, r2, #1\n"
        "beq 6f\n"
        "str r2, [r0, #36]\n"
        "mov r1, r3\n"
        "add r3, r3, r6\n"
        "ldrd r8, r2, [r0, #16]\n"
        "add r8, r8, r2\n"
        "str r8, [r0, #16]\n"
        "12:\n"
        "ldrd r2, r11, [r0, #24]\n"
        "add r12, r8, r2\n"
        "ldr r10, [r0, #32]\n"
        "ldr r7, [r0, #12]\n"
        "add r9, r7, r4\n"
        "ldrd r6, r4, [r0]\n"
        "9:\n"
        "ldr r0, [r6], #4\n"
        "add r2, r0, r12\n"
        "add r0, r0, r8\n"
        "wlstp.8 lr, r11, 11f\n"
        "10:\n"
        "vldrb.u8 q0, [r0], #16\n"
        "vldrb.u8 q1, [r2], #16\n"
        "vstrb.u8 q0, [r7], #16\n"
        "vstrb.u8 q1, [r9], #16\n"
        "letp lr, 10b\n"
        "11:\n"
        "add r7, r7, r10\n"
        "add r9, r9, r10\n"
        "subs r4, r4, #1\n"
        "bne 9b\n"
        "ldr r0, [sp]\n"
        "ldr r4, [sp, #28]\n"
        "ldr r5, [sp, #8]\n"
        "ldr r7, [r0, #8]\n"
        "add r9, r7, r4\n"
        "b.w 2b\n"
        MG_AGAIN("20")
        "6:\n"
        MG_LEAVE("32"));
}

/* Computes all outputs of one patch.
 * r3: end of all blocks, r6: steps - 1, r10: end of the full blocks, r11: number of outputs that the last block
 * repeats. Stack, offset from sp: 0: patch */
static __attribute__((naked)) void MG_VARIANT(alone)(const mg_conv2d_s8__mve_pairs_params *p MCUGEN_UNUSED, const int8_t *patch MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
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
static void MG_VARIANT(alone)(const mg_conv2d_s8__mve_pairs_params *p, const int8_t *patch, int8_t *out)
{
    mg_conv2d_s8__mve_shared_params one = {.stream = p->stream, .out_c = p->out_c, .out_zero_point = p->out_zero_point};
    one.out_min = p->out_min;
    one.out_max = p->out_max;
    one.steps = p->steps;
    MG_VARIANT(pixel)(&one, patch, out);
}

static void MG_VARIANT(strip)(const mg_conv2d_s8__mve_pairs_params *p, MG_VARIANT(run) *run, int8_t *out)
{
    const uint32_t length = p->steps * 16u;
    for (;;) {
        if (run->gathered == 0u) {
            MG_VARIANT(copy)(run, run->first, run->to, run->n, run->n);
            MG_VARIANT(copy)(run, run->first + run->window_step, run->to + length, run->n, run->n);
        }
        MG_VARIANT(alone)(p, run->patches, out);
        MG_VARIANT(alone)(p, run->patches + length, out + p->out_c);
        out += 2u * p->out_c;
        run->pairs -= 1u;
        if (run->pairs == 0u) {
            return;
        }
        run->gathered = 0u;
        run->first += run->advance;
    }
}
#endif

/* Sets the run to the kernel rows inside the image, of which there may be none. If some rows are outside, fills the
 * patches with the zero point first. */
static void MG_VARIANT(begin)(const mg_conv2d_s8__mve_pairs_params *p, MG_VARIANT(run) *run, const int8_t *const *rows, int8_t *patches)
{
    uint32_t count = p->kernel_h;
    run->patches = patches;
    run->to = patches;
    for (; count > 0u && *rows == NULL; count -= 1u) {
        rows += 1;
        run->to += p->kernel_w * p->in_c;
    }
    while (count > 0u && rows[count - 1u] == NULL) {
        count -= 1u;
    }
    if (count < p->kernel_h) {
        mg_fill_bytes(patches, p->in_zero_point, p->steps * 32u);
    }
    run->rows = rows;
    run->count = count;
    run->window_step = (int32_t)p->stride * p->in_c;
    run->advance = 2 * run->window_step;
    run->n = (uint32_t)p->kernel_w * p->in_c;
    run->next = run->n - ((run->n + 15u) & ~15u);
}

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_pairs_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    const uint32_t reach = p->kernel_w - 1u + p->stride;
    MG_VARIANT(run) run;
    int32_t column = -(int32_t)p->left;
    (void)y;
    MG_VARIANT(begin)(p, &run, rows, scratch);
    for (uint32_t left = p->out_w, pairs = 1u; left > 0u; left -= 2u * pairs) {
        if (left == 1u) {
            MG_VARIANT(gather)(p, &run, column, 0u);
            MG_VARIANT(alone)(p, scratch, out);
            return;
        }
        run.gathered = (uint32_t)(p->dilation > 1u || run.count == 0u || (uint32_t)column >= p->in_w || (uint32_t)column + reach >= p->in_w);
        if (run.gathered != 0u) {
            pairs = 1u;
            MG_VARIANT(gather)(p, &run, column, 0u);
            MG_VARIANT(gather)(p, &run, column + p->stride, p->steps * 16u);
        } else {
            pairs = (p->in_w - (uint32_t)column - reach - 1u) / (2u * p->stride) + 1u;
            pairs = pairs < left / 2u ? pairs : left / 2u;
        }
        run.first = column * (int32_t)p->in_c;
        run.pairs = pairs;
        MG_VARIANT(strip)(p, &run, out);
        column += (int32_t)(2u * pairs * p->stride);
        out += 2u * pairs * p->out_c;
    }
}
#include "mcugen/finish_end__mve.h"
