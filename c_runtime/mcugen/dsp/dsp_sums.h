/* SPDX-License-Identifier: Apache-2.0
 *
 * 9-bit weights, such as uint8 weights minus a zero point, stored in 8 bits, on cores with SMLAD.
 *
 * w = stored - z, with a z per channel such that `stored` fits a byte. So
 *
 *   sum of w * x = sum of stored * x + z * -(sum of x)
 *
 * The last term is one more product: the data begin with an extra word, whose weights are (z, z). Its low half is minus
 * the sum of the low halves of the words that follow, its high half minus that of the high halves. One such word covers
 * up to MG_DSP_SUMMED groups of two words, so each half fits 16 bits: for int8 data it is at most 254 * 128. If there
 * are more groups, further such words follow the taps. Intermediate sums may wrap at 32 bits; the final sums are exact.
 */
#ifndef MCUGEN_DSP_SUMS_H
#define MCUGEN_DSP_SUMS_H

#include "mcugen/dsp_widen.h"

#define MG_DSP_SUMMED 127u

/* sums         for each pixel, minus the sum of its words of data; the halves of words are summed separately
 * groups_left  number of groups that may still be added to these sums
 * to, next     where these sums and the next ones are stored */
typedef struct {
    uint32_t sums[3];
    uint32_t groups_left;
    mg_s16 *to, *next;
} mg_dsp_sums;

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* sums - word, in each half */
static inline uint32_t mg_dsp_less(uint32_t sums, uint32_t word)
{
    uint32_t result;
    __asm__("ssub16 %0, %1, %2" : "=r"(result) : "r"(sums), "r"(word));
    return result;
}

/* Gathers groups of three pixels and subtracts their words from the sums. load: code that loads a group of each pixel
 * to r4-r9 and stores these registers.
 * r0-r2: in, r3: out, r10, r11, lr: sums, r12: groups left. Stack: groups, at least one; pointer to the sums */
#define MG_DSP_GATHER_SUMMED(load)  \
    "push {r4-r11, lr}\n"           \
    "ldrd r9, r12, [sp, #36]\n"     \
    "ldm r12, {r10, r11, lr}\n"     \
    "mov r12, r9\n"                 \
    "1:\n"                          \
    load                            \
    "ssub16 r10, r10, r4\n"         \
    "ssub16 r11, r11, r5\n"         \
    "ssub16 lr, lr, r6\n"           \
    "ssub16 r10, r10, r7\n"         \
    "ssub16 r11, r11, r8\n"         \
    "ssub16 lr, lr, r9\n"           \
    "subs r12, r12, #1\n"           \
    "bne 1b\n"                      \
    "ldr r12, [sp, #40]\n"          \
    "stm r12, {r10, r11, lr}\n"     \
    "pop {r4-r11, pc}\n"

__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_bytes_summed(
    const int8_t *a MCUGEN_UNUSED, const int8_t *b MCUGEN_UNUSED, const int8_t *c MCUGEN_UNUSED,
    mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED, uint32_t *sums MCUGEN_UNUSED)
{
    __asm__(MG_DSP_GATHER_SUMMED(MG_DSP_GATHER));
}

__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_words_summed(
    const mg_s16 *a MCUGEN_UNUSED, const mg_s16 *b MCUGEN_UNUSED, const mg_s16 *c MCUGEN_UNUSED,
    mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED, uint32_t *sums MCUGEN_UNUSED)
{
    __asm__(MG_DSP_GATHER_SUMMED("ldrd r4, r7, [r0], #8\nldrd r5, r8, [r1], #8\nldrd r6, r9, [r2], #8\nstmia r3!, {r4-r9}\n"));
}

#else

static inline uint32_t mg_dsp_less(uint32_t sums, uint32_t word)
{
    return ((sums - word) & 0xFFFFu) | (((sums >> 16) - (word >> 16)) << 16);
}

static inline void mg_dsp_sum_gathered(const mg_s16 *x, uint32_t groups, uint32_t *sums)
{
    for (uint32_t i = 0u; i < 6u * groups; i += 1u) {
        uint32_t word;
        (void)memcpy(&word, x + 2u * i, sizeof(word));
        sums[i % 3u] = mg_dsp_less(sums[i % 3u], word);
    }
}

static inline void mg_dsp_bytes_summed(const int8_t *a, const int8_t *b, const int8_t *c, mg_s16 *out, uint32_t groups,
                                       uint32_t *sums)
{
    mg_dsp_gather_bytes(a, b, c, out, groups);
    mg_dsp_sum_gathered(out, groups, sums);
}

static inline void mg_dsp_words_summed(const mg_s16 *a, const mg_s16 *b, const mg_s16 *c, mg_s16 *out, uint32_t groups,
                                       uint32_t *sums)
{
    const mg_s16 *const from[3] = {a, b, c};
    for (uint32_t i = 0u; i < 12u * groups; i += 1u) {
        out[i] = from[i / 2u % 3u][i / 6u * 2u + (i & 1u)];
    }
    mg_dsp_sum_gathered(out, groups, sums);
}

#endif

/* Stores the sums, a word of each pixel, and begins new sums at 0. */
static inline void mg_dsp_store_sums(mg_dsp_sums *s)
{
    (void)memcpy(s->to, s->sums, sizeof(s->sums));
    s->sums[0] = 0u;
    s->sums[1] = 0u;
    s->sums[2] = 0u;
    s->groups_left = MG_DSP_SUMMED;
    s->to = s->next;
    s->next += 6;
}

/* Makes room in the sums for `groups` more groups: if they cannot hold that many, stores them and begins new sums. */
static inline void mg_dsp_take_groups(mg_dsp_sums *s, uint32_t groups)
{
    if (s->groups_left < groups) {
        mg_dsp_store_sums(s);
    }
    s->groups_left -= groups;
}

/* Number of groups to add to the same sums: all groups from group i on, but at most MG_DSP_SUMMED. */
static inline uint32_t mg_dsp_taken(uint32_t i, uint32_t groups)
{
    return groups - i < MG_DSP_SUMMED ? groups - i : MG_DSP_SUMMED;
}

/* mg_dsp_gather_bytes that also sums each pixel's words. mg_dsp_gather_words_summed: the same for int16 elements, which
 * stay in their order. After a pixel's last group the caller calls mg_dsp_store_sums. */
MCUGEN_UNUSED static void mg_dsp_gather_bytes_summed(const int8_t *a, const int8_t *b, const int8_t *c, mg_s16 *out,
                                                     uint32_t groups, mg_dsp_sums *s)
{
    for (uint32_t i = 0u; i < groups; i += MG_DSP_SUMMED) {
        const uint32_t n = mg_dsp_taken(i, groups);
        mg_dsp_take_groups(s, n);
        mg_dsp_bytes_summed(a + 4u * i, b + 4u * i, c + 4u * i, out + 12u * i, n, s->sums);
    }
}

MCUGEN_UNUSED static void mg_dsp_gather_words_summed(const mg_s16 *a, const mg_s16 *b, const mg_s16 *c, mg_s16 *out,
                                                     uint32_t groups, mg_dsp_sums *s)
{
    for (uint32_t i = 0u; i < groups; i += MG_DSP_SUMMED) {
        const uint32_t n = mg_dsp_taken(i, groups);
        mg_dsp_take_groups(s, n);
        mg_dsp_words_summed(a + 4u * i, b + 4u * i, c + 4u * i, out + 12u * i, n, s->sums);
    }
}

/* Sums the words of a vector x of `groups` groups of four. Stores the first word of sums before x, the next ones behind
 * the vector. */
MCUGEN_UNUSED static void mg_dsp_sum_vector(mg_s16 *x, uint32_t groups)
{
    uint32_t sums = 0u, left = MG_DSP_SUMMED;
    mg_s16 *to = x - 2;
    for (uint32_t i = 0u; i < groups; i += 1u) {
        uint32_t words[2];
        (void)memcpy(words, x + 4u * i, sizeof(words));
        sums = mg_dsp_less(mg_dsp_less(sums, words[0]), words[1]);
        left -= 1u;
        if (left == 0u || i + 1u == groups) {
            (void)memcpy(to, &sums, sizeof(sums));
            to = i < MG_DSP_SUMMED ? x + 4u * groups : to + 2;
            sums = 0u;
            left = MG_DSP_SUMMED;
        }
    }
}

#endif /* MCUGEN_DSP_SUMS_H */
