/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: converts short rows of int8 pixels to planar int16, four channels at a time, with all columns known. Sizes:
 * see planar_outputs_template.h. A row is MG_PAD columns of padding, MG_IN_W columns of the image, then padding again.
 */
#define MG_SET(name, value) ".set mg_" name ", " MG_TEXT(value) "\n"

/* Loads column mg_from to register `to`, and defines the alias `pixel` for `to`. Padding is not loaded: `pixel` is then
 * r11. Columns 0, 1, 2, 4 and 8 of the image are addressed from r0, other columns from r12, which points to column
 * mg_stand. */
#define MG_LOAD_PIXEL(pixel, to)                                                                                 \
    ".if mg_from < mg_pad || mg_from >= mg_pad + mg_seen\n" pixel " .req r11\n"                                   \
    ".else\n" pixel " .req " to "\n"                                                                             \
    ".set mg_x, mg_from - mg_pad\n"                                                                              \
    ".if mg_x < 3 || mg_x == 4 || mg_x == 8\n" MG_LOAD_AT(to, "r0")                                              \
    ".else\n"                                                                                                    \
    ".if mg_stand == 0\n add r12, r0, r1\n .set mg_stand, 1\n .endif\n"                                         \
    ".if mg_x == mg_stand + 3\n add r12, r12, r1, lsl #1\n .set mg_stand, mg_stand + 2\n .endif\n"              \
    ".if mg_x >= mg_stand + 5\n add r12, r12, r1, lsl #2\n .set mg_stand, mg_stand + 4\n .endif\n"              \
    ".set mg_x, mg_x - mg_stand\n" MG_LOAD_AT(to, "r12") ".endif\n .endif\n"                                     \
    ".set mg_from, mg_from + 1\n"

/* Loads the pixel mg_x columns behind `base`. */
#define MG_LOAD_AT(to, base)                                                                                     \
    ".if mg_x == 0\n ldr " to ", [" base "]\n .elseif mg_x == 1\n ldr " to ", [" base ", r1]\n"                 \
    ".elseif mg_x == 2\n ldr " to ", [" base ", r1, lsl #1]\n"                                                   \
    ".elseif mg_x == 4\n ldr " to ", [" base ", r1, lsl #2]\n"                                                   \
    ".elseif mg_x == 8\n ldr " to ", [" base ", r1, lsl #3]\n"                                                   \
    ".else\n .error \"a column out of reach\"\n .endif\n"

/* Stores the words a and b of a channel; only a if the row ends with it. */
#define MG_STORE_WORDS(channel, a, b)                                                              \
    ".if mg_words - mg_word == 1\n str " a ", [r2, #4 * mg_word + " channel " * mg_channel]\n"      \
    ".else\n strd " a ", " b ", [r2, #4 * mg_word + " channel " * mg_channel]\n .endif\n"

/* Converts up to four columns. The last two may be padding (then r10, a word of padding, is stored) or lie beyond the
 * row. */
#define MG_FOUR_COLUMNS                                                                            \
    MG_LOAD_PIXEL("pixel0", "r4") MG_LOAD_PIXEL("pixel1", "r5")                                    \
    ".if mg_from < mg_pad || mg_from < mg_pad + mg_seen && mg_words - mg_word > 1\n"               \
    MG_LOAD_PIXEL("pixel2", "r6") MG_LOAD_PIXEL("pixel3", "r7")                                    \
    "pkhbt r8, pixel0, pixel1, lsl #16\n pkhtb r4, pixel1, pixel0, asr #16\n"                      \
    "pkhbt r5, pixel2, pixel3, lsl #16\n pkhtb r6, pixel3, pixel2, asr #16\n"                      \
    "sxtb16 r7, r8\n sxtb16 r9, r5\n" MG_STORE_WORDS("0", "r7", "r9")                              \
    "sxtb16 r8, r8, ror #8\n sxtb16 r5, r5, ror #8\n" MG_STORE_WORDS("1", "r8", "r5")              \
    "sxtb16 r7, r4\n sxtb16 r9, r6\n" MG_STORE_WORDS("2", "r7", "r9")                              \
    "sxtb16 r4, r4, ror #8\n sxtb16 r6, r6, ror #8\n" MG_STORE_WORDS("3", "r4", "r6")              \
    ".unreq pixel2\n .unreq pixel3\n"                                                              \
    ".else\n"                                                                                      \
    ".set mg_from, mg_from + 2\n"                                                                  \
    ".if mg_from - 4 >= mg_pad + mg_seen\n"                                                        \
    MG_STORE_WORDS("0", "r10", "r10") MG_STORE_WORDS("1", "r10", "r10")                            \
    MG_STORE_WORDS("2", "r10", "r10") MG_STORE_WORDS("3", "r10", "r10")                            \
    ".else\n"                                                                                      \
    "pkhbt r8, pixel0, pixel1, lsl #16\n pkhtb r4, pixel1, pixel0, asr #16\n"                      \
    "sxtb16 r7, r8\n" MG_STORE_WORDS("0", "r7", "r10")                                             \
    "sxtb16 r8, r8, ror #8\n" MG_STORE_WORDS("1", "r8", "r10")                                     \
    "sxtb16 r7, r4\n" MG_STORE_WORDS("2", "r7", "r10")                                             \
    "sxtb16 r4, r4, ror #8\n" MG_STORE_WORDS("3", "r4", "r10")                                     \
    ".endif\n .endif\n"                                                                            \
    ".unreq pixel0\n .unreq pixel1\n"                                                              \
    ".set mg_word, mg_word + 2\n"

/* Converts 4 * count channels.
 * r0: in, r1: channels, r2: row, r3: count, r4-r9: data, r10: padding, two int16, r11: padding, four bytes, r12: in, at
 *   column mg_stand */
__attribute__((naked)) static void MG_VARIANT(fours)(const int8_t *in MCUGEN_UNUSED, uint32_t channels MCUGEN_UNUSED,
                                                     mg_s16 *row MCUGEN_UNUSED, uint32_t count MCUGEN_UNUSED,
                                                     uint32_t zeros MCUGEN_UNUSED)
{
    __asm__(MG_SET("channel", 2 * MG_CHANNEL) MG_SET("words", MG_COLUMNS / 2) MG_SET("pad", MG_PAD) MG_SET("seen", MG_IN_W)
            "push {r4-r11, lr}\n"
            "ldr r11, [sp, #36]\n"
            "sxtb16 r10, r11\n"
            "1:\n"
            ".set mg_word, 0\n"
            ".set mg_from, 0\n"
            ".set mg_stand, 0\n" MG_FOUR_COLUMNS
            ".if mg_words > 2\n" MG_FOUR_COLUMNS ".endif\n"
            ".if mg_words > 4\n" MG_FOUR_COLUMNS ".endif\n"
            ".if mg_words > 6\n" MG_FOUR_COLUMNS ".endif\n"
            "add r0, r0, #4\n"
            "add r2, r2, #4 * mg_channel\n"
            "subs r3, r3, #1\n"
            "bne 1b\n"
            "pop {r4-r11, pc}\n");
}

/* Converts p->slice channels of a row. If their number is not a multiple of four, the first two groups of four overlap.
 */
static inline void MG_VARIANT(spread)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    const uint32_t over = p->slice % 4u, zeros = (uint32_t)(uint8_t)p->in_zero_point * 0x01010101u;
    if (over != 0u) {
        MG_VARIANT(fours)(in, p->channels, row, 1u, zeros);
    }
    MG_VARIANT(fours)(in + over, p->channels, row + over * MG_CHANNEL, p->slice / 4u, zeros);
}

#undef MG_FOUR_COLUMNS
#undef MG_STORE_WORDS
#undef MG_LOAD_AT
#undef MG_LOAD_PIXEL
#undef MG_SET
