/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/matmul_s8__mve.h"
#include "mcugen/dense_s8_asm__mve.h"

MG_DECLARE_matmul_s8__mve(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

/* Two rows of a and a stream of columns.
 * x        both rows, 16 * steps bytes each
 * out      results of each row
 * blocks   blocks of four columns; repeated: columns that one more block repeats, 0 if there is none
 * starts   the sum of each row from which its products are added up */
typedef struct {
    const int8_t *x;
    int8_t *out[2];
    const int8_t *stream;
    uint32_t steps, blocks, repeated;
    int32_t starts[2];
    int16_t out_zero_point, out_min, out_max;
} MG_VARIANT(job);

#if MG_HAS_MVE
/* Copies eight bytes of x that are q1 apart from its start, or as many as are left, and zeros for the others. */
#define MG_COPY_EIGHT               \
    "vctp.16 %[left]\n"             \
    "vpst\n"                        \
    "vldrbt.s16 q0, [%[x], q1]\n"   \
    "vaddva.s16 %[sum], q0\n"       \
    "vstrb.16 q0, [%[y]], #8\n"     \
    "add %[x], %[x], %[step], lsl #3\n" \
    "subs %[left], %[left], #8\n"   \
    "it mi\n"                       \
    "movmi %[left], #0\n"

/* Copies 8 * groups bytes that are `step` elements apart, of which n are there, to adjacent bytes, and zeros for the
 * others. The first 16 go to `to`, the next 16 to to + pitch, and so on. Returns their sum. groups: an even number */
static int32_t MG_VARIANT(copied)(int8_t *to, uint32_t pitch, const int8_t *from, uint32_t step, uint32_t n, uint32_t groups)
{
    int32_t sum = 0, left = (int32_t)n;
    const int8_t *x = from;
    for (uint32_t k = 0u; k < groups; k += 2u) {
        int8_t *y = to + k / 2u * pitch;
        uint32_t first = 0u;
        __asm__ volatile("vidup.u16 q1, %[first], #1\n"
                         "vmul.i16 q1, q1, %[step]\n" MG_COPY_EIGHT MG_COPY_EIGHT
                         : [x] "+r"(x), [y] "+l"(y), [sum] "+Te"(sum), [left] "+r"(left), [first] "+Te"(first)
                         : [step] "r"(step)
                         : "q0", "q1", "cc", "memory");
    }
    return sum;
}

#undef MG_COPY_EIGHT

/* Stack, offset from sp: 0: starts, 8: steps, 12: blocks left, 16: repeated columns, 20: bytes of a row */
static __attribute__((naked, noinline)) void MG_VARIANT(both)(const MG_VARIANT(job) *job MCUGEN_UNUSED)
{
    __asm__ volatile(
        MG_ENTER("24")
        "ldrd r1, r3, [r0, #4]\n"
        "ldrd r5, r2, [r0, #12]\n"
        "ldrd r4, r6, [r0, #20]\n"
        "ldrd r8, r10, [r0, #28]\n"
        "lsl r12, r2, #4\n"
        "ldr r9, [r0]\n"
        "add r11, r9, r12\n"
        "strd r8, r10, [sp]\n"
        "strd r2, r4, [sp, #8]\n"
        "strd r6, r12, [sp, #16]\n"
        MG_LIMITS("36", "38", "40")
        "2:\n"
        "ldrd r0, r2, [sp]\n"
        "ldr r7, [sp, #8]\n"
        "mov r4, r0\nmov r8, r0\nmov r12, r0\nmov r6, r2\nmov r10, r2\nmov lr, r2\n"
        "3:\n"
        MG_STEP_PAIR("a", "vldrb.u8", "[r9], #16", "[r11], #16")
        "subs r7, r7, #1\n"
        "bne 3b\n"
        MG_FINISH_PAIR
        "ldrd r4, r7, [sp, #16]\n"
        "ldr r0, [sp, #12]\n"
        "sub r9, r9, r7\n"
        "sub r11, r11, r7\n"
        "subs r0, r0, #1\n"
        "str r0, [sp, #12]\n"
        "bne.w 2b\n"
        "cbz r4, 4f\n"
        "sub r1, r1, r4\n"
        "sub r3, r3, r4\n"
        "movs r0, #1\n"
        "movs r4, #0\n"
        "strd r0, r4, [sp, #12]\n"
        "b.w 2b\n"
        "4:\n"
        MG_LEAVE("24"));
}
#else
static int32_t MG_VARIANT(copied)(int8_t *to, uint32_t pitch, const int8_t *from, uint32_t step, uint32_t n, uint32_t groups)
{
    int32_t sum = 0;
    for (uint32_t k = 0u; k < 8u * groups; k += 1u) {
        const int8_t value = k < n ? from[k * step] : (int8_t)0;
        to[k / 16u * pitch + k % 16u] = value;
        sum += value;
    }
    return sum;
}

static void MG_VARIANT(both)(const MG_VARIANT(job) *job)
{
    const uint32_t length = 64u * job->steps + 48u, total = job->blocks + (job->repeated != 0u ? 1u : 0u);
    for (uint32_t i = 0u; i < 8u * total; i += 1u) {
        const uint32_t row = i / (4u * total), block = i / 4u % total, column = i % 4u;
        const uint32_t at = 4u * block - (block == job->blocks ? job->repeated : 0u) + column;
        const int8_t *const w = job->stream + block * length, *const x = job->x + row * 16u * job->steps;
        int32_t rest[3], sum = job->starts[row];
        for (uint32_t k = 0u; k < 16u * job->steps; k += 1u) {
            sum += x[k] * w[k / 16u * 64u + column * 16u + k % 16u];
        }
        for (uint32_t k = 0u; k < 3u; k += 1u) {
            (void)memcpy(&rest[k], w + 64u * job->steps + k * 16u + column * 4u, 4u);
        }
        sum = MG_SCALED(sum + rest[0], rest[1], rest[2]) + job->out_zero_point;
        job->out[row][at] = (int8_t)mg_clamp(sum, job->out_min, job->out_max);
    }
}
#endif

/* Writes the stream of n >= 4 columns of b. The last block ends with the last column. */
static void MG_VARIANT(stream)(const mg_matmul_s8__mve_params *p, const int8_t *b, int8_t *stream, uint32_t n)
{
    const uint32_t steps = (p->depth + 15u) / 16u, length = 64u * steps + 48u;
    const int32_t zero = p->a_zero_point, products = (int32_t)p->depth * p->b_zero_point * zero;
    for (uint32_t j = 0u; j < n; j += 4u) {
        const int8_t *const columns = b + (j + 4u <= n ? j : n - 4u) * p->b_col;
        int8_t *const block = stream + j / 4u * length;
        for (uint32_t c = 0u; c < 4u; c += 1u) {
            const int32_t sum = MG_VARIANT(copied)(block + c * 16u, 64u, columns + c * p->b_col, p->b_row, p->depth, 2u * steps);
            const int32_t rest[3] = {products - zero * sum, p->mult, p->shift};
            for (uint32_t k = 0u; k < 3u; k += 1u) {
                (void)memcpy(block + 64u * steps + k * 16u + c * 4u, &rest[k], 4u);
            }
        }
    }
}

/* Multiplies all rows of a, two at a time, with n columns. A last row alone takes the place of two. */
static void MG_VARIANT(columns)(const mg_matmul_s8__mve_params *p, const int8_t *a, int8_t *out, int8_t *scratch, uint32_t n)
{
    const uint32_t steps = (p->depth + 15u) / 16u, size = 16u * steps;
    MG_VARIANT(job) job = {scratch, {out, out}, scratch + 2u * size, steps, n / 4u, (4u - n % 4u) % 4u, {0, 0}, 0, 0, 0};
    job.out_zero_point = p->out_zero_point;
    job.out_min = p->out_min;
    job.out_max = p->out_max;
    for (uint32_t i = 0u; i < p->rows; i += 2u) {
        for (uint32_t k = 0u; k < 2u; k += 1u) {
            const uint32_t row = i + k < p->rows ? i + k : i;
            const int8_t *const from = a + row * p->a_row;
            job.starts[k] = -p->b_zero_point * MG_VARIANT(copied)(scratch + k * size, 16u, from, 1u, p->depth, 2u * steps);
            job.out[k] = out + row * p->cols;
        }
        MG_VARIANT(both)(&job);
    }
}

MG_LINKAGE void MG_KERNEL(const mg_matmul_s8__mve_params *p, const int8_t *a, const int8_t *b, int8_t *out, int8_t *scratch)
{
    int8_t *const stream = scratch + (p->depth + 15u) / 16u * 32u;
    for (uint32_t i = 0u; i < p->batches; i += 1u) {
        const int8_t *const left = a + p->first[2u * i], *const right = b + p->first[2u * i + 1u];
        int8_t *const result = out + i * p->rows * p->cols;
        for (uint32_t j = 0u; j < p->cols; j += p->panel) {
            const uint32_t at = p->cols - j < 4u ? p->cols - 4u : j, n = p->cols - at < p->panel ? p->cols - at : p->panel;
            MG_VARIANT(stream)(p, right + at * p->b_col, stream, n);
            MG_VARIANT(columns)(p, left, result + at, scratch, n);
        }
    }
}

#include "mcugen/finish_end__mve.h"
