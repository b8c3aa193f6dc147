/* SPDX-License-Identifier: Apache-2.0
 *
 * The outlier channels of n vectors, see dense_s8__mve_outliers.h. pitch: bytes from a vector to the next. MG_LINEAR,
 * MG_CLAMP: see dense_s8_asm__mve.h.
 */

/* Outputs of an outlier channel. out: the first output; out_c: bytes to the next output; zero: zero point; least, most:
 * limits. */
typedef struct {
    int8_t *out;
    uint32_t out_c;
    int32_t zero, least, most;
} MG_VARIANT(target);

/* Sum of x[k] * (2 * half[k] + rest[k]). w: for each 16 elements, 16 bytes of `half`, then 16 bytes of `rest`. */
static inline int32_t MG_VARIANT(product)(const int8_t *x, const int8_t *w, uint32_t length)
{
#if MG_HAS_MVE
    int32_t sum;
    __asm__ volatile("mov r2, #0\n"
                     "mov r4, #0\n"
                     "wlstp.8 lr, %3, 2f\n"
                     "1:\n"
                     "vldrb.u8 q0, [%1], #16\n"
                     "vldrb.u8 q1, [%2], #16\n"
                     "vmladava.s8 r2, q0, q1\n"
                     "vldrb.u8 q2, [%2], #16\n"
                     "vmladava.s8 r4, q0, q2\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     "add %0, r4, r2, lsl #1\n"
                     : "=r"(sum), "+r"(x), "+r"(w)
                     : "r"(length)
                     : "q0", "q1", "q2", "r2", "r4", "lr", "cc", "memory");
    return sum;
#else
    int32_t sum = 0;
    for (uint32_t k = 0u; k < length; k += 1u) {
        const int8_t *const half = w + k / 16u * 32u + k % 16u;
        sum += x[k] * (2 * half[0] + half[16]);
    }
    return sum;
#endif
}

/* Scales a sum, to which the bias is added, to an output. */
static inline int8_t MG_VARIANT(finish)(const MG_VARIANT(target) *to, const int32_t *rest, int32_t sum)
{
    return (int8_t)mg_clamp(MG_SCALED(rest[1] + sum, rest[2], rest[3]) + to->zero, to->least, to->most);
}

/* Scales four sums and stores their outputs, from output i on. */
static inline void MG_VARIANT(finish_four)(const MG_VARIANT(target) *to, const int32_t *rest, const int32_t *sums, uint32_t i)
{
    int8_t *const out = to->out + i * to->out_c;
#if MG_HAS_MVE
    __asm__ volatile("mov r8, #0\n"
                     "vidup.u32 q1, r8, #1\n"
                     "vldrw.u32 q0, [%1]\n"
                     "ldr r8, [%3, #4]\n"
                     "vmul.i32 q1, q1, r8\n"
                     "ldr r8, [%2, #4]\n"
                     "vadd.i32 q0, q0, r8\n"
                     "ldrd r8, r9, [%2, #8]\n"
                     MG_HIGH("q0", "r8")
                     MG_NUDGE("q0", "q2")
                     MG_ROUND("q0", "q0, r9")
                     "ldr r8, [%3, #8]\n"
                     "vqmovnb.s32 q0, q0\n"
                     "vqadd.s16 q0, q0, r8\n"
                     "vqmovnb.s16 q0, q0\n"
                     ".if " MG_TEXT(MG_CLAMP) "\n"
                     "ldrd r8, r9, [%3, #12]\n"
                     "vdup.8 q2, r8\n"
                     "vdup.8 q3, r9\n"
                     ".endif\n"
                     MG_BETWEEN("q2", "q3")
                     "vstrb.32 q0, [%0, q1]\n"
                     :
                     : "r"(out), "r"(sums), "r"(rest), "r"(to)
                     : "q0", "q1", "q2", "q3", "r8", "r9", "memory");
#else
    for (uint32_t j = 0u; j < 4u; j += 1u) {
        out[j * to->out_c] = MG_VARIANT(finish)(to, rest, sums[j]);
    }
#endif
}

/* Computes an outlier channel, four outputs at a time; the last four may overlap the four before. */
static void MG_VARIANT(outlier)(const MG_VARIANT(target) *to, const int32_t *rest, uint32_t length, const int8_t *in,
                                uint32_t pitch, uint32_t n)
{
    const int8_t *const w = (const int8_t *)(rest + 4);
    const uint32_t fours = n < 4u ? 0u : n, single = n < 4u ? n : 0u;
    for (uint32_t i = 0u; i < fours; i += 4u) {
        const uint32_t at = i + 4u <= n ? i : n - 4u;
        const int8_t *const x = in + at * pitch;
        int32_t sums[4];
        for (uint32_t j = 0u; j < 4u; j += 1u) {
            sums[j] = MG_VARIANT(product)(x + j * pitch, w, length);
        }
        MG_VARIANT(finish_four)(to, rest, sums, at);
    }
    for (uint32_t i = 0u; i < single; i += 1u) {
        to->out[i * to->out_c] = MG_VARIANT(finish)(to, rest, MG_VARIANT(product)(in + i * pitch, w, length));
    }
}

static void MG_VARIANT(outliers)(const mg_mve_outliers *p, const int8_t *in, uint32_t pitch, const MG_VARIANT(target) *of,
                                 uint32_t n)
{
    const int32_t *rest = p->stream;
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        const MG_VARIANT(target) to = {of->out + rest[0], of->out_c, of->zero, of->least, of->most};
        MG_VARIANT(outlier)(&to, rest, p->length, in, pitch, n);
        rest += 4u + (p->length + 15u) / 16u * 8u;
    }
}
