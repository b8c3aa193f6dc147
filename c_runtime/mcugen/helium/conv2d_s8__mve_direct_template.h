/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_direct.h"
#include "mcugen/dense_s8_asm__mve.h"

MG_DECLARE_conv2d_s8__mve_direct(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#define MG_TOGETHER (MG_OUTPUTS > 4 ? 8 : 4)
/* Number of vectors that a kernel row takes; 1 if a vector holds several rows. */
#define MG_LONG (MG_PER > 1 ? 1 : (MG_RUN + 15) / 16)
/* 1 if a vector holds several kernel rows, each in a 32-bit word of its own. */
#if MG_PER > 1 && MG_RUN <= 4
#define MG_WORDS 1
#else
#define MG_WORDS 0
#endif
/* 1 if windows inside the image need no masks: each row begins a vector or fills a word, or two rows of 8 taps fill
 * a vector. */
#define MG_QUICK (MG_PER == 1 || MG_WORDS || (MG_PER == 2 && MG_RUN == 8))
/* Lane of a row's first tap in its vector. */
#define MG_LANE(row) (MG_WORDS ? (row) % 2u * 8u + (row) / 2u * 4u : (row) * MG_RUN)

#if MG_HAS_MVE
/* Adds 16 products to the sum of an output. */
#define MG_TAKE(sum, w)                     \
    "vldrb.u8 " w ", [r5], #16\n"           \
    "vmladava.s8 " sum ", q0, " w "\n"

#if MG_OUTPUTS > 4
#define MG_SUMS "{r0, r2, r4, r6, r8, r10, r12, lr}"
#define MG_PRODUCTS                         \
    MG_TAKE("r0", "q1") MG_TAKE("r2", "q2") MG_TAKE("r4", "q1") MG_TAKE("r6", "q2") \
    MG_TAKE("r8", "q1") MG_TAKE("r10", "q2") MG_TAKE("r12", "q1") MG_TAKE("lr", "q2")
/* Scales the sums to int16, without the zero point. */
#define MG_SCALES                           \
    "vmov q0[2], q0[0], r0, r8\n"           \
    "vldrw.u32 q2, [r5], #16\n"             \
    "vmov q0[3], q0[1], r4, r12\n"          \
    "vldrw.u32 q3, [r5], #16\n"             \
    "vmov q1[2], q1[0], r2, r10\n"          \
    "vmov q1[3], q1[1], r6, lr\n"           \
    MG_HIGH("q0", "q2")                     \
    MG_HIGH("q1", "q3")                     \
    MG_NUDGE("q0", "q2")                    \
    MG_NUDGE("q1", "q3")                    \
    "vldrw.u32 q2, [r5], #16\n"             \
    "vldrw.u32 q3, [r5], #16\n"             \
    MG_ROUND("q0", "q0, q0, q2")            \
    MG_ROUND("q1", "q1, q1, q3")            \
    "vqmovnb.s32 q0, q0\n"                  \
    "vqmovnt.s32 q0, q1\n"
#define MG_SOME "vctp.16 r2\n"
#define MG_STORED(t) "vstrb" t ".16 q0, [r4], #8\n"
#else
#define MG_SUMS "{r0, r4, r8, r12}"
#define MG_PRODUCTS MG_TAKE("r0", "q1") MG_TAKE("r4", "q2") MG_TAKE("r8", "q1") MG_TAKE("r12", "q2")
#define MG_SCALES                           \
    "vmov q0[2], q0[0], r0, r8\n"           \
    "vldrw.u32 q2, [r5], #16\n"             \
    "vmov q0[3], q0[1], r4, r12\n"          \
    MG_HIGH("q0", "q2")                     \
    MG_NUDGE("q0", "q2")                    \
    "vldrw.u32 q2, [r5], #16\n"             \
    MG_ROUND("q0", "q0, q0, q2")            \
    "vqmovnb.s32 q0, q0\n"
#define MG_SOME "vctp.32 r2\n"
#define MG_STORED(t) "vstrb" t ".32 q0, [r4], #4\n"
#endif

#define MG_BOUNDS                           \
    ".if " MG_TEXT(MG_CLAMP) "\n"           \
    "ldrd r0, r2, [sp, #44]\n"              \
    "vdup.8 q2, r0\n"                       \
    "vdup.8 q3, r2\n"                       \
    ".endif\n"                              \
    MG_BETWEEN("q2", "q3")

/* MG_ROW: makes r7 point to the next kernel row. MG_UNTIL: loops until the rows that fill whole vectors are done. */
#define MG_ROW                              \
    "ldr r7, [r9], #4\n"                    \
    "add r7, r7, r3\n"
#define MG_UNTIL(begin)                     \
    "ldr r11, [sp, #4]\n"                   \
    "cmp r9, r11\n"                         \
    "bne " begin "\n"

#if MG_PER > 1
/* Reads the rows that share a vector. The address of each row is such that its taps are loaded to its lanes; all other
 * lanes are masked.
 */
#define MG_SHARED(rows)                     \
    MG_ROW                                  \
    "ldrh r11, [r1]\n"                      \
    "vmsr p0, r11\n"                        \
    "vpst\n"                                \
    "vldrbt.u8 q0, [r7]\n"                  \
    ".set mg_row, 1\n"                      \
    ".rept " rows " - 1\n"                  \
    MG_ROW                                  \
    "ldrh r11, [r1, #2 * mg_row]\n"         \
    "vmsr p0, r11\n"                        \
    "vpst\n"                                \
    ".if mg_words\n"                        \
    "vldrbt.u8 q1, [r7, #-(mg_row % 2 * 8 + mg_row / 2 * 4)]\n" \
    ".else\n"                               \
    "vldrbt.u8 q1, [r7, #-mg_row * mg_run]\n" \
    ".endif\n"                              \
    "vorr q0, q0, q1\n"                     \
    ".set mg_row, mg_row + 1\n"             \
    ".endr\n"                               \
    MG_PRODUCTS
#define MG_MASKED                           \
    "7:\n"                                  \
    MG_SHARED("mg_per")                     \
    ".if mg_rows / mg_per > 1\n"            \
    MG_UNTIL("7b")                          \
    ".endif\n"                              \
    ".if mg_rows % mg_per\n"                \
    MG_SHARED("mg_rows % mg_per")           \
    ".endif\n"
#if MG_WORDS
#define MG_FOUR_BYTES(row) "ldr " row ", [" row ", r3]\n"
#define MG_WORDS_OF(rows)                   \
    ".if " rows " > 1\n"                    \
    "ldrd r7, r11, [r9], #8\n"              \
    MG_FOUR_BYTES("r7")                     \
    MG_FOUR_BYTES("r11")                    \
    "vmov q0[2], q0[0], r7, r11\n"          \
    ".else\n"                               \
    "ldr r7, [r9], #4\n"                    \
    MG_FOUR_BYTES("r7")                     \
    "vmov q0[2], q0[0], r7, r7\n"           \
    ".endif\n"                              \
    ".if " rows " > 3\n"                    \
    "ldrd r7, r11, [r9], #8\n"              \
    MG_FOUR_BYTES("r7")                     \
    MG_FOUR_BYTES("r11")                    \
    "vmov q0[3], q0[1], r7, r11\n"          \
    ".elseif " rows " > 2\n"                \
    "ldr r7, [r9], #4\n"                    \
    MG_FOUR_BYTES("r7")                     \
    "vmov q0[3], q0[1], r7, r7\n"           \
    ".endif\n"                              \
    MG_PRODUCTS
#define MG_INSIDE                           \
    "5:\n"                                  \
    MG_WORDS_OF("mg_per")                   \
    ".if mg_rows / mg_per > 1\n"            \
    MG_UNTIL("5b")                          \
    ".endif\n"                              \
    ".if mg_rows % mg_per\n"                \
    MG_WORDS_OF("mg_rows % mg_per")         \
    ".endif\n"
#else
#define MG_INSIDE                           \
    "mov r11, #255\n"                       \
    "vmsr p0, r11\n"                        \
    "5:\n"                                  \
    "ldrd r7, r11, [r9], #8\n"              \
    "add r7, r7, r3\n"                      \
    "add r11, r11, r3\n"                    \
    "vpste\n"                               \
    "vldrbt.u8 q0, [r7]\n"                  \
    "vldrbe.u8 q1, [r11, #-8]\n"            \
    "vpnot\n"                               \
    "vorr q0, q0, q1\n"                     \
    MG_PRODUCTS                             \
    ".if mg_rows / mg_per > 1\n"            \
    MG_UNTIL("5b")                          \
    ".endif\n"                              \
    ".if mg_rows % mg_per\n"                \
    MG_ROW                                  \
    "vpst\n"                                \
    "vldrbt.u8 q0, [r7]\n"                  \
    MG_PRODUCTS                             \
    ".endif\n"
#endif
#else
#define MG_MASKED                           \
    "7:\n"                                  \
    MG_ROW                                  \
    "8:\n"                                  \
    "ldrh r11, [r1], #2\n"                  \
    "vmsr p0, r11\n"                        \
    "vpst\n"                                \
    "vldrbt.u8 q0, [r7], #16\n"             \
    MG_PRODUCTS                             \
    "ldr r11, [sp, #52]\n"                  \
    "cmp r1, r11\n"                         \
    "bne 8b\n"                              \
    "subw r1, r1, #(mg_run + 15) / 16 * 2\n" \
    MG_UNTIL("7b")
#define MG_INSIDE                           \
    ".if mg_run % 16\n"                     \
    "movw r11, #(1 << (mg_run % 16)) - 1\n" \
    "vmsr p0, r11\n"                        \
    ".endif\n"                              \
    "5:\n"                                  \
    MG_ROW                                  \
    ".if mg_run / 16 > 3\n"                 \
    "movw r11, #mg_run / 16\n"              \
    "6:\n"                                  \
    "vldrb.u8 q0, [r7], #16\n"              \
    MG_PRODUCTS                             \
    "subs r11, r11, #1\n"                   \
    "bne 6b\n"                              \
    ".else\n"                               \
    ".rept mg_run / 16\n"                   \
    "vldrb.u8 q0, [r7], #16\n"              \
    MG_PRODUCTS                             \
    ".endr\n"                               \
    ".endif\n"                              \
    ".if mg_run % 16\n"                     \
    "vpst\n"                                \
    "vldrbt.u8 q0, [r7]\n"                  \
    MG_PRODUCTS                             \
    ".endif\n"                              \
    ".if mg_rows > 1\n"                     \
    MG_UNTIL("5b")                          \
    ".endif\n"
#endif

/* Computes the pixels of a job.
 * r1: masks, r3: `at`, r5: stream, r7: data pointer, r9: pointer to the rows left, r11: free, other registers: sums
 * Stack: the job */
static __attribute__((naked, noinline)) void MG_VARIANT(strip)(const mg_conv2d_s8__mve_direct_job *job MCUGEN_UNUSED)
{
    __asm__ volatile(
        ".set mg_rows, " MG_TEXT(MG_ROWS) "\n"
        ".set mg_run, " MG_TEXT(MG_RUN) "\n"
        ".set mg_per, " MG_TEXT(MG_PER) "\n"
        ".set mg_outputs, " MG_TEXT(MG_OUTPUTS) "\n"
        ".set mg_together, 4 + 4 * (1 & (mg_outputs > 4))\n"
        ".set mg_some, mg_outputs % mg_together\n"
        ".set mg_words, " MG_TEXT(MG_WORDS) "\n"
        "push {r4-r11, lr}\n"
        "sub sp, sp, #60\n"
        "ldm r0!, {r1-r11}\n"
        "stm sp, {r1-r11}\n"
        "ldrd r4, r5, [r0], #8\n"
        "strd r4, r5, [sp, #44]\n"
        "ldrd r3, r1, [r0], #8\n"
        "ldr r4, [r0]\n"
        "str r4, [sp, #52]\n"
        "1:\n"
        "ldr r5, [sp, #16]\n"
        "ldr r11, [sp, #8]\n"
        ".if mg_some\n"
        "movw r4, #mg_outputs\n"
        "str r4, [sp, #40]\n"
        ".endif\n"
        "2:\n"
        "ldm r11!, " MG_SUMS "\n"
        ".if mg_outputs > mg_together\n"
        "str r11, [sp, #12]\n"
        ".endif\n"
        "ldr r9, [sp]\n"
#if MG_QUICK
        "cmp r1, #0\n"
        "bne.w 7f\n"
        MG_INSIDE
#else
        MG_MASKED
#endif
        "9:\n"
        MG_SCALES
        "ldrd r0, r4, [sp, #24]\n"
        "vqadd.s16 q0, q0, r0\n"
        "vqmovnb.s16 q0, q0\n"
        MG_BOUNDS
        ".if mg_some\n"
        "ldr r2, [sp, #40]\n"
        MG_SOME
        "sub r2, r2, #mg_together\n"
        "str r2, [sp, #40]\n"
        "vpst\n"
        MG_STORED("t")
        ".else\n"
        MG_STORED("")
        ".endif\n"
        ".if mg_outputs > mg_together\n"
        "ldr r0, [sp, #20]\n"
        "ldr r11, [sp, #12]\n"
        "str r4, [sp, #28]\n"
        "cmp r5, r0\n"
        "bne.w 2b\n"
        ".endif\n"
        ".if mg_some\n"
        "sub r4, r4, #mg_together - mg_some\n"
        ".endif\n"
        ".if mg_some || mg_outputs <= mg_together\n"
        "str r4, [sp, #28]\n"
        ".endif\n"
        "ldrd r0, r2, [sp, #32]\n"
        "add r3, r3, r2\n"
        "subs r0, r0, #1\n"
        "str r0, [sp, #32]\n"
        "bne.w 1b\n"
        "add sp, sp, #60\n"
        "pop {r4-r11, pc}\n"
#if MG_QUICK
        MG_MASKED
        "b.w 9b\n"
#endif
    );
}
#undef MG_TAKE
#undef MG_SUMS
#undef MG_PRODUCTS
#undef MG_SCALES
#undef MG_SOME
#undef MG_STORED
#undef MG_BOUNDS
#undef MG_ROW
#undef MG_UNTIL
#undef MG_SHARED
#undef MG_MASKED
#undef MG_INSIDE
#undef MG_FOUR_BYTES
#undef MG_WORDS_OF
#else
#define MG_BLOCK (((MG_ROWS + MG_PER - 1) / MG_PER * MG_LONG * 16 + 8) * MG_TOGETHER)

/* Sum of an output's products with a kernel row. w: the output's weights in the first vector. */
static int32_t MG_VARIANT(row)(const mg_conv2d_s8__mve_direct_job *job, uint32_t row, const int8_t *w)
{
    const int8_t *const x = job->rows[row] + job->at;
    const uint32_t lane = MG_LANE(row % MG_PER), vector = row / MG_PER * MG_LONG;
    int32_t sum = 0;
    for (uint32_t k = 0u; k < MG_RUN; k += 1u) {
        const uint32_t mask = job->masks == NULL ? 0xFFFFu : job->masks[row % MG_PER + k / 16u];
        if ((mask >> (lane + k) % 16u & 1u) != 0u) {
            sum += x[k] * w[(vector + k / 16u) * MG_TOGETHER * 16u + (lane + k) % 16u];
        }
    }
    return sum;
}

static void MG_VARIANT(strip)(mg_conv2d_s8__mve_direct_job *job)
{
    for (uint32_t i = 0u; i < job->n * MG_OUTPUTS; i += 1u) {
        const uint32_t o = i % MG_OUTPUTS, lane = o % MG_TOGETHER;
        const int8_t *const block = job->stream + o / MG_TOGETHER * MG_BLOCK;
        const uint32_t place = MG_TOGETHER == 8 ? lane % 2u * 16u + lane / 2u * 4u : lane * 4u;
        int32_t sum = job->biases[o], mult, shift;
        for (uint32_t row = 0u; row < MG_ROWS; row += 1u) {
            sum += MG_VARIANT(row)(job, row, block + lane * 16u);
        }
        (void)memcpy(&mult, block + MG_BLOCK - MG_TOGETHER * 8 + place, 4u);
        (void)memcpy(&shift, block + MG_BLOCK - MG_TOGETHER * 4 + place, 4u);
        job->out[i] = (int8_t)mg_clamp(MG_SCALED(sum, mult, shift) + job->zero_point, job->least, job->most);
        job->at += o == MG_OUTPUTS - 1u ? job->step : 0;
    }
}
#undef MG_BLOCK
#endif

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const uint32_t biases = (MG_OUTPUTS + MG_TOGETHER - 1) / MG_TOGETHER * MG_TOGETHER, masks = MG_PER > 1 ? MG_PER : MG_LONG;
    mg_conv2d_s8__mve_direct_job job;
    uint32_t edges = 0u;
    (void)y;
    job.rows = rows;
    job.end = rows + MG_ROWS / MG_PER * MG_PER;
    job.stream = p->stream;
    job.stream_end = p->stream + p->nbytes;
    job.zero_point = p->out_zero_point;
    job.step = p->step;
    job.least = p->out_min;
    job.most = p->out_max;
    for (uint32_t x = 0u; x < p->out_w; x += job.n) {
        const uint32_t inside = x == p->inside_first && p->inside_end > x ? 1u : 0u;
        edges += 1u - inside;
        job.n = inside != 0u ? p->inside_end - x : 1u;
        job.biases = p->biases + (inside != 0u ? 0u : edges) * biases;
        job.masks = p->masks + (inside != 0u ? 0u : edges) * masks;
        job.masks_end = job.masks + masks;
        if (MG_QUICK && inside != 0u) {
            job.masks = NULL;
        }
        job.out = out + x * MG_OUTPUTS;
        job.at = p->first + (int32_t)x * p->step;
        MG_VARIANT(strip)(&job);
    }
}
#undef MG_TOGETHER
#undef MG_LONG
#undef MG_WORDS
#undef MG_QUICK
#undef MG_LANE
#include "mcugen/finish_end__mve.h"
