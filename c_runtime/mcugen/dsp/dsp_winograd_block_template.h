/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: all output channels of 3 or 2 tiles, on cores with SMLAD, see dsp_winograd.h.
 */
#include "mcugen/dsp_block.h"

#ifndef MCUGEN_DSP_WINOGRAD_JOB
#define MCUGEN_DSP_WINOGRAD_JOB
/* rows: v0 of the first tile in each row of the window. stream: constants of all pairs of channels, up to `end`.
 * out: channel 0 of each tile's first column. */
typedef struct {
    const mg_s16 *rows[3];
    const int32_t *stream, *end;
    uintptr_t out_c;
    int8_t *out[3];
} mg_dsp_winograd_job;
#endif

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* r0-r3: weights, r4-r9: sums, r10, r11: data, r12: data pointer, lr: stream
 * Stack, offset from sp:
 *   0    pointers to the three rows, the last row first
 *   12   where the next sums are stored
 *   16   rows left
 *   20   pointer to the scales
 *   24   pointers to the three rows at v0, the last row first
 *   36   end
 *   40   out_c
 *   48   sums [6][3 tiles][2 channels]
 *   192  out [3 tiles][2 channels] */
#define MG_SIZES                                                                                        \
    ".set mg_quads, " MG_TEXT(MG_QUADS) "\n.set mg_pair, 0\n.set mg_q, 4\n.set mg_p, 8*mg_quads\n"      \
    ".set mg_loop, " MG_TEXT(MG_LOOP) "\n.set mg_step, 8*" MG_TEXT(MG_TILES) "*mg_quads\n"
#define MG_BEGIN                                                                        \
    "push {r4-r11, lr}\nsub sp, sp, #216\n"                                             \
    "ldmia r0!, {r1-r3, lr}\nldmia r0!, {r4, r5}\nldmia r0, {r6-r8}\n"                  \
    "strd r3, r2, [sp, #24]\nstr r1, [sp, #32]\nstrd r4, r5, [sp, #36]\n"               \
    "add r9, r6, #1\nstrd r6, r9, [sp, #192]\nadd r9, r7, #1\nstrd r7, r9, [sp, #200]\n" \
    "add r9, r8, #1\nstrd r8, r9, [sp, #208]\n"                                         \
    "1: add r0, sp, #24\nldmia r0, {r1-r3}\nadd r4, sp, #48\nstmia sp, {r1-r4}\n"       \
    "2:\n.set mg_first, 1-mg_loop\n"
#define MG_PIXEL(offset, p, q, r, s) \
    "ldrd r10, r11, [r12, #mg_x+" offset "]\n" MG_DSP_MULTIPLY(p, q, r, s) MG_DSP_MULTIPLY_HIGH(p, q)
#define MG_QUAD2 "ldmia lr!, {r0-r3}\n" MG_PIXEL("0", "r4", "r5", "r6", "r7") MG_PIXEL("mg_p", "r6", "r7", "r6", "r7")
#define MG_QUAD3                                                                                                    \
    "ldmia lr!, {r0-r3}\n" MG_PIXEL("0", "r4", "r5", "r8", "r9") MG_PIXEL("mg_p", "r6", "r7", "r8", "r9")           \
    MG_PIXEL("2*mg_p", "r8", "r9", "r8", "r9")
#define MG_RUNS(quad)                                                                                             \
    ".if mg_loop\nmov r10, #3\nstr r10, [sp, #16]\n"                                                              \
    "3: ldr r10, [sp, #16]\nsubs r10, r10, #1\nstr r10, [sp, #16]\nldr r12, [sp, r10, lsl #2]\n"                  \
    MG_DSP_QUADS(quad, "") "bne 3b\n.else\n.set mg_s, 8\n.rept 3\nldr r12, [sp, #mg_s]\n" MG_DSP_QUADS(quad, "")  \
    ".set mg_s, mg_s-4\n.endr\n.endif\n"

/* Continues with the next of the six sums m0 to m5. */
#define MG_NEXT                                                                                             \
    ".if mg_step < 4096\naddw r0, r0, #mg_step\naddw r1, r1, #mg_step\naddw r2, r2, #mg_step\n"             \
    ".else\nmovw r4, #mg_step\nadd r0, r0, r4\nadd r1, r1, r4\nadd r2, r2, r4\n.endif\n"                    \
    "stmia sp, {r0-r3}\nadd r4, sp, #192\ncmp r3, r4\nbne 2b\n"

#if MG_ONCE == 2
#define MG_SCALE(x) MG_DSP_SCALE_FLOAT(x, "r1", "r2")
#elif MG_ONCE
#define MG_SCALE(x) MG_DSP_SCALE_ONCE(x, "r1", "r2", "r3")
#else
#define MG_SCALE(x) MG_DSP_SCALE(x, "r1", "r2", "r3", "r10")
#endif
#define MG_FINISH(x) "mul " x ", " x ", r11\nasr " x ", " x ", #2\n" MG_SCALE(x) "ssat " x ", #8, " x "\n"

/* Computes the outputs of each tile, for channel a, then for channel b.
 * r0: sums, r1-r3: multiplier, addend, shift, r4-r10: sums and outputs of a tile, r11: inverse of 3, r12: out, lr:
 * out_c
 * The loop ends after channel b: its sums end four bytes behind those of channel a. */
#define MG_OUTPUTS(tiles)                                                                        \
    "str lr, [sp, #20]\nadd r0, sp, #48\nmovw r11, #0xAAAB\nmovt r11, #0xAAAA\n"                 \
    "4: ldr r1, [lr]\nldr r2, [lr, #8]\nldr r3, [lr, #16]\nldr lr, [sp, #40]\n"                  \
    "5: ldr r12, [r0, #144]\nldr r5, [r0, #24]\nldr r6, [r0, #48]\nldr r7, [r0, #72]\n"          \
    "ldr r8, [r0, #96]\nldr r9, [r0, #120]\nldr r4, [r0], #8\n"                                  \
    "add r10, r5, r6\nsub r5, r5, r6\nadd r6, r7, r8\nsub r7, r7, r8\n"                          \
    "add r4, r4, r10\nadd r4, r4, r6\nadd r8, r5, r7, lsl #1\nadd r6, r10, r6, lsl #2\n"         \
    "add r9, r9, r5\nadd r9, r9, r7, lsl #3\n"                                                   \
    MG_FINISH("r4") MG_FINISH("r8") MG_FINISH("r6") MG_FINISH("r9")                              \
    "add r10, r12, lr, lsl #1\nstrb r4, [r12]\nstrb r8, [r12, lr]\nstrb r6, [r10]\n"             \
    "strb r9, [r10, lr]\nadd r10, sp, #48+8*" tiles "\ncmp r0, r10\nblo 5b\n"                  \
    "bhi 6f\nldr lr, [sp, #20]\nadd lr, lr, #4\nadd r0, sp, #52\nb 4b\n6:\n"

/* Continues with the next pair of channels. */
#define MG_END                                                                \
    "stmia r12, {r0-r5}\nldr lr, [sp, #20]\nldr r10, [sp, #36]\n"             \
    "add lr, lr, #24\ncmp lr, r10\nbne 1b\nadd sp, sp, #216\npop {r4-r11, pc}\n"
#define MG_ADVANCE                                                                             \
    "add r12, sp, #192\nldmia r12, {r0-r5}\nadd r0, r0, #2\nadd r1, r1, #2\nadd r2, r2, #2\n"  \
    "add r3, r3, #2\nadd r4, r4, #2\nadd r5, r5, #2\n"

#if MG_THREES
__attribute__((naked, noinline)) static void MG_VARIANT(block3)(const mg_dsp_winograd_job *job MCUGEN_UNUSED)
{
    __asm__(MG_SIZES MG_BEGIN
            "ldrd r8, r9, [lr], #8\n"
            ".if mg_loop\nmov r4, r8\nmov r5, r9\nmov r6, r8\nmov r7, r9\n.endif\n");
    __asm__(MG_RUNS(MG_QUAD3));
    __asm__("ldmia sp, {r0-r3}\nstmia r3!, {r4-r9}\n" MG_NEXT);
    __asm__(MG_OUTPUTS("3") MG_ADVANCE MG_END);
}
#endif

#if MG_REST
__attribute__((naked, noinline)) static void MG_VARIANT(block2)(const mg_dsp_winograd_job *job MCUGEN_UNUSED)
{
    __asm__(MG_SIZES MG_BEGIN
            "ldrd r6, r7, [lr], #8\n"
            ".if mg_loop\nmov r4, r6\nmov r5, r7\n.endif\n");
    __asm__(MG_RUNS(MG_QUAD2));
    __asm__("ldmia sp, {r0-r3}\nstmia r3!, {r4-r7}\nadd r3, r3, #8\n" MG_NEXT);
    __asm__(MG_OUTPUTS("2") MG_ADVANCE MG_END);
}
#endif

/* Computes all channels of n tiles. */
static inline void MG_VARIANT(block)(const mg_dsp_winograd_job *job, uint32_t n)
{
#if MG_REST && MG_THREES
    if (n == 2u) {
        MG_VARIANT(block2)(job);
    } else {
        MG_VARIANT(block3)(job);
    }
#elif MG_REST
    (void)n;
    MG_VARIANT(block2)(job);
#else
    (void)n;
    MG_VARIANT(block3)(job);
#endif
}

#undef MG_SIZES
#undef MG_BEGIN
#undef MG_PIXEL
#undef MG_QUAD2
#undef MG_QUAD3
#undef MG_RUNS
#undef MG_NEXT
#undef MG_SCALE
#undef MG_FINISH
#undef MG_OUTPUTS
#undef MG_END
#undef MG_ADVANCE

#else

#define MG_WORDS (2u + 12u * MG_QUADS)

/* Sum m[k] of tile i, modulo 2^32. w: the stream of a pair of channels; c: 0 or 1, the channel. */
static inline uint32_t MG_VARIANT(sum)(const mg_dsp_winograd_job *job, const int32_t *w, uint32_t k, uint32_t i,
                                       uint32_t c)
{
    const uint32_t at = 4u * MG_QUADS * (k * MG_TILES + i);
    const int32_t *const from = w + k * MG_WORDS;
    uint32_t sum = (uint32_t)from[c];
    for (uint32_t n = 0u; n < 6u * MG_QUADS; n += 1u) {
        const mg_s16 *const x = job->rows[n / (2u * MG_QUADS)] + at + n % (2u * MG_QUADS) * 2u;
        const int32_t u = from[2u + 2u * n + c];
        sum += (uint32_t)(x[0] * mg_dsp_low(u)) + (uint32_t)(x[1] * mg_dsp_high(u));
    }
    return sum;
}

/* Scales y, 24 times a sum modulo 2^32, to an output. */
static inline int8_t MG_VARIANT(output)(uint32_t y, const int32_t *scale)
{
    const int32_t doubled = (int32_t)(y * 0xAAAAAAABu) >> 2;
#if MG_ONCE == 2
    const int32_t scaled = mg_dsp_scale_float(doubled, scale[0], scale[2]);
#elif MG_ONCE
    const int32_t scaled = mg_dsp_scale_once(doubled, scale[0], scale[2], scale[4]);
#else
    const int32_t scaled = mg_dsp_scale(doubled, scale[0], scale[2], scale[4]);
#endif
    return (int8_t)mg_clamp(scaled, -128, 127);
}

/* Computes the four outputs of a tile in one channel. m: its six sums. */
static void MG_VARIANT(tile)(const uint32_t *m, const int32_t *scale, int8_t *to, uintptr_t out_c)
{
    const uint32_t s1 = m[1] + m[2], d1 = m[1] - m[2], s3 = m[3] + m[4], d3 = m[3] - m[4];
    to[0] = MG_VARIANT(output)(m[0] + s1 + s3, scale);
    to[out_c] = MG_VARIANT(output)(d1 + 2u * d3, scale);
    to[2u * out_c] = MG_VARIANT(output)(s1 + 4u * s3, scale);
    to[3u * out_c] = MG_VARIANT(output)(d1 + 8u * d3 + m[5], scale);
}

static void MG_VARIANT(block)(const mg_dsp_winograd_job *job, uint32_t n)
{
    const uint32_t size = 6u * MG_WORDS + 6u, pairs = (uint32_t)(job->end - job->stream) / size;
    for (uint32_t o = 0u; o < 2u * pairs; o += 1u) {
        const int32_t *const w = job->stream + o / 2u * size;
        for (uint32_t i = 0u; i < n; i += 1u) {
            uint32_t m[6];
            for (uint32_t k = 0u; k < 6u; k += 1u) {
                m[k] = MG_VARIANT(sum)(job, w, k, i, o % 2u);
            }
            MG_VARIANT(tile)(m, w + 6u * MG_WORDS + o % 2u, job->out[i] + o, job->out_c);
        }
    }
}

#undef MG_WORDS

#endif
