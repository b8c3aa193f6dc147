/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution on planar rows, one output at a time, see planar_s8.h. One short copy serves layers
 * of all widths and strides.
 *
 * MG_H       kernel rows, at most three
 * MG_TAPS    taps of a kernel row, at most four
 * MG_LINEAR  how sums are scaled, by a form of dsp_requantize.h: 1: the general form; 2: _once; 3: _float
 */
#include "mcugen/planar_each.h"
#include "mcugen/planar_s8.h"

MG_DECLARE_depthwise_conv2d_s8__planar_each(MG_KERNEL);

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Adds the products of a kernel row of MG_TAPS taps to r7.
 * x: register that points to the data; first: weights of taps 0 and 1; second: of taps 2 and 3.
 * A last tap without a partner is loaded as a halfword, so that nothing beyond the row is read. */
#define MG_TWO(x, first, second)                                                              \
    ".if mg_taps > 1\n ldr r6, [" x "]\n .else\n ldrsh r6, [" x "]\n .endif\n"                  \
    "smlad r7, r6, " first ", r7\n"                                                           \
    ".if mg_taps > 2\n"                                                                       \
    ".if mg_taps > 3\n ldr r6, [" x ", #4]\n .else\n ldrsh r6, [" x ", #4]\n .endif\n"          \
    "smlad r7, r6, " second ", r7\n"                                                          \
    ".endif\n"

/* Converts four bytes of weights, in register `from`, to two words of two doubled int16 each. */
#define MG_UNPACK(from, first, second)                                                        \
    "sxtb16 " first ", " from "\n sxtb16 " second ", " from ", ror #8\n"                        \
    "sadd16 " first ", " first ", " first "\n sadd16 " second ", " second ", " second "\n"

/* Computes all channels.
 * r0-r5: weights, r6: data, r7: sum, r8: multiplier, r9: addend, r10: shift in bits 0 to 7, outputs left in bits 8 up,
 * r11: data pointer, r12: bytes from a kernel row to the next, lr: out. Stack: job, back, channels, bias */
__attribute__((naked, noinline)) static void MG_VARIANT(channels)(mg_planar_each_job *job MCUGEN_UNUSED)
{
    __asm__(".set mg_h, " MG_TEXT(MG_H) "\n.set mg_taps, " MG_TEXT(MG_TAPS) "\n.set mg_linear, " MG_TEXT(MG_LINEAR) "\n"
            "push {r4-r11, lr}\n"
            "ldrd r11, r12, [r0]\n"
            "ldrd r1, r2, [r0, #8]\n"
            "push {r0-r3}\n"
            "1:\n"
            "ldrd r1, r2, [r0, #16]\n" /* weights, finish */
            "ldr lr, [r0, #24]\n"
            "ldmia r2!, {r3, r8-r10}\n"
            "str r3, [sp, #12]\n"
            "ldr r3, [r0, #32]\n"
            "add r10, r10, r3\n"
            "add r3, lr, #1\n"
            "str r3, [r0, #24]\n"
            "ldrd r3, r4, [r0, #36]\n"
            "ldr r3, [r1, r3]\n"
            ".if mg_h > 1\n ldr r4, [r1, r4]\n .endif\n"
            ".if mg_h > 2\n ldr r5, [r0, #44]\n ldr r5, [r1, r5]\n .endif\n"
            "add r1, r1, #4 * mg_h\n"
            "strd r1, r2, [r0, #16]\n");
    __asm__(MG_UNPACK("r3", "r0", "r1")
            ".if mg_h > 1\n" MG_UNPACK("r4", "r2", "r3") ".endif\n"
            ".if mg_h > 2\n" MG_UNPACK("r5", "r4", "r5") ".endif\n"
            "2:\n"
            "ldr r7, [sp, #12]\n" MG_TWO("r11", "r0", "r1")
            ".if mg_h > 1\n add r11, r11, r12\n" MG_TWO("r11", "r2", "r3") ".endif\n"
            ".if mg_h > 2\n add r11, r11, r12\n" MG_TWO("r11", "r4", "r5") ".endif\n"
            ".if mg_linear == 3\n" MG_DSP_SCALE_FLOAT("r7", "r8", "r9")
            ".elseif mg_linear == 2\n" MG_DSP_SCALE_ONCE("r7", "r8", "r9", "r10")
            ".else\n" MG_DSP_SCALE("r7", "r8", "r9", "r10", "r6") ".endif\n"
            "ssat r7, #8, r7\n"
            "strb r7, [lr]\n"
            "ldrd r6, r7, [sp, #4]\n"
            "add r11, r11, r6\n"
            "add lr, lr, r7\n"
            "subs r10, r10, #256\n"
            "bpl 2b\n"
            "ldr r0, [sp]\n"
            "ldr r1, [r0, #28]\n"
            "add r11, r11, r1\n"
            "ldr r1, [r0, #20]\n"
            "ldr r2, [r0, #48]\n"
            "cmp r1, r2\n"
            "bne 1b\n"
            "add sp, sp, #16\n"
            "pop {r4-r11, pc}\n");
}

#undef MG_TWO
#undef MG_UNPACK

#else

/* Weight of tap t of a kernel row. word: its bytes, in the order of taps 0, 2, 1, 3. */
static inline int32_t MG_VARIANT(weight)(int32_t word, uint32_t t)
{
    static const uint8_t shifts[4] = {0u, 16u, 8u, 24u};
    return (int8_t)(((uint32_t)word >> shifts[t]) & 0xFFu);
}

static void MG_VARIANT(channels)(mg_planar_each_job *job)
{
    const int32_t row = (int32_t)(job->row / 2u), step = job->back / 2 + (MG_H - 1) * row;
    for (; job->finish != job->last; job->finish += 4) {
        for (uint32_t x = 0u; x <= job->outputs_left / 256u; x += 1u) {
            uint32_t sum = (uint32_t)job->finish[0];
            int32_t doubled, y;
            for (int32_t k = 0; k < MG_H; k += 1) {
                for (uint32_t t = 0u; t < MG_TAPS; t += 1u) {
                    const int32_t w = MG_VARIANT(weight)(job->weights[job->rows[k] / 4u], t);
                    sum += (uint32_t)(2 * w * job->data[k * row + (int32_t)t]);
                }
            }
            doubled = (int32_t)sum;
            y = MG_LINEAR == 3   ? mg_dsp_scale_float(doubled, job->finish[1], job->finish[2])
                : MG_LINEAR == 2 ? mg_dsp_scale_once(doubled, job->finish[1], job->finish[2], job->finish[3])
                                 : mg_dsp_scale(doubled, job->finish[1], job->finish[2], job->finish[3]);
            job->out[x * job->channels] = (int8_t)mg_clamp(y, -128, 127);
            job->data += step;
        }
        job->data += job->next / 2;
        job->out += 1;
        job->weights += MG_H;
    }
}

#endif

MG_LINKAGE void MG_VARIANT(row)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    mg_planar_s8_row(p, in, row);
}

MG_LINKAGE void MG_KERNEL(const mg_planar_s8_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const uint32_t first = mg_planar_s8_first(rows, MG_H);
    const int32_t row = 2 * (int32_t)p->columns, stride = 2 * (int32_t)p->stride;
    mg_planar_each_job job;
    job.data = rows[first];
    job.row = (uint32_t)row;
    job.back = stride - (MG_H - 1) * row;
    job.channels = p->channels;
    job.weights = p->weights;
    job.finish = p->finish;
    job.out = out;
    job.next = 2 * (int32_t)p->step - stride * (int32_t)p->outputs;
    job.outputs_left = (p->outputs - 1u) * 256u;
    for (uint32_t k = 0u; k < MG_H; k += 1u) {
        job.rows[k] = 4u * (first + k < MG_H ? first + k : first + k - MG_H);
    }
    job.last = p->finish + 4u * p->channels;
    MG_VARIANT(channels)(&job);
    if (p->clamps != 0u) {
        mg_planar_s8_clamp(p, out, (uint32_t)p->outputs * p->channels);
    }
}
