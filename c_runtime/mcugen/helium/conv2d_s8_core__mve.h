/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the kernels of conv2d_s8__mve.h: storing an input row, and computing an output row.
 *
 * MG_PATCHES  1: pixels are gathered patches; 0: they are read from rows
 * MG_ROW      type, linkage and name of the function that stores a row
 * MG_ALONE    with MG_PATCHES: 1: an odd last pixel is computed alone
 */
#include "mcugen/dense_s8_asm__mve.h"

#if MG_PATCHES
#define MG_BLOCK (MG_STEPS * 64 + 48)
#else
#define MG_BLOCK (MG_ROWS * MG_STEPS * 64 + 48)
#endif
#include "mcugen/finish_begin__mve.h"

MG_ROW(const mg_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row)
{
    const uint32_t room = p->row_bytes - p->left_bytes, columns = (uint32_t)p->in_w * p->row_c;
    const uint32_t used = columns < room ? columns : room;
    if (in == NULL) {
        mg_fill_bytes(row, p->in_zero_point, p->row_bytes);
        return;
    }
    mg_fill_bytes(row, p->in_zero_point, p->left_bytes);
    if (p->in_c == p->row_c) {
        mg_copy_bytes(row + p->left_bytes, in, used);
    } else {
        for (uint32_t x = 0u; x < used; x += p->row_c) {
            mg_copy_bytes(row + p->left_bytes + x, in, used - x < p->in_c ? used - x : p->in_c);
            in += p->in_c;
        }
    }
    mg_fill_bytes(row + p->left_bytes + used, p->in_zero_point, room - used);
}

#if MG_HAS_MVE
/* Operands of loads of 16 elements: of the first pixel, and of the second pixel. */
#if MG_PATCHES
#define MG_FIRST(row) "[r7, #offset - 496]\n"
#define MG_SECOND(row) "[r9, #offset - 496]\n"
#define MG_ROW_COUNT "1"
#else
#define MG_FIRST(row) "[" row ", #offset]\n"
#define MG_SECOND(row) "[" row ", #offset + " MG_TEXT(MG_PIXEL) "]\n"
#define MG_ROW_COUNT MG_TEXT(MG_ROWS)
#endif
#if MG_PATCHES || MG_WORDS
#define MG_LOAD "vldrw.u32"
#else
#define MG_LOAD "vldrb.u8"
#endif
#define MG_ROW_LOADS(a, row) MG_STEP_PAIR(a, MG_LOAD, MG_FIRST(row), MG_SECOND(row))

#if !MG_PATCHES
#define MG_ALONE 0
#endif
#if MG_EIGHTS
#include "mcugen/conv2d_s8_eights__mve.h"
#else

/* Computes two pixels at a time. If the number of pixels is odd, the last but one is computed twice; for a single
 * pixel, the second result is overwritten.
 * Stack, offset from sp: 0: start of the last pixel's outputs, 4: out_c, 8: stream, 12: end of the full blocks, 16: end
 * of all blocks, 20: number of outputs that the last block repeats */
static __attribute__((naked)) void MG_VARIANT(line)(const mg_conv2d_s8__mve_params *p MCUGEN_UNUSED, const int8_t *const *rows MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        MG_ENTER("24")
        "ldrd r5, r6, [r0]\n"
        MG_LIMITS("12", "14", "16")
        "ldr r4, [r0, #8]\n"
        "movw r9, #" MG_TEXT(MG_BLOCK) "\n"
        MG_ENDS("r10", "r9", "r12", "r11")
        "sub r6, r6, #1\n"
        "mla r3, r6, r4, r2\n"
        "strd r3, r4, [sp, #0]\n"
        "strd r5, r10, [sp, #8]\n"
        "strd r12, r11, [sp, #16]\n"
        "ldr r7, [r1, #0]\n"
        ".if " MG_TEXT(MG_PATCHES) "\n"
        "add r7, r7, #496\n"
        "add r9, r7, #" MG_TEXT(MG_PIXEL) "\n"
        ".endif\n"
        ".if " MG_ROW_COUNT " > 1\n"
        "ldr r9, [r1, #4]\n"
        ".endif\n"
        ".if " MG_ROW_COUNT " > 2\n"
        "ldr r11, [r1, #8]\n"
        ".endif\n"
        "mov r1, r2\n"
        "mov r3, r2\n"
        "cmp r6, #0\n"
        "it ne\n"
        "addne r3, r3, r4\n"
        "2:\n"
        ".set offset, 0\n"
        MG_ROW_LOADS("", "r7")
        ".rept " MG_TEXT(MG_STEPS) " - 1\n"
        ".set offset, offset + 16\n"
        MG_ROW_LOADS("a", "r7")
        ".endr\n"
        ".if " MG_ROW_COUNT " > 1\n"
        ".set offset, 0\n"
        ".rept " MG_TEXT(MG_STEPS) "\n"
        MG_ROW_LOADS("a", "r9")
        ".set offset, offset + 16\n"
        ".endr\n"
        ".endif\n"
        ".if " MG_ROW_COUNT " > 2\n"
        ".set offset, 0\n"
        ".rept " MG_TEXT(MG_STEPS) "\n"
        MG_ROW_LOADS("a", "r11")
        ".set offset, offset + 16\n"
        ".endr\n"
        ".endif\n"
        MG_FINISH_PAIR
        "ldrd r0, r2, [sp, #12]\n"
        "cmp r5, r0\n"
        "blo.w 2b\n"
        "cmp r5, r2\n"
        "bne 4f\n"
        "ldmia sp, {r0, r4, r5}\n"
        "mov r1, r3\n"
        "add r3, r3, r4\n"
        "addw r7, r7, #2 * " MG_TEXT(MG_PIXEL) "\n"
        ".if " MG_ROW_COUNT " > 1 || " MG_TEXT(MG_PATCHES) "\n"
        "addw r9, r9, #2 * " MG_TEXT(MG_PIXEL) "\n"
        ".endif\n"
        ".if " MG_ROW_COUNT " > 2\n"
        "addw r11, r11, #2 * " MG_TEXT(MG_PIXEL) "\n"
        ".endif\n"
        "cmp r1, r0\n"
        "blo.w 2b\n"
        "bne 6f\n"
        "sub r1, r1, r4\n"
        "sub r3, r3, r4\n"
        "subw r7, r7, #" MG_TEXT(MG_PIXEL) "\n"
        "subw r9, r9, #" MG_TEXT(MG_PIXEL) "\n"
        "subw r11, r11, #" MG_TEXT(MG_PIXEL) "\n"
        "b.w 2b\n"
        MG_AGAIN("20")
        "6:\n"
        MG_LEAVE("24"));
}
#endif
#undef MG_ROW_LOADS
#undef MG_ROW_COUNT
#undef MG_FIRST
#undef MG_SECOND
#undef MG_LOAD
#else
/* Sum of the products of one output, kernel row by kernel row. offset: elements from the start of a row to the pixel.
 */
static int32_t MG_VARIANT(sum)(const int8_t *const *rows, uint32_t offset, const int8_t *w)
{
    int32_t sum = 0;
    for (uint32_t k = 0u; k < (MG_PATCHES ? 1u : MG_ROWS); k += 1u) {
        for (uint32_t i = 0u; i < MG_STEPS * 16u; i += 1u) {
            sum += rows[k][offset + i] * w[(k * MG_STEPS + i / 16u) * 64u + i % 16u];
        }
    }
    return sum;
}

static void MG_VARIANT(line)(const mg_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out)
{
    for (uint32_t i = 0u; i < p->out_w * p->out_c; i += 1u) {
        const uint32_t o = i % p->out_c, left = p->out_c % 4u, repeated = o >= p->out_c - left ? 4u - left : 0u;
        const uint32_t at = MG_EIGHTS ? o / 8u * 2u + o % 2u : (o + repeated) / 4u;
        const uint32_t lane = MG_EIGHTS ? o % 8u / 2u : (o + repeated) % 4u;
        const int8_t *const block = p->stream + at * MG_BLOCK;
        int32_t rest[3];
        for (uint32_t k = 0u; k < 3u; k += 1u) {
            (void)memcpy(&rest[k], block + (MG_BLOCK - 48) + k * 16u + lane * 4u, 4u);
        }
        rest[0] += MG_VARIANT(sum)(rows, i / p->out_c * MG_PIXEL, block + lane * 16u);
        out[i] = (int8_t)mg_clamp(MG_SCALED(rest[0], rest[1], rest[2]) + p->out_zero_point, p->out_min, p->out_max);
    }
}
#endif
#undef MG_BLOCK
#if !MG_PATCHES
#undef MG_ALONE
#endif
#include "mcugen/finish_end__mve.h"
