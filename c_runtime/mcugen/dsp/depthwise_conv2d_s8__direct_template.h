/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution directly on int8 rows, see depthwise_conv2d_s8__direct.h.
 *
 * MG_C             channels; 0: any number of channels, one tap of each kernel row inside the image
 * MG_H, MG_W       rows and columns of the kernel, if pairs of columns are computed; else 0
 * MG_S             horizontal stride, if pairs of columns are computed; else 0
 * MG_LEFT          1: the first pair reads the column left of the image
 * MG_RIGHT         1: the last pair reads the column right of the image
 * MG_LINEAR        how sums are scaled, by a form of dsp_requantize.h: 0: _clamped, no output is below the zero point;
 *                  1: the general form; 2: _once; 3: _float; 4: _alike, with the shift MG_SHIFT for all channels
 * MG_CLAMP         1: outputs are clamped to a range narrower than int8
 */
#include "mcugen/depthwise_conv2d_s8__direct.h"

MG_DECLARE_depthwise_conv2d_s8__direct(MG_KERNEL);

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Adds the products of four channels to s0-s3.
 * r2: data of channels 0 and 2, r3: data of channels 1 and 3; even, odd: their weights */
#define MG_PRODUCTS(s0, s1, s2, s3, even, odd)    \
    "smlabb " s0 ", r2, " even ", " s0 "\n"       \
    "smlabb " s1 ", r3, " odd ", " s1 "\n"        \
    "smlatt " s2 ", r2, " even ", " s2 "\n"       \
    "smlatt " s3 ", r3, " odd ", " s3 "\n"

/* MG_CONSTANTS: loads a channel's scaling constants, which r0 points to, to r1, r2 and r3. MG_RESULT: scales sum x to
 * int8; t is clobbered. */
#define MG_CONSTANTS ".if mg_linear >= 3\n ldmia r0!, {r1, r2}\n .else\n ldmia r0!, {r1-r3}\n .endif\n"
#define MG_RESULT(x, t)                                                                    \
    ".if mg_linear == 4\n" MG_DSP_SCALE_ALIKE(x, "r1", "r2", MG_TEXT(MG_SHIFT))            \
    ".elseif mg_linear == 3\n" MG_DSP_SCALE_FLOAT(x, "r1", "r2")                           \
    ".elseif mg_linear == 2\n" MG_DSP_SCALE_ONCE(x, "r1", "r2", "r3")                      \
    ".elseif mg_linear == 1\n" MG_DSP_SCALE(x, "r1", "r2", "r3", t)                        \
    ".else\n" MG_DSP_SCALE_CLAMPED(x, "r1", "r2", "r3") ".endif\n"                         \
    ".if mg_linear != 4\n ssat " x ", #8, " x "\n .endif\n"
#define MG_STORE(x) MG_CONSTANTS MG_RESULT(x, "r8") "strb " x ", [lr], #1\n"

#define MG_TAP                                   \
    "sxtab16 r3, r10, r2, ror #8\n"              \
    "sxtab16 r2, r10, r2\n"                      \
    "ldrd r8, r9, [r0], #8\n" MG_PRODUCTS("r4", "r5", "r6", "r7", "r8", "r9")

/* Computes one output column.
 * r0: stream, r1: data pointer, r2, r3: data, r4-r7: sums, r8, r9: weights, r10: zero, r11: row pointers,
 * r12: offset, lr: taps left, or the end of the row pointers. Stack: the job's fields from `out` to `skip` */
__attribute__((naked, noinline)) static void MG_VARIANT(column)(const mg_direct_job *job MCUGEN_UNUSED)
{
    __asm__(".set mg_linear, " MG_TEXT(MG_LINEAR) "\n.set mg_c, " MG_TEXT(MG_C) "\n"
            "push {r4-r11, lr}\n"
            "ldmia r0, {r1-r10}\n"
            "push {r1-r10}\n"
            "mov r0, r3\n"
            "mov r12, r4\n"
            "mov r10, r5\n"
            "1:\n"
            "add r1, r0, #16\n"
            "ldmia r1, {r4-r7}\n"
            "ldr r11, [sp, #20]\n"
            "add r0, r0, #32\n"
            ".if mg_c == 0\n"
            "ldr lr, [sp, #24]\n"
            "2:\n"
            "ldr r1, [r11], #4\n"
            "ldr r2, [r1, r12]\n" MG_TAP
            "cmp r11, lr\n"
            "bne 2b\n"
            ".else\n"
            "ldr r1, [sp, #32]\n"
            "add r0, r0, r1\n"
            "3:\n"
            "ldr r1, [r11], #4\n"
            "ldr lr, [sp, #28]\n"
            "add r1, r1, r12\n"
            "4:\n"
            ".if mg_c < 256\n ldr r2, [r1], #mg_c\n .else\n ldr r2, [r1]\n add r1, r1, #mg_c\n .endif\n" MG_TAP
            "subs lr, lr, #1\n"
            "bne 4b\n"
            "ldrd r1, r2, [sp, #32]\n"
            "add r0, r0, r2\n"
            "ldr r2, [sp, #24]\n"
            "cmp r11, r2\n"
            "bne 3b\n"
            "sub r0, r0, r1\n"
            ".endif\n"
            "ldr lr, [sp]\n");
    __asm__(MG_STORE("r4") MG_STORE("r5") MG_STORE("r6") MG_STORE("r7")
            "str lr, [sp]\n"
            "add r12, r12, #4\n"
            "ldr r1, [sp, #4]\n"
            "cmp r0, r1\n"
            "bne 1b\n"
            "add sp, sp, #40\n"
            "pop {r4-r11, pc}\n");
}

#if MG_W > 0

/* Loads the two words of weights of `tap` to r12 and lr, unless they are there already. mg_held: the tap whose weights
 * are in r12 and lr. */
#define MG_LOAD(tap)                                                                    \
    ".if mg_held != (" tap ")\n"                                                        \
    "ldrd r12, lr, [r0, #16 + 8 * (mg_i * mg_w + " tap ")]\n"                           \
    ".set mg_held, " tap "\n"                                                           \
    ".endif\n"

/* Adds the products of data column mg_j to the sums of the first and of the second output, if their windows include the
 * column. */
#define MG_FIRST ".if mg_j < mg_w\n" MG_LOAD("mg_j") MG_PRODUCTS("r4", "r5", "r6", "r7", "r12", "lr") ".endif\n"
#define MG_SECOND \
    ".if mg_j >= mg_s\n" MG_LOAD("mg_j - mg_s") MG_PRODUCTS("r8", "r9", "r10", "r11", "r12", "lr") ".endif\n"

/* Reads a column of data. If `edge` is 0, the column is inside the image: runs `load`. Else the branch instruction
 * `inside` tests the flags: if it is taken, runs `load`; if not, the column is outside the image: sets r2 to four zero
 * points and runs `other`. */
#define MG_READ(edge, inside, load, other)                                                         \
    ".if " edge "\n" inside " 3f\n ldr r2, [sp, #32]\n" other "b 4f\n3:\n" load "4:\n"            \
    ".else\n" load ".endif\n"

/* Scales and stores the results of a channel: sum x for the first column, sum y for the second. */
#define MG_BOTH(x, y)                                          \
    MG_CONSTANTS MG_RESULT(y, "r12") MG_RESULT(x, "r12")       \
    "strb " y ", [lr, #mg_c]\n"                                \
    "strb " x ", [lr], #1\n"

/* Computes pairs of output columns.
 * r0: stream, r1: data pointer, r2, r3: data, r4-r7, r8-r11: sums of the two columns, r12, lr: weights
 * Flags: N: the pair reads the column left of the image, C: the column right of it
 * Stack, offset from sp:
 *   0: out, 4: end, 8: stream, 12: pairs, 16: row_step, 20: out_step, 24: flags, 28: last, 32: outside,
 *   36: data pointer of each kernel row */
__attribute__((naked, noinline)) static void MG_VARIANT(pairs)(const mg_direct_job *job MCUGEN_UNUSED)
{
    __asm__(".set mg_linear, " MG_TEXT(MG_LINEAR) "\n.set mg_c, " MG_TEXT(MG_C) "\n.set mg_h, " MG_TEXT(MG_H) "\n"
            ".set mg_w, " MG_TEXT(MG_W) "\n.set mg_s, " MG_TEXT(MG_S) "\n"
            ".set mg_left, " MG_TEXT(MG_LEFT) "\n.set mg_right, " MG_TEXT(MG_RIGHT) "\n"
            "push {r4-r11, lr}\n"
            "ldmia r0, {r1-r6}\n"
            "add r0, r0, #40\n"
            "ldmia r0, {r7-r12}\n"
            "sub sp, sp, #4 * mg_h\n"
            ".set mg_i, 0\n"
            ".rept mg_h\n"
            "ldr lr, [r6, #4 * mg_i]\n"
            "add lr, lr, r4\n"
            "str lr, [sp, #4 * mg_i]\n"
            ".set mg_i, mg_i + 1\n"
            ".endr\n"
            "push {r1-r3, r7-r12}\n"
            "1:\n"
            "ldr r0, [sp, #8]\n"
            "2:\n"
            ".if mg_left || mg_right\n ldr r1, [sp, #24]\n lsls r1, r1, #31\n .endif\n"
            "ldmia r0, {r4-r7}\n"
            "ldmia r0!, {r8-r11}\n"
            ".set mg_i, 0\n"
            ".rept mg_h\n"
            ".set mg_held, -1\n"
            ".set mg_j, 0\n"
            "ldr r1, [sp, #36 + 4 * mg_i]\n"
            ".rept mg_w + mg_s\n"
            ".if mg_j == 0\n"
            MG_READ("mg_left", "bpl", "ldr r2, [r1], #4\n", "add r1, r1, #4\n")
            "str r1, [sp, #36 + 4 * mg_i]\n"
            ".else\n"
            MG_READ("mg_right && mg_j == (mg_w + mg_s - 1)", "bcc", "ldr r2, [r1, #mg_j * mg_c - 4]\n", "")
            ".endif\n"
            "sxtb16 r3, r2, ror #8\n"
            "sxtb16 r2, r2\n"
            ".if mg_held == (mg_j - mg_s)\n" MG_SECOND MG_FIRST ".else\n" MG_FIRST MG_SECOND ".endif\n"
            ".set mg_j, mg_j + 1\n"
            ".endr\n"
            ".set mg_i, mg_i + 1\n"
            ".endr\n"
            "add r0, r0, #16 + 8 * mg_h * mg_w\n"
            "ldr lr, [sp]\n");
    __asm__(MG_BOTH("r4", "r8") MG_BOTH("r5", "r9") MG_BOTH("r6", "r10") MG_BOTH("r7", "r11")
            "str lr, [sp]\n"
            "ldr r1, [sp, #4]\n"
            "cmp r0, r1\n"
            "bne 2b\n"
            "ldrd r2, r3, [sp, #16]\n"
            "add lr, lr, r3\n"
            "str lr, [sp]\n"
            ".set mg_i, 0\n"
            ".rept mg_h\n"
            "ldr r1, [sp, #36 + 4 * mg_i]\n"
            "add r1, r1, r2\n"
            "str r1, [sp, #36 + 4 * mg_i]\n"
            ".set mg_i, mg_i + 1\n"
            ".endr\n"
            "ldr r1, [sp, #12]\n"
            ".if mg_left || mg_right\n"
            "cmp r1, #2\n"
            "ite eq\n"
            "ldreq r2, [sp, #28]\n"
            "movne r2, #0\n"
            "str r2, [sp, #24]\n"
            ".endif\n"
            "subs r1, r1, #1\n"
            "str r1, [sp, #12]\n"
            "bne 1b\n"
            "add sp, sp, #36 + 4 * mg_h\n"
            "pop {r4-r11, pc}\n");
}

#undef MG_BOTH
#undef MG_READ
#undef MG_SECOND
#undef MG_FIRST
#undef MG_LOAD
#endif
#undef MG_TAP
#undef MG_STORE
#undef MG_RESULT
#undef MG_CONSTANTS
#undef MG_PRODUCTS

#else

#define MG_FINISH (MG_LINEAR >= 3 ? 2 : 3)

/* Scales a sum to int8. finish: multiplier, addend, shift. */
static inline int8_t MG_VARIANT(result)(uint32_t sum, const int32_t *finish)
{
    const int32_t doubled = (int32_t)sum;
    const int32_t y = MG_LINEAR == 4   ? mg_dsp_scale_once(doubled, finish[0], finish[1], MG_SHIFT)
                      : MG_LINEAR == 3 ? mg_dsp_scale_float(doubled, finish[0], finish[1])
                      : MG_LINEAR == 2 ? mg_dsp_scale_once(doubled, finish[0], finish[1], finish[2])
                      : MG_LINEAR == 1 ? mg_dsp_scale(doubled, finish[0], finish[1], finish[2])
                                       : mg_dsp_scale_clamped(doubled, finish[0], finish[1], finish[2]);
    return (int8_t)mg_clamp(y, -128, 127);
}

/* Weight of channel k (0 to 3) of a group. words: the two words of a tap. */
static inline int32_t MG_VARIANT(weight)(const int32_t *words, uint32_t k)
{
    const uint32_t word = (uint32_t)words[k & 1u];
    return (int16_t)(uint16_t)(k < 2u ? word & 0xFFFFu : word >> 16);
}

/* Computes one output of four channels. offset: bytes from the start of a row to the first tap. Returns the stream of
 * the next group. */
static inline const int32_t *MG_VARIANT(four)(const mg_direct_job *job, const int32_t *stream, uint32_t offset, int8_t *out)
{
    const int32_t *w = stream + 8 + job->before / 4u, zero = (int16_t)(uint16_t)(job->zero & 0xFFFFu);
    uint32_t acc[4];
    memcpy(acc, stream + 4, sizeof(acc));
    for (const int8_t *const *row = job->rows; row < job->rows_end; row += 1) {
        for (uint32_t t = 0u; t < job->taps; t += 1u) {
            for (uint32_t k = 0u; k < 4u; k += 1u) {
                acc[k] += (uint32_t)(((*row)[offset + t * MG_C + k] + zero) * MG_VARIANT(weight)(w, k));
            }
            w += 2;
        }
        w += job->skip / 4u;
    }
    w -= job->before / 4u;
    for (uint32_t k = 0u; k < 4u; k += 1u) {
        out[k] = MG_VARIANT(result)(acc[k], w + MG_FINISH * k);
    }
    return w + 4 * MG_FINISH;
}

static void MG_VARIANT(column)(const mg_direct_job *job)
{
    const uint32_t rows = (uint32_t)(job->rows_end - job->rows);
    const uint32_t words = 8u + rows * (2u * job->taps + job->skip / 4u) + 4u * MG_FINISH;
    const uint32_t channels = 4u * ((uint32_t)(job->end - job->stream) / words);
    const int32_t *stream = job->stream;
    for (uint32_t c = 0u; c < channels; c += 4u) {
        stream = MG_VARIANT(four)(job, stream, job->offset + c, job->out + c);
    }
}

#undef MG_FINISH

#endif

/* Computes output column x from the taps inside the image. */
static inline void MG_VARIANT(single)(const mg_depthwise_conv2d_s8__direct_params *p, const mg_direct_job *job, uint32_t x)
{
    const int32_t start = (int32_t)(x * p->stride) - p->pad, width = p->width;
    const int32_t first = start < 0 ? -start : 0;
    const int32_t end = start + width > p->in_w ? p->in_w - start : width;
    mg_direct_job one = *job;
    one.out += x * p->channels;
    one.offset += (uint32_t)((start + first) * (int32_t)p->channels);
    one.taps = (uint32_t)(end - first);
    one.before = 8u * (uint32_t)first;
    one.skip = 8u * (uint32_t)(width - (end - first));
    MG_VARIANT(column)(&one);
}

/* Computes the channels from `from` on. Their stream lies from `stream` to `end`. */
static void MG_VARIANT(groups)(const mg_depthwise_conv2d_s8__direct_params *p, const int8_t *const *rows, uint32_t from,
                               const int32_t *stream, const int32_t *end, int8_t *out)
{
    mg_direct_job job;
    job.out = out + from;
    job.end = end;
    job.stream = stream;
    job.offset = from;
    job.zero = (uint32_t)(uint16_t)(-p->in_zero_point) * 0x10001u;
    job.rows = rows;
    job.rows_end = rows + p->height;
#if MG_W > 0 && defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    {
        mg_direct_job both = job;
        const uint32_t channels = 4u * ((uint32_t)(end - stream) / p->group);
        both.out += p->first * MG_C;
        both.offset += (uint32_t)((p->first * MG_S - p->pad) * MG_C);
        both.pairs = p->pairs;
        both.row_step = 2u * MG_S * MG_C - channels;
        both.out_step = 2u * MG_C - channels;
        both.last = 2u * MG_RIGHT;
        both.flags = MG_LEFT + (p->pairs == 1u ? both.last : 0u);
        both.outside = (uint32_t)(uint8_t)p->in_zero_point * 0x1010101u;
        MG_VARIANT(pairs)(&both);
    }
    for (uint32_t x = 0u; x < p->first; x += 1u) {
        MG_VARIANT(single)(p, &job, x);
    }
    for (uint32_t x = p->first + 2u * p->pairs; x < p->outputs; x += 1u) {
#else
    for (uint32_t x = 0u; x < p->outputs; x += 1u) {
#endif
        MG_VARIANT(single)(p, &job, x);
    }
}

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const int32_t *const rest = p->stream + (uint32_t)p->channels / 4u * p->group;
    (void)y;
    MG_VARIANT(groups)(p, rows, 0u, p->stream, rest, out);
    if (p->channels % 4u != 0u) {
        MG_VARIANT(groups)(p, rows, p->channels - 4u, rest, rest + p->group, out);
    }
#if MG_CLAMP
    mg_dsp_clamp(out, p->out_min, p->out_max, (uint32_t)p->outputs * p->channels);
#endif
}
