/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/planar_s8.h"

#include "mcugen/dsp_clamp.h"

/* Converts `count` channels of a row, value by value. */
static void mg_planar_spread(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row, uint32_t count)
{
    for (uint32_t c = 0u; c < count; c += 1u) {
        mg_s16 *const to = row + c * p->step;
        for (uint32_t j = 0u; j < p->columns; j += 1u) {
            const uint32_t column = j - p->pad; /* wraps to a large number for columns before the image */
            to[j] = column < p->in_w ? (int16_t)in[column * p->channels + c] : p->in_zero_point;
        }
    }
}

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Arguments of mg_planar_fours. For four channels at a time it converts groups of four pixels, then up to three pixels,
 * then adds padding.
 * in_step      bytes from a pixel to the next
 * advance      bytes from the end of a group's last row to the first row of the next four channels
 * step         bytes from a channel's row to the next channel's
 * back         bytes from the end of the groups of four pixels back to the first pixel, minus the bytes of four
 *              channels
 * end          value of `in` after the groups of four pixels of the last channels
 * fours        2 * number of groups of four pixels, plus 1 if the row begins with a pixel outside the image
 * rest         number of pixels behind the groups of four
 * padding      words of padding behind the pixels
 * zeros        the zero point in four bytes: a pixel outside the image */
typedef struct {
    uint32_t in_step;
    uint32_t advance, step, back, end;
    uint32_t fours;
    uint32_t rest, padding, zeros;
} mg_planar_job;

/* Converts pixels a and b (registers) to a word of each channel. t, u, a and b are clobbered. */
#define MG_PLANAR_TWO(a, b, t, u)                                                              \
    "pkhbt " t ", " a ", " b ", lsl #16\n pkhtb " a ", " b ", " a ", asr #16\n"                \
    "sxtb16 " u ", " t "\n sxtb16 " t ", " t ", ror #8\n str " u ", [r2], #4\n str " t ", [r3], #4\n" \
    "sxtb16 " u ", " a "\n sxtb16 " a ", " a ", ror #8\n str " u ", [r12], #4\n str " a ", [lr], #4\n"

/* Converts pixels r4, r5, r6 and d to two words of each channel; d may be r7. */
#define MG_PLANAR_FOUR(d)                                                                                \
    "pkhbt r8, r4, r5, lsl #16\n pkhtb r4, r5, r4, asr #16\n"                                            \
    "pkhbt r5, r6, " d ", lsl #16\n pkhtb r6, " d ", r6, asr #16\n"                                      \
    "sxtb16 r7, r8\n sxtb16 r9, r5\n strd r7, r9, [r2], #8\n"                                            \
    "sxtb16 r8, r8, ror #8\n sxtb16 r5, r5, ror #8\n strd r8, r5, [r3], #8\n"                            \
    "sxtb16 r7, r4\n sxtb16 r9, r6\n strd r7, r9, [r12], #8\n"                                           \
    "sxtb16 r4, r4, ror #8\n sxtb16 r6, r6, ror #8\n strd r4, r6, [lr], #8\n"

/* Converts all groups of four channels, see mg_planar_job.
 * r0: in, r1: in_step, r2, r3, r12, lr: rows of the four channels, r4-r9: data, r10: number of groups of four pixels
 * left, then of pixels, then of words of padding, r11: zeros */
__attribute__((naked)) static void mg_planar_fours(const int8_t *in MCUGEN_UNUSED, mg_s16 *row MCUGEN_UNUSED,
                                                   const mg_planar_job *job MCUGEN_UNUSED)
{
    __asm__("push {r4-r11, lr}\n"
            "mov r3, r1\n"
            "ldm r2, {r1, r4-r11}\n"
            "push {r4-r10}\n"
            "mov r2, r3\n"
            "mov r10, r8\n"
            "b 2f\n"
            "1:\n"
            "ldm sp, {r4-r7, r10}\n"
            "cmp r0, r7\n"
            "beq 9f\n"
            "sub r0, r0, r6\n"
            "add r2, lr, r4\n"
            "2:\n"
            "add r3, r2, r5\n"
            "add r12, r3, r5\n"
            "add lr, r12, r5\n"
            "lsrs r10, r10, #1\n"
            "beq 5f\n"
            "mov r4, r11\n"
            "bcs 4f\n"
            "3:\n"
            "ldr r4, [r0]\n"
            "4:\n"
            "ldr r5, [r0, r1]\n"
            "ldr r6, [r0, r1, lsl #1]\n"
            "add r0, r0, r1, lsl #1\n"
            "ldr r7, [r0, r1]\n"
            "add r0, r0, r1, lsl #1\n" MG_PLANAR_FOUR("r7")
            "subs r10, r10, #1\n"
            "bne 3b\n"
            "ldr r10, [sp, #20]\n"
            "cmp r10, #0\n"
            "beq 7f\n"
            "ldr r4, [r0]\n"
            "b 6f\n"
            "5:\n" /* fewer than four pixels */
            "ldr r10, [sp, #20]\n"
            "mov r4, r11\n"
            "it cc\n"
            "ldrcc r4, [r0]\n"
            "6:\n"
            "mov r5, r11\n"
            "cmp r10, #2\n"
            "it hs\n"
            "ldrhs r5, [r0, r1]\n"
            "bhi 8f\n" MG_PLANAR_TWO("r4", "r5", "r8", "r7")
            "7:\n"
            "ldr r10, [sp, #24]\n"
            "cmp r10, #0\n"
            "beq 1b\n"
            "sxtb16 r4, r11\n"
            "10:\n"
            "str r4, [r2], #4\n"
            "str r4, [r3], #4\n"
            "str r4, [r12], #4\n"
            "str r4, [lr], #4\n"
            "subs r10, r10, #1\n"
            "bne 10b\n"
            "b 1b\n"
            "8:\n"
            "ldr r6, [r0, r1, lsl #1]\n" MG_PLANAR_FOUR("r11")
            "b 7b\n"
            "9:\n"
            "add sp, sp, #28\n"
            "pop {r4-r11, pc}\n");
}

/* Converts 4 * count channels, from `in` on. */
static void mg_planar_groups(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row, uint32_t count)
{
    const uint32_t before = p->pad % 2u, pixels = p->in_w + before, rest = pixels % 4u, words = (rest + 1u) / 2u;
    const uint32_t fours = pixels / 4u, used = p->pad / 2u + 2u * fours + words, padding = p->columns / 2u - used;
    const uint32_t run = 4u * fours * p->channels;
    const int8_t *const start = in - before * p->channels;
    mg_planar_job job;
    job.in_step = p->channels;
    job.advance = 2u * (uint32_t)p->step - (2u * p->columns - 4u * (p->pad / 2u));
    job.step = 2u * (uint32_t)p->step;
    job.back = run - 4u;
    job.end = (uint32_t)(uintptr_t)start + run + 4u * (count - 1u);
    job.fours = 2u * fours + before;
    job.rest = rest;
    job.padding = padding;
    job.zeros = (uint32_t)(uint8_t)p->in_zero_point * 0x01010101u;
    mg_planar_fours(start, row + p->pad / 2u * 2u, &job);
}

/* Stores `words` words of padding in each channel's row. step: bytes from a row to the next.
 * r0: row, r1: padding, r2: words, r3: channels left, r4-r7: padding, r8: bytes of a row's groups of four words, r9:
 *   end of these groups, r12: bytes from the end of the padding to the next row */
__attribute__((naked)) static void mg_planar_fill(mg_s16 *row MCUGEN_UNUSED, uint32_t padding MCUGEN_UNUSED,
                                                  uint32_t words MCUGEN_UNUSED, uint32_t channels MCUGEN_UNUSED,
                                                  uint32_t step MCUGEN_UNUSED)
{
    __asm__("push {r4-r9, lr}\n"
            "ldr r12, [sp, #28]\n"
            "mov r4, r1\n"
            "mov r5, r1\n"
            "mov r6, r1\n"
            "mov r7, r1\n"
            "lsls r8, r2, #2\n"
            "sub r12, r12, r8\n"
            "bic r8, r8, #15\n"
            "lsl r2, r2, #30\n"
            "1:\n"
            "adds r9, r0, r8\n"
            "b 3f\n"
            "2:\n"
            "stm r0!, {r4-r7}\n"
            "3:\n"
            "cmp r0, r9\n"
            "bne 2b\n"
            "lsls r9, r2, #1\n"
            "it cs\n"
            "strdcs r4, r5, [r0], #8\n"
            "it mi\n"
            "strmi r4, [r0], #4\n"
            "add r0, r0, r12\n"
            "subs r3, r3, #1\n"
            "bne 1b\n"
            "pop {r4-r9, pc}\n");
}

MG_LINKAGE void mg_planar_s8_row(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    const uint32_t padding = (uint32_t)(uint16_t)p->in_zero_point * 0x10001u, over = p->slice % 4u;
    if (in == NULL) {
        mg_planar_fill(row, padding, p->columns / 2u, p->slice, 2u * (uint32_t)p->step);
    } else if (p->slice < 4u) {
        mg_planar_spread(p, in, row, p->slice);
    } else {
        if (p->pad > 1u) {
            mg_planar_fill(row, padding, p->pad / 2u, p->slice, 2u * (uint32_t)p->step);
        }
        if (over != 0u) { /* the first four channels and the next ones overlap */
            mg_planar_groups(p, in, row, 1u);
        }
        mg_planar_groups(p, in + over, row + over * p->step, p->slice / 4u);
    }
}

#else

MG_LINKAGE void mg_planar_s8_row(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    if (in != NULL) {
        mg_planar_spread(p, in, row, p->slice);
    } else {
        for (uint32_t i = 0u; i < p->columns; i += 1u) {
            for (uint32_t c = 0u; c < p->slice; c += 1u) {
                row[c * p->step + i] = p->in_zero_point;
            }
        }
    }
}

#endif

MG_LINKAGE void mg_planar_s8_clamp(const mg_planar_s8_params *p, int8_t *out, uint32_t n)
{
    mg_dsp_clamp(out, p->out_min, p->out_max, n);
}
