/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: rows of int8 pixels to planar int16, each channel's row apart from the next's.
 *
 * MG_C channels; MG_COLUMNS elements of a row; MG_CHANNEL elements from a channel's row to the next one's; MG_PAD columns
 * of padding, then MG_SEEN of the image, then padding again.
 */
#define MG_PAIRS ((MG_SEEN - MG_PAD % 2) / 2) /* pairs of columns that share a word */
#define MG_ODD ((MG_SEEN - MG_PAD % 2) % 2)   /* a last column that shares its word with padding */

#if MG_C < 4 || !defined(__ARM_FEATURE_DSP) || !defined(__GNUC__)

/* `count` channels from in on; the rows of the first one's begin at row. */
static inline void MG_VARIANT(spread)(const int8_t *in, mg_s16 *row, int32_t zero, uint32_t count)
{
    for (uint32_t c = 0u; c < count; c += 1u) {
        mg_s16 *const to = row + c * MG_CHANNEL;
        for (uint32_t j = 0u; j < MG_COLUMNS; j += 1u) {
            const uint32_t column = j - MG_PAD; /* beyond the image where it is negative, too */
            to[j] = (int16_t)(column < MG_SEEN ? in[column * MG_C + c] : zero);
        }
    }
}

static inline void MG_VARIANT(blank)(mg_s16 *row, int32_t zero, uint32_t count)
{
    for (uint32_t c = 0u; c < count; c += 1u) {
        for (uint32_t j = 0u; j < MG_COLUMNS; j += 1u) {
            row[c * MG_CHANNEL + j] = (int16_t)zero;
        }
    }
}

static inline void MG_VARIANT(planar)(const int8_t *in, mg_s16 *row, int32_t zero)
{
    if (in == NULL) {
        MG_VARIANT(blank)(row, zero, MG_C);
    } else {
        MG_VARIANT(spread)(in, row, zero, MG_C);
    }
}

#else

/* Words at byte mg_at of the rows of four channels. */
#define MG_STORE_WORDS(a, b, c, d)            \
    "str " a ", [r1, #mg_at]\n"               \
    "str " b ", [r1, #mg_at + mg_channel]\n"  \
    "str " c ", [r12, #mg_at]\n"              \
    "str " d ", [r12, #mg_at + mg_channel]\n" \
    ".set mg_at, mg_at + 4\n"

/* The next pixel's four channels. */
#define MG_LOAD_PIXEL(to)                                     \
    "ldr " to ", [r0, #mg_from]\n"                            \
    ".set mg_from, mg_from + mg_c\n"                          \
    ".if mg_from > 4095\n"                                    \
    "add r0, r0, #mg_from - mg_c\n .set mg_from, mg_c\n"      \
    ".endif\n"

#define MG_PAIR_OF_PIXELS                                             \
    MG_LOAD_PIXEL("r4") MG_LOAD_PIXEL("r5")                           \
    "sxtb16 r6, r4\n sxtb16 r4, r4, ror #8\n"                         \
    "sxtb16 r7, r5\n sxtb16 r5, r5, ror #8\n"                         \
    "pkhbt r8, r6, r7, lsl #16\n pkhtb r7, r7, r6, asr #16\n"         \
    "pkhbt r9, r4, r5, lsl #16\n pkhtb r5, r5, r4, asr #16\n"         \
    MG_STORE_WORDS("r8", "r9", "r7", "r5")

#define MG_PADDING_WORD MG_STORE_WORDS("r2", "r2", "r2", "r2")

/* count x 4 channels. r0 in, r1 and r12 the rows of channels 0 and 2, r2 zero twice, r3 count, r4-r9 data, r10 pairs
 * left, r11 and lr where in and row began. */
__attribute__((naked)) static void MG_VARIANT(fours)(const int8_t *in MCUGEN_UNUSED, mg_s16 *row MCUGEN_UNUSED,
                                                     uint32_t zero MCUGEN_UNUSED, uint32_t count MCUGEN_UNUSED)
{
    __asm__(".set mg_c, " MG_TEXT(MG_C) "\n"
            ".set mg_channel, 2 * " MG_TEXT(MG_CHANNEL) "\n"
            ".set mg_words, " MG_TEXT(MG_COLUMNS) " / 2\n"
            ".set mg_pad, " MG_TEXT(MG_PAD) "\n"
            ".set mg_pairs, " MG_TEXT(MG_PAIRS) "\n"
            ".set mg_odd, " MG_TEXT(MG_ODD) "\n"
            ".set mg_fours, 0\n"
            ".if mg_pairs > 7\n .set mg_fours, mg_pairs / 4\n .endif\n"
            "push {r4-r11, lr}\n"
            "1:\n"
            "mov r11, r0\n"
            "mov lr, r1\n"
            "movw r12, #2 * mg_channel\n"
            "add r12, r12, r1\n"
            ".set mg_at, 0\n"
            ".set mg_from, 0\n"
            ".rept mg_pad / 2\n" MG_PADDING_WORD ".endr\n"
            ".if mg_pad % 2\n" MG_LOAD_PIXEL("r4")
            "sxtb16 r5, r4\n sxtb16 r4, r4, ror #8\n"
            "pkhbt r6, r2, r5, lsl #16\n pkhbt r7, r2, r4, lsl #16\n"
            "pkhtb r8, r5, r2\n pkhtb r9, r4, r2\n" MG_STORE_WORDS("r6", "r7", "r8", "r9")
            ".endif\n"
            ".if mg_fours\n"
            "add r0, r0, #mg_from\n"
            ".set mg_from, 0\n"
            "mov r10, #mg_fours\n"
            "2:\n"
            ".rept 4\n" MG_PAIR_OF_PIXELS ".endr\n"
            "add r0, r0, #mg_from\n"
            ".set mg_from, 0\n"
            "add r1, r1, #16\n"
            "add r12, r12, #16\n"
            "subs r10, r10, #1\n"
            "bne 2b\n"
            ".set mg_at, mg_at - 16\n"
            ".endif\n"
            ".rept mg_pairs - 4 * mg_fours\n" MG_PAIR_OF_PIXELS ".endr\n");
    __asm__(".if mg_odd\n" MG_LOAD_PIXEL("r4")
            "sxtb16 r5, r4\n sxtb16 r4, r4, ror #8\n"
            "pkhbt r6, r5, r2\n pkhbt r7, r4, r2\n"
            "pkhtb r8, r2, r5, asr #16\n pkhtb r9, r2, r4, asr #16\n" MG_STORE_WORDS("r6", "r7", "r8", "r9")
            ".endif\n"
            ".rept mg_words - (mg_pad + 1) / 2 - mg_pairs - mg_odd\n" MG_PADDING_WORD ".endr\n"
            "add r0, r11, #4\n"
            "movw r12, #4 * mg_channel\n"
            "add r1, lr, r12\n"
            "subs r3, r3, #1\n"
            "bne 1b\n"
            "pop {r4-r11, pc}\n");
}

__attribute__((naked)) static void MG_VARIANT(blank)(mg_s16 *row MCUGEN_UNUSED, uint32_t zero MCUGEN_UNUSED,
                                                     uint32_t count MCUGEN_UNUSED)
{
    __asm__("1:\n"
            ".set mg_at, 0\n"
            ".rept " MG_TEXT(MG_COLUMNS) " / 2\n"
            "str r1, [r0, #mg_at]\n"
            ".set mg_at, mg_at + 4\n"
            ".endr\n"
            "add r0, r0, #2 * " MG_TEXT(MG_CHANNEL) "\n"
            "subs r2, r2, #1\n"
            "bne 1b\n"
            "bx lr\n");
}

/* Where the channels are no multiple of four, the first four and the next ones overlap. */
static inline void MG_VARIANT(planar)(const int8_t *in, mg_s16 *row, int32_t zero)
{
    const uint32_t twice = (uint32_t)(uint16_t)zero * 0x10001u;
    if (in == NULL) {
        MG_VARIANT(blank)(row, twice, MG_C);
    } else {
        if (MG_C % 4 != 0) {
            MG_VARIANT(fours)(in, row, twice, 1u);
        }
        MG_VARIANT(fours)(in + MG_C % 4, row + MG_C % 4 * MG_CHANNEL, twice, MG_C / 4);
    }
}
#undef MG_PADDING_WORD
#undef MG_PAIR_OF_PIXELS
#undef MG_LOAD_PIXEL
#undef MG_STORE_WORDS
#endif
#undef MG_ODD
#undef MG_PAIRS
